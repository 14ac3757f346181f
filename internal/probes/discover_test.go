// Tests of discovery: which targets are found, as whom they are read, and how they are named.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func arnOf(account, name, id string) string {
	return "arn:aws:elasticloadbalancing:eu-west-1:" + account + ":targetgroup/" + name + "/" + id
}

func discovery(bindings bool) chain.Discovery {
	template := shopTarget()
	template.Name, template.Group.ARN, template.Group.Binding = "", "", chain.BindingRef{}
	return chain.Discovery{Name: "all", BindingsOf: bindings, Template: template}
}

func binding(namespace, name, arn string) chain.Binding {
	return chain.Binding{BindingRef: chain.BindingRef{Namespace: namespace, Name: name}, GroupARN: arn, Service: name}
}

// found lists targets as NAME ARN-or-NAME BINDING.
func found(targets []chain.Target) []string {
	var lines []string
	for _, t := range targets {
		lines = append(lines, strings.Join([]string{t.Name, t.Group.Name, t.Group.Binding.String()}, " "))
	}
	return lines
}

func TestDiscoverGroups(t *testing.T) {
	f := newALBFake()
	f.groups = []chain.GroupInfo{{ARN: arnOf("111122223333", "web", "2"), Name: "web"}, {ARN: strings.Replace(arnOf("111122223333", "shop", "1"), "eu-west-1", "us-east-1", 1), Name: "shop", Region: "us-east-1"}}
	targets, err := albProber(t, f).Discover(t.Context(), discovery(false))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := found(targets), []string{"web web ", "shop shop "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if first := targets[0]; first.Kind != chain.KindALB || first.Group.MinHealthy != 2 || first.Group.Region != "eu-west-1" || first.Group.ARN != f.groups[0].ARN || first.Group.Request == nil {
		t.Errorf("the first target is %+v", first)
	}
	if got := targets[1].Group.Region; got != "us-east-1" {
		t.Errorf("the second is in %s", got)
	}
}

func TestDiscoverBindings(t *testing.T) {
	const here, there, role = "111122223333", "999999999999", "arn:aws:iam::999999999999:role/lbc"
	remote := binding("shop", "remote", arnOf(there, "shop", "9"))
	remote.RoleARN, remote.ExternalID = role, chain.NewSecret("outside")
	named := binding("shop", "named", "")
	named.GroupName = "api"
	again := binding("z", "by-name", "")
	again.GroupName = "web"
	all := []chain.Binding{binding("shop", "web", arnOf(here, "web", "2")), remote, binding("shop", "second", arnOf(here, "shop", "1")), named, binding("shop", "first", arnOf(here, "shop", "1")),
		binding("shop", "nothing", ""), again}
	want := []string{"api api shop/named", "shop shop shop/first", "web web shop/web", "shop.all shop shop/remote"}
	for range len(all) {
		all = append(all[1:], all[0])
		f := newALBFake()
		f.found, f.others = false, all
		targets, err := albProber(t, f).Discover(t.Context(), discovery(true))
		if err != nil {
			t.Fatal(err)
		}
		if got := found(targets); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		hops := targets[3].Group.Observer.Hops
		if len(hops) != 2 || hops[1].RoleARN != role || hops[1].ExternalID.Reveal() != "outside" || len(targets[1].Group.Observer.Hops) != 1 {
			t.Errorf("the hops are %+v and %+v", hops, targets[1].Group.Observer.Hops)
		}
	}
}

func TestDiscoverErrors(t *testing.T) {
	for name, c := range map[string]struct {
		bindings bool
		fails    string
		err      error
		want     chain.Reason
	}{
		"ELB refuses":                       {false, "Groups", denied("DescribeTags"), chain.ReasonObserverDenied},
		"the cluster refuses":               {true, "List", denied("list targetgroupbindings"), chain.ReasonObserverDenied},
		"something odd":                     {false, "Groups", errors.New("odd"), chain.ReasonReadFailed},
		"a group that is gone is no target": {false, "Groups", fail(chain.StepRegistration, chain.ReasonTargetGroupMissing), chain.ReasonObserverUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			f := newALBFake()
			f.fails[c.fails] = c.err
			targets, err := albProber(t, f).Discover(t.Context(), discovery(c.bindings))
			if e := chain.AsError(err); targets != nil || e == nil || e.Outcome != chain.OutcomeUnknown || e.Reason != c.want {
				t.Errorf("got %v, %v; want %s", found(targets), err, c.want)
			}
		})
	}
}

// What a binding says of its group is text of whoever may write bindings: it makes no name that is empty, leads elsewhere in a URL, looks like an access target's, or is another's; and no region.
func TestDiscoverHostileBindings(t *testing.T) {
	bindings := []chain.Binding{
		binding("a", "garbage", "garbage"), binding("a", "more", "garbage too"), binding("a", "dots", "arn:aws:elasticloadbalancing:evil.example.com#:1:targetgroup/../x"),
		binding("a", "at", arnOf("1", "ci@prod", "x")), binding("a", "long", arnOf("1", strings.Repeat("x", 900), "x")), binding("a", "id", arnOf("1", "web", "a/../b")),
	}
	for _, partition := range []string{"aws", "aws-a", "aws-b", "aws-c", "aws-d", "aws-e", "aws-f"} {
		bindings = append(bindings, binding("a", partition, strings.Replace(arnOf("1", "shop", "1"), "aws", partition, 1)))
	}
	for _, name := range []string{"ci@prd", "...", "a/b"} {
		named := binding("a", "named-"+strings.Trim(strings.ReplaceAll(name, "/", "-"), "."), "")
		named.GroupName = name
		bindings = append(bindings, named)
	}
	f := newALBFake()
	f.found, f.others = false, bindings
	targets, err := albProber(t, f).Discover(t.Context(), discovery(true))
	if err != nil || len(targets) != len(bindings) {
		t.Fatalf("got %q, %v", found(targets), err)
	}
	seen, plain := map[string]bool{}, regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,80}$`)
	for _, target := range targets {
		if !plain.MatchString(target.Name) || seen[target.Name] || target.Group.Region != "eu-west-1" {
			t.Errorf("%q in %q, of %s", target.Name, target.Group.Region, target.Group.Binding)
		}
		seen[target.Name] = true
	}
}

func TestNameTargets(t *testing.T) {
	group := func(arn string) chain.Target { return chain.Target{Group: chain.TargetGroup{ARN: arn}} }
	for name, c := range map[string]struct {
		arns  []string
		taken []string
		want  []string
	}{
		"each its own":        {[]string{arnOf("1", "a", "x"), arnOf("1", "b", "y")}, nil, []string{"a", "b"}},
		"two accounts":        {[]string{arnOf("2", "a", "y"), arnOf("1", "a", "x")}, nil, []string{"a", "a.all"}},
		"three accounts":      {[]string{arnOf("3", "a", "z"), arnOf("1", "a", "x"), arnOf("2", "a", "y")}, nil, []string{"a", "a.all", "a.all.3"}},
		"the account as well": {[]string{arnOf("1", "a", "w"), arnOf("1", "a", "x"), arnOf("1", "a", "y"), arnOf("1", "a", "z")}, nil, []string{"a", "a.all", "a.all.1", "a.all.z"}},
		"a configured target": {[]string{arnOf("1", "a", "x")}, []string{"a"}, []string{"a.all"}},
		"more of those":       {[]string{arnOf("1", "a", "x")}, []string{"a", "a.all"}, []string{"a.all.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range c.arns {
				c.arns = append(c.arns[1:], c.arns[0])
				var targets []chain.Target
				for _, arn := range c.arns {
					targets = append(targets, group(arn))
				}
				for range 2 { // naming again changes nothing
					NameTargets(targets, "all", func(name string) bool { return slices.Contains(c.taken, name) })
				}
				var got []string
				for _, target := range targets {
					got = append(got, target.Name)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}
