// The inventory: what a group is told to be, who reads it and when, and when a group is missing.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// A group's every field, by its ARN and by its name, with its load balancers.
func TestGroup(t *testing.T) {
	client, m := newMemory(t)
	m.result(opDescribeTargetGroups, members("TargetGroups", groupXML(webARN), groupXML(shopARN, albARN, albARN+"gone")+
		`<TargetType>ip</TargetType><Protocol>HTTP</Protocol><HealthCheckEnabled>true</HealthCheckEnabled><HealthCheckProtocol>HTTPS</HealthCheckProtocol><HealthCheckPort>traffic-port</HealthCheckPort>`+
		`<HealthCheckPath>/healthz</HealthCheckPath><HealthCheckIntervalSeconds>15</HealthCheckIntervalSeconds><HealthCheckTimeoutSeconds>5</HealthCheckTimeoutSeconds>`+
		`<HealthyThresholdCount>3</HealthyThresholdCount><UnhealthyThresholdCount>2</UnhealthyThresholdCount><Matcher><HttpCode>200-299</HttpCode></Matcher>`))
	before := time.Now()
	want := chain.GroupInfo{
		ARN: shopARN, Name: "shop", Region: region, TargetType: chain.TargetTypeIP, Protocol: "HTTP",
		Check: chain.HealthCheck{
			Enabled: true, Protocol: "HTTPS", Port: "traffic-port", Path: "/healthz", Matcher: "200-299", Interval: 15 * time.Second, Timeout: 5 * time.Second, HealthyThreshold: 3, UnhealthyThreshold: 2,
		},
		LoadBalancers: []chain.LoadBalancer{{
			ARN: albARN, Name: "shop-alb", Type: chain.LoadBalancerApplication, State: chain.LoadBalancerActive, Zones: []string{"eu-west-1a", "eu-west-1b"},
		}},
	}
	for _, target := range []chain.Target{group(shopARN, ""), group("", "shop"), group(shopARN, "renamed")} {
		got, err := client.Group(t.Context(), target)
		must(t, err)
		if got.Read.Before(before) {
			t.Errorf("read at %s, before the call", got.Read)
		}
		got.Read = time.Time{}
		wantSame(t, got, want)
	}
	got, err := client.Group(t.Context(), group("", "web"))
	must(t, err)
	wantSame(t, got.LoadBalancers, []chain.LoadBalancer(nil))
	wantSame(t, m.take(), []string{opDescribeTargetGroups, opDescribeLoadBalancers})
}

// Where no group has a load balancer, none is asked for.
func TestInventoryWithoutLoadBalancers(t *testing.T) {
	client, m := newMemory(t)
	m.result(opDescribeTargetGroups, members("TargetGroups", groupXML(webARN)))
	_, err := client.Group(t.Context(), group(webARN, ""))
	must(t, err)
	wantSame(t, m.take(), []string{opDescribeTargetGroups})
}

// All groups of an account ask once a minute, together, and nobody is told what is older.
func TestInventoryIsShared(t *testing.T) {
	client, m := newMemory(t, func(o *Options) { o.ELBReadsPerSecond = 2 })
	synctest.Test(t, func(t *testing.T) {
		ask := func() {
			t.Helper()
			var runs sync.WaitGroup
			for range 20 {
				for _, arn := range []string{shopARN, webARN} {
					runs.Go(func() {
						info, err := client.Group(t.Context(), group(arn, ""))
						if err != nil || info.ARN != arn || time.Since(info.Read) >= keepInventory {
							t.Errorf("got %+v, %v", info, err)
						}
					})
				}
			}
			runs.Wait()
		}
		began := time.Now()
		ask()
		time.Sleep(keepInventory - time.Nanosecond)
		ask()
		wantSame(t, m.take(), []string{opDescribeTargetGroups, opDescribeLoadBalancers})
		time.Sleep(time.Nanosecond)
		ask()
		wantSame(t, m.take(), []string{opDescribeTargetGroups, opDescribeLoadBalancers})
		wantSame(t, time.Since(began), keepInventory)
	})
}

// A run waits for another's read for as long as it has, and says so; its end changes nothing for the one that reads.
func TestInventoryWait(t *testing.T) {
	client, m := newMemory(t)
	answer := m.answers[opDescribeTargetGroups]
	m.answer(opDescribeTargetGroups, func(form url.Values) (int, string) {
		time.Sleep(5 * time.Second)
		return answer(form)
	})
	synctest.Test(t, func(t *testing.T) {
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := client.Group(t.Context(), group(shopARN, "")); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the run's timeout of 1s"))
		defer cancel()
		_, err := client.Group(ctx, group(webARN, ""))
		e := wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
		wantText(t, e.Detail, "reading ELB as the observer reader: waiting for the same read of another run: the run's timeout of 1s")
		first.Wait()
		wantSame(t, m.take(), []string{opDescribeTargetGroups, opDescribeLoadBalancers})
	})
}

// Observers who are not the same see other groups. Errors are not kept.
func TestInventoryIsTheObservers(t *testing.T) {
	client, m := newMemory(t)
	m.fault(opDescribeLoadBalancers, "AccessDenied", "no")
	_, err := client.Group(t.Context(), group(shopARN, ""))
	e := wantVerdict(t, err, unknown(chain.ReasonObserverDenied))
	wantSame(t, e.Facts[chain.FactAction], "elasticloadbalancing:DescribeLoadBalancers")
	wantText(t, e.Detail, "DescribeLoadBalancers of the load balancers of eu-west-1 as the observer reader: 400")
	m.result(opDescribeLoadBalancers, members("LoadBalancers", albXML))
	other := group(shopARN, "")
	other.Group.Observer.Name = "other"
	for _, target := range []chain.Target{group(shopARN, ""), other} {
		m.take()
		_, err := client.Group(t.Context(), target)
		must(t, err)
		wantSame(t, m.take(), []string{opDescribeTargetGroups, opDescribeLoadBalancers})
	}
}

// A group that is not on the list is missing when ELB says so of itself, and not before.
func TestGroupAlone(t *testing.T) {
	newARN := strings.ReplaceAll(shopARN, "shop", "new")
	otherALB := strings.ReplaceAll(albARN, "shop", "other")
	otherXML := strings.ReplaceAll(albXML, "shop", "other")
	foreign := strings.Replace(shopARN, account, "444455556666", 1)
	for name, c := range map[string]struct {
		arn, name string
		alone     string // what ELB answers of the group alone; "": its fault
		fault     string
		balancers string // what ELB answers of load balancers other than the list; "": LoadBalancerNotFound
		want      verdict
		detail    string
		attached  []string
	}{
		"made since, by ARN":          {arn: newARN, alone: groupXML(newARN)},
		"made since, by name":         {name: "new", alone: groupXML(newARN, albARN), attached: []string{"shop-alb"}},
		"with a new load balancer":    {arn: newARN, alone: groupXML(newARN, otherALB, albARN), balancers: otherXML, attached: []string{"other-alb", "shop-alb"}},
		"whose load balancer is gone": {arn: newARN, alone: groupXML(newARN, otherALB)},
		"gone":                        {arn: newARN, fault: "TargetGroupNotFound", want: failure(chain.StepRegistration, chain.ReasonTargetGroupMissing), detail: "DescribeTargetGroups of the target group " + newARN + " as the observer reader: 400"},
		"a name that is gone":         {name: "new", fault: "TargetGroupNotFound", want: failure(chain.StepRegistration, chain.ReasonTargetGroupMissing), detail: "of the target group new as"},
		"no ARN":                      {arn: "shop", fault: "ValidationError", want: failure(chain.StepRegistration, chain.ReasonTargetGroupMissing), detail: "not the shape"},
		"no name":                     {name: "shop_", fault: "ValidationError", want: failure(chain.StepRegistration, chain.ReasonTargetGroupMissing), detail: "not the shape"},
		"a name that could be":        {name: "new", fault: "ValidationError", want: unknown(chain.ReasonObserverUnavailable)},
		"of another account":          {arn: foreign, fault: "ValidationError", want: unknown(chain.ReasonObserverUnavailable), detail: "another account"},
		"throttled":                   {arn: newARN, fault: "Throttling", want: unknown(chain.ReasonELBAPIThrottled)},
		"an answer to another call":   {arn: newARN, alone: groupXML(shopARN), want: unknown(chain.ReasonObserverUnavailable), detail: "it holds 1 target groups, not the one that was asked for"},
		"another name":                {name: "new", alone: groupXML(shopARN), want: unknown(chain.ReasonObserverUnavailable), detail: "not the one that was asked for"},
		"nothing to ask for":          {want: unknown(chain.ReasonObserverUnavailable), detail: "the target shop names no target group to ask ELB for"},
	} {
		t.Run(name, func(t *testing.T) {
			client, m := newMemory(t)
			m.answer(opDescribeTargetGroups, func(form url.Values) (int, string) {
				switch {
				case form.Get("TargetGroupArns.member.1") != c.arn || form.Get("Names.member.1") != c.name:
					return http.StatusOK, result(opDescribeTargetGroups, members("TargetGroups", groupXML(shopARN, albARN)))
				case c.fault != "":
					return fault(c.fault, "")
				}
				return http.StatusOK, result(opDescribeTargetGroups, members("TargetGroups", c.alone))
			})
			m.answer(opDescribeLoadBalancers, func(form url.Values) (int, string) {
				switch {
				case form.Get("LoadBalancerArns.member.1") == "":
					return http.StatusOK, result(opDescribeLoadBalancers, members("LoadBalancers", albXML))
				case form.Get("LoadBalancerArns.member.1") != otherALB || form.Has("LoadBalancerArns.member.2"):
					t.Errorf("asked for %v", form)
				case c.balancers == "":
					return fault("LoadBalancerNotFound", "")
				}
				return http.StatusOK, result(opDescribeLoadBalancers, members("LoadBalancers", c.balancers))
			})
			got, err := client.Group(t.Context(), group(c.arn, c.name))
			if c.want != (verdict{}) {
				wantText(t, wantVerdict(t, err, c.want).Detail, c.detail)
				return
			}
			must(t, err)
			wantSame(t, []string{got.ARN, got.Name, got.Region}, []string{newARN, "new", region})
			var attached []string
			for _, balancer := range got.LoadBalancers {
				attached = append(attached, balancer.Name)
			}
			wantSame(t, attached, c.attached)
			m.take()
			_, err = client.Group(t.Context(), group(c.arn, c.name))
			must(t, err)
			wantSame(t, m.take(), []string(nil)) // the answer serves for a minute too
		})
	}
}

// A name may have passed to a new group: that the one which bore it is gone is no verdict on the name, and the next run looks again.
func TestGroupMadeAnew(t *testing.T) {
	for name, read := range map[string]func(*Client, *testing.T, chain.Target) error{
		"health": func(c *Client, t *testing.T, target chain.Target) error {
			t.Helper()
			_, err := c.Health(t.Context(), target, shopARN)
			return err
		},
		"attributes": func(c *Client, t *testing.T, target chain.Target) error {
			t.Helper()
			_, err := c.Attributes(t.Context(), target, shopARN)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, m := newMemory(t)
			for _, operation := range []string{opDescribeTargetHealth, opDescribeGroupAttributes} {
				m.fault(operation, "TargetGroupNotFound", "gone")
			}
			for _, target := range []chain.Target{group("", "shop"), group(shopARN, "shop")} {
				_, err := client.Group(t.Context(), target)
				must(t, err)
			}
			wantVerdict(t, read(client, t, group(shopARN, "shop")), failure(chain.StepRegistration, chain.ReasonTargetGroupMissing))
			e := wantVerdict(t, read(client, t, group("", "shop")), unknown(chain.ReasonObserverUnavailable))
			wantText(t, e.Detail, shopARN+", which bore the name shop within the last minute, is gone; the next run looks for the name anew")

			renewed := strings.Replace(shopARN, "0123", "9876", 1)
			m.result(opDescribeTargetGroups, members("TargetGroups", groupXML(renewed)))
			got, err := client.Group(t.Context(), group("", "shop"))
			must(t, err)
			wantSame(t, got.ARN, renewed)
		})
	}
}

// A group that was found alone, by its name, and is gone: the next run hears it from ELB.
func TestGroupAloneIsGone(t *testing.T) {
	client, m := newMemory(t)
	newARN, exists := strings.ReplaceAll(shopARN, "shop", "new"), true
	m.answer(opDescribeTargetGroups, func(form url.Values) (int, string) {
		switch {
		case !form.Has("Names.member.1"):
			return http.StatusOK, result(opDescribeTargetGroups, "<TargetGroups/>")
		case exists:
			return http.StatusOK, result(opDescribeTargetGroups, members("TargetGroups", groupXML(newARN)))
		}
		return fault("TargetGroupNotFound", "One or more target groups not found")
	})
	m.fault(opDescribeTargetHealth, "TargetGroupNotFound", "gone")
	target := group("", "new")
	_, err := client.Group(t.Context(), target)
	must(t, err)
	exists = false
	_, err = client.Health(t.Context(), target, newARN)
	wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
	_, err = client.Group(t.Context(), target)
	wantVerdict(t, err, failure(chain.StepRegistration, chain.ReasonTargetGroupMissing))
}

// Every page is a read, until one has no marker, repeats its own, or there is no end of them.
func TestInventoryPages(t *testing.T) {
	for name, c := range map[string]struct {
		marker func(page int) string
		pages  int
		err    string
	}{
		"one":     {func(int) string { return "" }, 1, ""},
		"three":   {func(page int) string { return []string{"a", "b", ""}[page-1] }, 3, ""},
		"again":   {func(page int) string { return []string{"a", "b", "b"}[page-1] }, 3, ""},
		"no end":  {func(page int) string { return fmt.Sprint(page) }, maxPages, "the list has more than 50 pages"},
		"a round": {func(page int) string { return fmt.Sprint(page % 2) }, maxPages, "the list has more than 50 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			waits, page, last := 0, 0, ""
			client, m := newMemory(t, func(o *Options) { o.ObserveWait = func(time.Duration) { waits++ } })
			m.answer(opDescribeTargetGroups, func(form url.Values) (int, string) {
				wantSame(t, []string{form.Get("Marker"), form.Get("PageSize")}, []string{last, "400"})
				page++
				last = c.marker(page)
				arn := strings.ReplaceAll(shopARN, "shop", fmt.Sprint("group-", page))
				return http.StatusOK, result(opDescribeTargetGroups, members("TargetGroups", groupXML(arn))+"<NextMarker>"+last+"</NextMarker>")
			})
			_, err := client.Group(t.Context(), group("", fmt.Sprint("group-", c.pages)))
			if c.err != "" {
				wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, c.err)
			} else {
				must(t, err)
			}
			wantSame(t, []int{page, waits}, []int{c.pages, c.pages})
		})
	}
}

// A list that changes between two pages may tell a group twice: it is one.
func TestInventoryTellsAGroupTwice(t *testing.T) {
	client, m := newMemory(t)
	m.answer(opDescribeTargetGroups, func(form url.Values) (int, string) {
		next := "<NextMarker>2</NextMarker>"
		if form.Get("Marker") != "" {
			next = ""
		}
		return http.StatusOK, result(opDescribeTargetGroups, members("TargetGroups", groupXML(shopARN, albARN))+next)
	})
	got, err := client.Groups(t.Context(), byBalancer(albARN))
	must(t, err)
	wantSame(t, len(got), 1)
}

// Lists without what they are lists of.
func TestInventoryForeignAnswers(t *testing.T) {
	for name, c := range map[string]struct{ operation, inside, detail string }{
		"no groups":      {opDescribeTargetGroups, "", "it holds no list of target groups"},
		"no ARN":         {opDescribeTargetGroups, members("TargetGroups", "<TargetGroupName>shop</TargetGroupName>"), "it holds a target group whose ARN is \"\""},
		"another ARN":    {opDescribeTargetGroups, members("TargetGroups", "<TargetGroupArn>arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/../x</TargetGroupArn>"), "it holds a target group whose ARN is \"arn:"},
		"no balancers":   {opDescribeLoadBalancers, "", "it holds no list of load balancers"},
		"no such answer": {opDescribeLoadBalancers, "<", "HTTP 200 without an AWS error"},
	} {
		t.Run(name, func(t *testing.T) {
			client, m := newMemory(t)
			m.result(c.operation, c.inside)
			_, err := client.Group(t.Context(), group(shopARN, ""))
			wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, c.operation, c.detail)
		})
	}
}

// A check that no group can have makes no time that has passed before it began.
func TestGroupWithAnOddCheck(t *testing.T) {
	client, m := newMemory(t)
	m.result(opDescribeTargetGroups, members("TargetGroups", groupXML(shopARN)+"<HealthCheckIntervalSeconds>2147483647</HealthCheckIntervalSeconds>"+
		"<HealthCheckTimeoutSeconds>-5</HealthCheckTimeoutSeconds><HealthyThresholdCount>2147483647</HealthyThresholdCount><UnhealthyThresholdCount>-1</UnhealthyThresholdCount>"))
	got, err := client.Group(t.Context(), group(shopARN, ""))
	must(t, err)
	wantSame(t, got.Check, chain.HealthCheck{Interval: time.Hour, HealthyThreshold: 100})
}
