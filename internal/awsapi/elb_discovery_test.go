// Discovery: which groups a load balancer has, which bear tags, and what the search costs.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// discovery is one whose observer has keys of its own.
func discovery(change func(*chain.Discovery)) chain.Discovery {
	d := chain.Discovery{Name: "shops", Template: group("", "")}
	change(&d)
	return d
}

func byTags(tags map[string]string) chain.Discovery {
	return discovery(func(d *chain.Discovery) { d.Tags = tags })
}

func byBalancer(arn string) chain.Discovery {
	return discovery(func(d *chain.Discovery) { d.LoadBalancer = arn })
}

func names(groups []chain.GroupInfo) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g.Name)
	}
	return all
}

// The groups of a load balancer are told by the inventory. One without groups is none without load balancer.
func TestGroupsOfALoadBalancer(t *testing.T) {
	bare := strings.ReplaceAll(albARN, "shop", "bare")
	client, m := newMemory(t)
	m.answer(opDescribeLoadBalancers, func(form url.Values) (int, string) {
		switch form.Get("LoadBalancerArns.member.1") {
		case "", bare:
			return http.StatusOK, result(opDescribeLoadBalancers, members("LoadBalancers", albXML))
		case "alb":
			return fault("ValidationError", "'alb' is not a valid load balancer ARN")
		}
		return fault("LoadBalancerNotFound", "Load balancers 'x' not found")
	})
	for _, c := range []struct {
		arn   string
		want  []string
		asked []string
	}{
		{albARN, []string{"shop"}, []string{opDescribeTargetGroups, opDescribeLoadBalancers}},
		{albARN, []string{"shop"}, nil},
		{bare, nil, []string{opDescribeLoadBalancers}},
	} {
		got, err := client.Groups(t.Context(), byBalancer(c.arn))
		must(t, err)
		wantSame(t, names(got), c.want)
		wantSame(t, m.take(), c.asked)
	}
	_, err := client.Groups(t.Context(), byBalancer(albARN+"gone"))
	wantText(t, wantVerdict(t, err, unknown(chain.ReasonNotMeasurable)).Detail, "DescribeLoadBalancers of the load balancer "+albARN+"gone as the observer reader: 400 LoadBalancerNotFound")
	_, err = client.Groups(t.Context(), byBalancer("alb"))
	wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
	_, err = client.Groups(t.Context(), discovery(func(*chain.Discovery) {}))
	wantText(t, err.Error(), "the discovery shops names neither a load balancer nor tags")
}

// tagged is an account with n groups; those in gone were deleted after they were listed. Every third group is of the team pay.
func tagged(m *memory, n int, gone ...int) {
	var groups []string
	for i := range n {
		groups = append(groups, groupXML(numbered(i)))
	}
	m.result(opDescribeTargetGroups, members("TargetGroups", groups...))
	m.answer(opDescribeTags, func(form url.Values) (int, string) {
		var all []string
		for place := 1; form.Has(fmt.Sprint("ResourceArns.member.", place)); place++ {
			arn := form.Get(fmt.Sprint("ResourceArns.member.", place))
			i := slices.IndexFunc(make([]struct{}, n), func(struct{}) bool { return false })
			if _, err := fmt.Sscanf(strings.Split(arn, "/")[1], "group-%d", &i); err != nil || slices.Contains(gone, i) {
				return fault("TargetGroupNotFound", "One or more target groups not found")
			}
			team := "shop"
			if i%3 == 0 {
				team = "pay"
			}
			all = append(all, "<ResourceArn>"+arn+"</ResourceArn>"+members("Tags", "<Key>team</Key><Value>"+team+"</Value>", "<Key>env</Key><Value>prod</Value>"))
		}
		if len(all) > tagsPerCall {
			return fault("ValidationError", "too many ARNs")
		}
		return http.StatusOK, result(opDescribeTags, members("TagDescriptions", all...))
	})
}

func numbered(i int) string { return strings.ReplaceAll(shopARN, "shop", fmt.Sprintf("group-%03d", i)) }

// Every tag must be there, with its value.
func TestGroupsWithTags(t *testing.T) {
	client, m := newMemory(t)
	tagged(m, 7)
	for _, c := range []struct {
		tags map[string]string
		want []string
	}{
		{map[string]string{"team": "pay"}, []string{"group-000", "group-003", "group-006"}},
		{map[string]string{"team": "shop", "env": "prod"}, []string{"group-001", "group-002", "group-004", "group-005"}},
		{map[string]string{"team": "pay", "env": "test"}, nil},
		{map[string]string{"owner": ""}, nil},
	} {
		got, err := client.Groups(t.Context(), byTags(c.tags))
		must(t, err)
		wantSame(t, names(got), c.want)
	}
}

// Twenty groups a call, every five minutes; of groups that are new only theirs.
func TestTagsAreKept(t *testing.T) {
	client, m := newMemory(t)
	synctest.Test(t, func(t *testing.T) {
		reads := func(want int) {
			t.Helper()
			_, err := client.Groups(t.Context(), byTags(map[string]string{"team": "pay"}))
			must(t, err)
			n := 0
			for _, operation := range m.take() {
				if operation == opDescribeTags {
					n++
				}
			}
			wantSame(t, n, want)
		}
		tagged(m, 100)
		reads(5)
		reads(0)
		tagged(m, 101)
		time.Sleep(keepInventory)
		reads(1)
		time.Sleep(keepTags - keepInventory)
		reads(5)
	})
}

// A group that was deleted since fails the call for all of its twenty: the others are asked for without it.
func TestTagsOfGroupsThatAreGone(t *testing.T) {
	client, m := newMemory(t)
	tagged(m, 45, 0, 21, 44)
	got, err := client.Groups(t.Context(), byTags(map[string]string{"env": "prod"}))
	must(t, err)
	wantSame(t, len(got), 42)
	for _, gone := range []int{0, 21, 44} {
		if slices.Contains(names(got), fmt.Sprintf("group-%03d", gone)) {
			t.Errorf("group %d is found", gone)
		}
	}
}

// A discovery whose time ends, or that is throttled half-way, is unknown; the next one goes on where it stopped.
func TestTagsGoOn(t *testing.T) {
	client, m := newMemory(t)
	tagged(m, 100)
	answer, calls := m.answers[opDescribeTags], 0
	m.answer(opDescribeTags, func(form url.Values) (int, string) {
		if calls++; calls == 4 {
			return fault("Throttling", "Rate exceeded")
		}
		return answer(form)
	})
	_, err := client.Groups(t.Context(), byTags(map[string]string{"team": "pay"}))
	wantText(t, wantVerdict(t, err, unknown(chain.ReasonELBAPIThrottled)).Detail, "DescribeTags of 20 target groups of eu-west-1 as the observer reader: 400 Throttling")
	got, err := client.Groups(t.Context(), byTags(map[string]string{"team": "pay"}))
	must(t, err)
	wantSame(t, []int{len(got), calls}, []int{34, 6})

	m.result(opDescribeTags, "")
	client.kept.tags = newKeptReads[map[string]string](time.Now, keepTags)
	_, err = client.Groups(t.Context(), byTags(map[string]string{"team": "pay"}))
	wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, "it holds no list of tags")
}

// A discovery shares the budget of the groups that it finds, as far as their account is known.
func TestDiscoveryAccount(t *testing.T) {
	role := []chain.Hop{{RoleARN: readerARN}}
	for name, c := range map[string]struct {
		balancer string
		hops     []chain.Hop
		want     string
	}{
		"of the observer":      {strings.Replace(albARN, account, "444455556666", 1), role, account},
		"of the load balancer": {strings.Replace(albARN, account, "444455556666", 1), nil, "444455556666"},
		"unknown":              {"", nil, "observer reader"},
	} {
		t.Run(name, func(t *testing.T) {
			d := byBalancer(c.balancer)
			d.Template.Group.Observer.Hops = c.hops
			wantSame(t, (&Client{}).discoveryReader(d).account, c.want)
		})
	}
}
