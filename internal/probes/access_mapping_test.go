// Tests of explaining a mapping that is not the declared one.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// modeOf describes the healthy cluster with another authentication mode.
func modeOf(mode string) func() (chain.ClusterInfo, error) {
	return func() (chain.ClusterInfo, error) {
		info := healthyCluster()
		info.AuthMode = mode
		return info, nil
	}
}

// line is a line of mapRoles for the identity's role.
func line(username string, groups ...string) chain.Mapping {
	return chain.Mapping{ARN: roleARN, Username: username, Groups: groups}
}

// mappedBy sets how the cluster maps the identity: its mode, its entry, its lines of aws-auth.
func (f *fake) mappedBy(mode string, entry *chain.AccessEntry, lines ...chain.Mapping) {
	f.cluster, f.entry, f.auth = modeOf(mode), entry, &chain.AWSAuth{Roles: lines}
}

// The target declares the user ci:{{SessionName}} and the group deployers.
func TestExplainMapping(t *testing.T) {
	const both, mapOnly = chain.AuthModeAPIAndConfigMap, chain.AuthModeConfigMap
	entry := func(username string, groups ...string) *chain.AccessEntry {
		return &chain.AccessEntry{PrincipalARN: roleARN, Username: username, Groups: groups}
	}
	cases := map[string]struct {
		change func(*fake)
		want   chain.Reason
		detail string
	}{
		"C38 the entry hides the line with the groups": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "readers", "system:authenticated")
			f.mappedBy(both, entry("ci:{{SessionName}}", "readers"), line("ci:{{SessionName}}", "deployers"))
		}, chain.ReasonAccessEntryShadowsAWSAuth, `mapped to the user "ci:run-1" with the groups readers: the access entry of ` + roleARN + ` gives the groups readers and hides the aws-auth line that gives deployers`},
		"C38 the entry hides the line with the user": {func(f *fake) {
			f.review = reviewSays("arn:run-1", "system:authenticated")
			f.mappedBy(both, entry("arn:{{SessionName}}"), line("ci:{{SessionName}}", "other"))
		}, chain.ReasonAccessEntryShadowsAWSAuth, "gives the groups (none) and hides"},
		"C38 the entry gives too much": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "deployers", "masters")
			f.mappedBy(both, entry("ci:{{SessionName}}", "masters", "deployers"), line("ci:{{SessionName}}", "deployers"))
		}, chain.ReasonAccessEntryShadowsAWSAuth, ""},
		"the hidden line gives no better": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "readers")
			f.mappedBy(both, entry("ci:{{SessionName}}", "readers"), line("ci:{{SessionName}}", "writers"))
		}, chain.ReasonUnexpectedGroups, ""},
		"the review does not show the entry": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "readers")
			f.mappedBy(both, entry("ci:{{SessionName}}", "others"), line("ci:{{SessionName}}", "deployers"))
		}, chain.ReasonUnexpectedGroups, ""},
		"C34 the last line counts": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "shop", "system:authenticated")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "deployers"), line("ci:{{SessionName}}", "shop"))
		}, chain.ReasonAWSAuthDuplicateEntry, "aws-auth has 2 lines for " + roleARN + ": the last one counts, with the groups shop, and not an earlier one with the user \"ci:{{SessionName}}\" and the groups deployers"},
		"C34 in the combined mode, without an entry": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "shop")
			f.mappedBy(both, nil, line("ci:{{SessionName}}", "deployers", "more"), line("ci:{{SessionName}}", "shop"))
		}, chain.ReasonAWSAuthDuplicateEntry, ""},
		"C34 by the user": {func(f *fake) {
			f.review = reviewSays("other", "deployers")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "deployers"), line("other", "deployers"))
		}, chain.ReasonAWSAuthDuplicateEntry, ""},
		"two lines, neither as declared": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "shop")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "readers"), line("ci:{{SessionName}}", "shop"))
		}, chain.ReasonUnexpectedGroups, ""},
		"the review does not show the last line": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "readers")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "deployers"), line("ci:{{SessionName}}", "shop"))
		}, chain.ReasonUnexpectedGroups, ""},
		"C35 the groups of the line do not parse": {func(f *fake) {
			f.review = reviewSays("ci:run-1")
			damaged := line("ci:{{SessionName}}")
			damaged.Problem = "cannot unmarshal string into groups"
			f.mappedBy(mapOnly, nil, damaged)
		}, chain.ReasonAWSAuthUnparseable, "counts without what of it does not parse: cannot unmarshal string into groups"},
		"C35 a placeholder as user": {func(f *fake) {
			f.review = reviewSays("<user name>", "deployers")
			f.mappedBy(mapOnly, nil, line("<user name>", "deployers"))
		}, chain.ReasonUnexpectedUsername, `mapped to the user "<user name>", not "ci:run-1"; "<user name>" looks like a placeholder of a template that nobody filled in`},
		"C35 a placeholder as group": {func(f *fake) {
			f.review = reviewSays("ci:run-1", "<group>")
			f.mappedBy(mapOnly, nil, line("ci:{{SessionName}}", "<group>"))
		}, chain.ReasonUnexpectedGroups, `"<group>" looks like a placeholder`},
		"a misspelt key": {func(f *fake) {
			f.review = reviewSays("ci:run-1")
			misspelt := line("ci:{{SessionName}}")
			misspelt.OddKeys = []string{"group"}
			f.mappedBy(mapOnly, nil, misspelt)
		}, chain.ReasonUnexpectedGroups, "the aws-auth line of " + roleARN + " has the key group, which the authenticator ignores"},
		"nothing can be read of EKS": {func(f *fake) {
			f.review, f.cluster = reviewSays("ci:run-1", "readers"), modeOf(both)
			f.entryErr = chain.Unsure(chain.ReasonEKSAPIThrottled, "Rate exceeded", nil, nil)
		}, chain.ReasonUnexpectedGroups, "; could not be read: the access entry: eks_api_throttled: Rate exceeded"},
		"aws-auth cannot be read": {func(f *fake) {
			f.review, f.cluster, f.authErr = reviewSays("ci:run-1", "readers"), modeOf(mapOnly), chain.Unsure(chain.ReasonObserverDenied, "forbidden", nil, nil)
		}, chain.ReasonUnexpectedGroups, "; could not be read: aws-auth (the observer needs get on the ConfigMap kube-system/aws-auth): observer_denied: forbidden"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			c.change(f)
			run := probe(t, f, standardTarget(t))
			if got, want := verdict(run), "failure access_entry/"+string(c.want)+" ✔✔✔✔✖·"; got != want || !strings.Contains(run.Verdict.Detail, c.detail) {
				t.Errorf("got  %s: %s\nwant %s: …%s…", got, run.Verdict.Detail, want, c.detail)
			}
			if c.want == chain.ReasonAWSAuthDuplicateEntry && run.Facts()[chain.FactUsername] == "" {
				t.Errorf("facts are %v", run.Facts())
			}
		})
	}
}

// Without an observer, and in mode API, there is nothing to compare with.
func TestMappingThatNothingExplains(t *testing.T) {
	for name, change := range map[string]func(*fake, *chain.Target){
		"no observer": func(_ *fake, tg *chain.Target) {
			tg.Cluster.Observer, tg.Cluster.Endpoint, tg.Cluster.CAFile = "", endpoint, "unauthorized_test.go"
		},
		"mode API": func(f *fake, _ *chain.Target) {
			f.mappedBy(chain.AuthModeAPI, &chain.AccessEntry{PrincipalARN: roleARN, Groups: []string{"readers"}}, line("ci:{{SessionName}}", "deployers"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			f.review = reviewSays("ci:run-1", "readers")
			change(f, &target)
			run := probe(t, f, target)
			if got, want := verdict(run), "failure access_entry/unexpected_groups ✔✔✔✔✖·"; got != want || f.count("AWSAuth") != 0 {
				t.Errorf("got %s, want %s; aws-auth was read %d times", got, want, f.count("AWSAuth"))
			}
		})
	}
}
