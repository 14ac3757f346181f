// Tests of what the observer reads of a mapping, and of what it does not.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const withPath = "arn:aws:iam::111122223333:role/team/ci-deploy"

// readsOf are the observer's reads among the calls, but for DescribeCluster.
func readsOf(f *fake) (reads []string) {
	for _, call := range f.calls {
		if name, _, _ := strings.Cut(call, " "); slices.Contains([]string{"DescribeAccessEntry", "ListAccessEntries", "ListAssociatedAccessPolicies", "GetRole", "AWSAuth"}, name) {
			reads = append(reads, call)
		}
	}
	return reads
}

// What a failure costs: the reads of each kind of explanation, in their order, and nothing on a run that is well.
func TestReadsOfAnExplanation(t *testing.T) {
	entry := &chain.AccessEntry{PrincipalARN: roleARN, Username: "ci:{{SessionName}}"}
	readers, denied := reviewSays("ci:run-1", "readers"), func(chain.Rule) (chain.Decision, error) { return chain.Decision{}, nil }
	const list, describe = "ListAccessEntries", "DescribeAccessEntry " + roleARN
	for name, c := range map[string]struct {
		change func(*fake)
		want   []string
	}{
		"a healthy run":                    {func(*fake) {}, nil},
		"unexpected groups, API":           {func(f *fake) { f.mappedBy(chain.AuthModeAPI, entry); f.review = readers }, []string{list, describe}},
		"unexpected groups, both":          {func(f *fake) { f.mappedBy(chain.AuthModeAPIAndConfigMap, entry); f.review = readers }, []string{list, describe, "AWSAuth"}},
		"unexpected groups, CONFIG_MAP":    {func(f *fake) { f.mappedBy(chain.AuthModeConfigMap, nil); f.review = readers }, []string{"AWSAuth"}},
		"a denial, API":                    {func(f *fake) { f.mappedBy(chain.AuthModeAPI, entry); f.access = denied }, []string{list, describe, "ListAssociatedAccessPolicies"}},
		"a denial, CONFIG_MAP":             {func(f *fake) { f.mappedBy(chain.AuthModeConfigMap, nil); f.access = denied }, []string{"AWSAuth"}},
		"a denial, the mode is not known":  {func(f *fake) { f.cluster, f.access = modeOf(""), denied }, nil},
		"a refusal with an entry":          {func(f *fake) { f.entry = entry; f.review = reviewFails(&Unauthorized{}) }, []string{list, describe, "GetRole"}},
		"a refusal without an entry, API":  {func(f *fake) { f.review = reviewFails(&Unauthorized{}) }, []string{list, "AWSAuth"}},
		"a refusal without an entry, both": {func(f *fake) { f.mappedBy(chain.AuthModeAPIAndConfigMap, nil); f.review = reviewFails(&Unauthorized{}) }, []string{list, "AWSAuth"}},
		"a refusal, CONFIG_MAP":            {func(f *fake) { f.mappedBy(chain.AuthModeConfigMap, nil); f.review = reviewFails(&Unauthorized{}) }, []string{"AWSAuth"}},
		"a refusal, the mode is not known": {func(f *fake) { f.cluster, f.review = modeOf(""), reviewFails(&Unauthorized{}) }, nil},
		"a refusal that STS already answers": {func(f *fake) {
			f.review, f.replayErr = reviewFails(&Unauthorized{}), fail(chain.StepSTS, chain.ReasonClockAhead)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			c.change(f)
			probe(t, f, standardTarget(t))
			if got := readsOf(f); !slices.Equal(got, c.want) {
				t.Errorf("read  %q\nwant %q", got, c.want)
			}
		})
	}
}

// STS shows no path: an entry under another ARN than the configuration knows is found on the list, and read in full.
func TestFindEntryByTheList(t *testing.T) {
	described := chain.AccessEntry{PrincipalARN: withPath, Username: "ci", Groups: []string{"deployers"}}
	for name, c := range map[string]struct {
		list  []string
		known map[string]chain.AccessEntry
		err   error
		want  chain.AccessEntry
		found bool
	}{
		"described":            {[]string{"arn:aws:iam::111122223333:role/other", withPath}, map[string]chain.AccessEntry{withPath: described}, nil, described, true},
		"gone in between":      {[]string{withPath}, nil, nil, chain.AccessEntry{PrincipalARN: withPath}, true},
		"not on the list":      {[]string{"arn:aws:iam::111122223333:role/other", "arn:aws:iam::444455556666:role/ci-deploy"}, nil, nil, chain.AccessEntry{}, false},
		"known by its own ARN": {nil, map[string]chain.AccessEntry{roleARN: {PrincipalARN: roleARN}}, nil, chain.AccessEntry{PrincipalARN: roleARN}, true},
		"nothing can be read":  {[]string{withPath}, nil, chain.Unsure(chain.ReasonObserverDenied, "no", nil, nil), chain.AccessEntry{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.entries, f.entryErr, f.known = c.list, c.err, c.known
			run := &accessRun{prober: newProber(t, f), target: standardTarget(t), principal: chain.Principal{ARN: sessionARN, AccountID: "111122223333"}}
			got, found, err := run.findEntry(t.Context(), run.target.Identity, run.principal)
			if got.PrincipalARN != c.want.PrincipalARN || got.Username != c.want.Username || !slices.Equal(got.Groups, c.want.Groups) || found != c.found || (err != nil) != (c.err != nil) {
				t.Errorf("got %+v, %v, %v", got, found, err)
			}
		})
	}
}

func TestEntryARN(t *testing.T) {
	for name, c := range map[string]struct {
		expected, caller, want string
	}{
		"the configured path":       {withPath, sessionARN, withPath},
		"another role's":            {"arn:aws:iam::111122223333:role/team/other", sessionARN, roleARN},
		"nothing configured":        {"", sessionARN, roleARN},
		"a session's configuration": {sessionARN, sessionARN, roleARN},
		"a user":                    {"", "arn:aws:iam::111122223333:user/alice", "arn:aws:iam::111122223333:user/alice"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := entryARN(chain.Identity{ExpectPrincipal: c.expected}, chain.Principal{ARN: c.caller}); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The fix names the principal as the entry holds it, with its path.
func TestFixNamesTheEntrysPrincipal(t *testing.T) {
	f, target := newFake(), standardTarget(t)
	f.entry, f.review, target.Expect = &chain.AccessEntry{PrincipalARN: withPath}, reviewSays("arn:run-1"), chain.Expect{}
	f.access = func(chain.Rule) (chain.Decision, error) { return chain.Decision{}, nil }
	run := probe(t, f, target)
	if !strings.Contains(run.Verdict.Fix, "--principal-arn "+withPath+" --policy-arn POLICY_ARN --access-scope type=namespace,namespaces=shop") {
		t.Errorf("reason %s, fix\n%s", run.Verdict.Reason, run.Verdict.Fix)
	}
}
