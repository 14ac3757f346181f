// Golden tests of the ladder: what a tired engineer reads, for made-up runs of fixed durations.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

var update = flag.Bool("update", false, "write the golden files and scripts anew")

const madeUpRole = "arn:aws:iam::111122223333:role/ci-deploy"

// good is a run in which everything works. Its durations reach from microseconds to seconds.
func good() chain.Run {
	target := chain.Target{
		Name: "ci-deploy@prod", Kind: chain.KindAccess,
		Identity: chain.Identity{Name: "ci-deploy", Source: chain.SourceIRSA, Hops: []chain.Hop{{RoleARN: madeUpRole}}},
		Cluster:  chain.Cluster{Name: "prod", EKSName: "prod", Region: "eu-west-1", Observer: "exporter"},
		Expect:   chain.Expect{Groups: []string{"deployers", "viewers"}},
	}
	step := func(step chain.Step, took time.Duration, facts chain.Facts) chain.StepResult {
		return chain.StepResult{Step: step, Outcome: chain.OutcomeSuccess, Duration: took, Facts: facts}
	}
	return chain.Run{
		Target: target, Duration: 1_275_400 * time.Microsecond, Verdict: chain.Verdict{Outcome: chain.OutcomeSuccess},
		Steps: []chain.StepResult{
			step(chain.StepCredentials, 41*time.Microsecond, chain.Facts{
				chain.FactProvider: "irsa", chain.FactOIDCSubject: "system:serviceaccount:monitoring:eks-slo-exporter", chain.FactTokenFile: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
			}),
			step(chain.StepSTS, 174*time.Millisecond, chain.Facts{
				chain.FactCallerARN: "arn:aws:sts::111122223333:assumed-role/ci-deploy/eks-slo-t6x1zk-5f0c3a11", chain.FactPrincipal: madeUpRole, chain.FactHop: "1 of 1",
				chain.FactSessionExpires: "2026-01-05T10:15:30Z",
			}),
			step(chain.StepToken, 300*time.Microsecond, chain.Facts{chain.FactTokenExpires: "2026-01-05T10:15:30Z", chain.FactClusterStatus: "ACTIVE", chain.FactAuthMode: "API"}),
			step(chain.StepEndpoint, 98*time.Millisecond, chain.Facts{
				chain.FactHost: "ABCDEF.gr7.eu-west-1.eks.amazonaws.com", chain.FactAddress: "10.20.30.40:443",
				chain.FactDNSTime: "4.1", chain.FactTCPTime: "21.0", chain.FactTLSTime: "45.2", chain.FactHTTPTime: "27.4",
			}),
			step(chain.StepAccessEntry, 3*time.Millisecond, chain.Facts{chain.FactUsername: madeUpRole, chain.FactGroups: "deployers,viewers,system:authenticated"}),
			step(chain.StepRBAC, time.Second, chain.Facts{chain.FactRulesChecked: "3"}),
		},
	}
}

// broken is the good run, with one step that is not good and the ones after it skipped.
func broken(at chain.Step, outcome chain.Outcome, reason chain.Reason, detail string, facts chain.Facts) chain.Run {
	run := good()
	for i := range run.Steps {
		switch s := &run.Steps[i]; {
		case s.Step == at:
			s.Outcome, s.Reason, s.Detail = outcome, reason, detail
			s.Facts = facts
		case s.Step > at:
			*s = chain.StepResult{Step: s.Step, Outcome: chain.OutcomeSkipped}
		}
	}
	return settled(run)
}

func settled(run chain.Run) chain.Run {
	run.Verdict = chain.Settle(run.Steps)
	run.Verdict.Fix = chain.Fix(run.Verdict.Step, run.Verdict.Reason, run.Facts())
	return run
}

// reused is a run with a kept session.
func reused() chain.Run {
	run := good()
	run.Steps[1].Facts[chain.FactReused] = "the session of 2026-01-05T10:00:30Z, 3m0s old; no role was assumed in this run"
	return run
}

// wrongPrincipal is seen at sts and blamed on credentials, so a step after the broken one keeps its success.
func wrongPrincipal() chain.Run {
	run := broken(chain.StepToken, chain.OutcomeSkipped, "", "", nil)
	run.Steps[2] = chain.StepResult{Step: chain.StepToken, Outcome: chain.OutcomeSkipped}
	s := &run.Steps[0]
	s.Outcome, s.Reason = chain.OutcomeFailure, chain.ReasonUnexpectedPrincipal
	s.Detail = "GetCallerIdentity says arn:aws:iam::111122223333:user/alice, not " + madeUpRole + "; the credentials work, but they are somebody else's"
	return settled(run)
}

const madeUpRuledOut = "the token is valid until 10:15:30; the clock agrees with the apiserver's within 1s; STS accepts the presigned URL as " +
	"arn:aws:sts::111122223333:assumed-role/ci-deploy/eks-slo-t6x1zk-5f0c3a11; the signed name \"prod\" is the cluster's own"

// allLadders are those of both chains.
func allLadders() map[string]chain.Run {
	all := ladders()
	maps.Copy(all, groupLadders())
	return all
}

func ladders() map[string]chain.Run {
	fail := chain.OutcomeFailure
	refused := chain.Facts{chain.FactRuledOut: madeUpRuledOut, chain.FactPrincipal: madeUpRole, chain.FactAuthMode: "API", chain.FactHTTPStatus: "401"}
	return map[string]chain.Run{
		"success": good(),
		"reused":  reused(),
		"credentials": broken(chain.StepCredentials, fail, chain.ReasonWebIdentityTokenMissing,
			"opening /var/run/secrets/eks.amazonaws.com/serviceaccount/token: no such file or directory", chain.Facts{chain.FactTokenFile: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}),
		"wrong_principal": wrongPrincipal(),
		"sts": broken(chain.StepSTS, fail, chain.ReasonAssumeRoleDenied, "hop 1 of 1: STS refuses to let arn:aws:iam::111122223333:role/eks-slo-exporter assume "+madeUpRole,
			chain.Facts{chain.FactHop: "1 of 1", chain.FactRoleARN: madeUpRole, chain.FactRoleName: "ci-deploy", chain.FactErrorCode: "AccessDenied"}),
		"token": broken(chain.StepToken, fail, chain.ReasonClusterNotFound, `EKS knows no cluster "prod" in eu-west-1`, chain.Facts{chain.FactTokenExpires: "2026-01-05T10:15:30Z"}),
		"endpoint": broken(chain.StepEndpoint, fail, chain.ReasonTLSExpired, "the certificate of CN=kube-apiserver ended at 2026-01-04T00:00:00Z",
			chain.Facts{
				chain.FactHost: "ABCDEF.gr7.eu-west-1.eks.amazonaws.com", chain.FactAddress: "10.20.30.40:443", chain.FactDNSTime: "4.1", chain.FactTCPTime: "21.0", chain.FactTLSTime: "45.2",
				chain.FactTLSSubject: "CN=kube-apiserver", chain.FactTLSNotAfter: "2026-01-04T00:00:00Z", chain.FactProxy: "http://proxy:3128",
			}),
		"access_entry": broken(chain.StepAccessEntry, fail, chain.ReasonNotMapped, "the token is good (STS accepts it as arn:aws:sts::111122223333:assumed-role/ci-deploy/eks-slo-t6x1zk-5f0c3a11), "+
			"but the cluster has no access entry for "+madeUpRole+"; authentication mode is API", refused),
		"unexplained": broken(chain.StepAccessEntry, fail, chain.ReasonUnauthorizedUnexplained, "the apiserver refused the token and does not say why; ruled out: "+madeUpRuledOut+
			"; could not be read: the access entry: observer_denied", refused),
		"rbac": broken(chain.StepRBAC, fail, chain.ReasonDenied, `user "`+madeUpRole+`" may not create apps/deployments in shop`, chain.Facts{
			chain.FactRulesChecked: "3", chain.FactRule: "create apps/deployments in shop", chain.FactVerb: "create", chain.FactGroup: "apps", chain.FactResource: "deployments", chain.FactNamespace: "shop",
		}),
		"unknown": broken(chain.StepToken, chain.OutcomeUnknown, chain.ReasonObserverDenied,
			"the observer exporter may not call DescribeCluster", chain.Facts{chain.FactTokenExpires: "2026-01-05T10:15:30Z"}),
		"missed_slot": chain.UnknownRun("t6x1zk-5f0c3a11", good().Target, time.Time{}, chain.ReasonMissedSlot, "the slot of 10:15:00 was not begun by 10:15:15"),
	}
}

func TestLadders(t *testing.T) {
	for name, run := range allLadders() {
		t.Run(name, func(t *testing.T) {
			compareGolden(t, filepath.Join("testdata", "ladder", name+".golden"), ladder(run))
		})
	}
}

// Every ladder is plain text of bounded width, but for rows of a table, with each line of the fix whole.
func TestLaddersArePlain(t *testing.T) {
	for name, run := range allLadders() {
		prose, fix, _ := strings.Cut(ladder(run), "\n  Fix\n")
		if strings.ContainsAny(prose+fix, "\x1b\t\r") {
			t.Errorf("%s: it has control characters", name)
		}
		for line := range strings.Lines(prose) {
			line := []rune(strings.TrimSuffix(line, "\n"))
			if len(line) > textWidth && strings.Contains(string(line[rungIndent:]), " ") && !isRow(run, string(line)) {
				t.Errorf("%s: %d columns, and there is a place to break: %q", name, len(line), string(line))
			}
		}
		for line := range strings.Lines(run.Verdict.Fix) {
			line = strings.TrimSpace(line)
			whole := strings.Contains(fix, "      "+line+"\n") || strings.Contains(fix, "      # "+line+"\n")
			if listed := strings.HasPrefix(line, "Ruled out: "); whole == listed {
				t.Errorf("%s: the line %q of the fix: whole %t, listed elsewhere %t", name, line, whole, listed)
			}
		}
	}
}

// isRow reports whether a line is one of the table of targets.
func isRow(run chain.Run, line string) bool {
	group := results.NewGroup(run)
	return group != nil && slices.Contains(targetTable(group.Targets, run.Reading.At), strings.TrimPrefix(line, strings.Repeat(" ", textIndent)))
}

// The example of the README is what is really printed.
func TestReadmeShowsALadder(t *testing.T) {
	run := ladders()["access_entry"]
	run.Duration, run.Steps[2].Duration, run.Steps[4].Duration = 412*time.Millisecond, 61*time.Millisecond, 79*time.Millisecond
	run.Steps[0].Facts = chain.Facts{chain.FactProvider: "profile staging"}
	steps, _, _ := strings.Cut(ladder(run), "\n\n")
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```text\n"+steps+"\n```\n") {
		t.Errorf("README.md does not hold this example:\n%s", steps)
	}
}

func TestExitCode(t *testing.T) {
	good, failed, unknown := ladders()["success"], ladders()["rbac"], ladders()["unknown"]
	cases := map[string]struct {
		runs []chain.Run
		want int
	}{
		"all good":               {[]chain.Run{good, good}, exitGood},
		"one failed":             {[]chain.Run{good, failed}, exitFailure},
		"one unknown":            {[]chain.Run{unknown, good}, exitUnknown},
		"failure beats unknown":  {[]chain.Run{unknown, failed}, exitFailure},
		"unknown after a failed": {[]chain.Run{failed, unknown}, exitFailure},
	}
	for name, c := range cases {
		if got := exitCode(c.runs); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Fixes hold < and >: in JSON they stand as they are, for whoever reads it with their own eyes.
func TestJSONKeepsFixesReadable(t *testing.T) {
	run := ladders()["rbac"]
	run.Verdict.Fix = "aws eks list-clusters --region <region> && true"
	var b strings.Builder
	if err := printRuns(&b, []chain.Run{run, run}, "json"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), `"fix":"`+run.Verdict.Fix+`"`); got != 2 || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("the fix is there %d times, want 2, one a line:\n%s", got, b.String())
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 ms", time.Microsecond: "<0.1 ms", 99 * time.Microsecond: "<0.1 ms", 100 * time.Microsecond: "0.1 ms", 300 * time.Microsecond: "0.3 ms",
		41_200 * time.Microsecond: "41.2 ms", 999 * time.Millisecond: "999.0 ms", time.Second: "1.0 s", 10_040 * time.Millisecond: "10.0 s",
	} {
		if got := took(d); got != want {
			t.Errorf("%s is shown as %q, want %q", d, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	all := ladders()
	got := summary([]chain.Run{all["success"], all["rbac"], all["reused"], all["unknown"], all["sts"], all["success"]})
	if want := "6 targets: 3 good, 2 failing, 1 unknown\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", textWidth+5)
	cases := map[string]struct {
		text   string
		indent int
		want   []string
	}{
		"nothing":              {"", 0, []string{""}},
		"fits exactly":         {"ab cd", textWidth - 5, []string{"ab cd"}},
		"one too many":         {"ab cde", textWidth - 5, []string{"ab", "cde"}},
		"counted as runes":     {"äö üß", textWidth - 5, []string{"äö üß"}},
		"a long word is whole": {"a " + long + " b", 0, []string{"a", long, "b"}},
		"white space":          {" a \n b ", 0, []string{"a b"}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, wrap(c.text, c.indent)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWrapItems(t *testing.T) {
	cases := map[string]struct {
		items  []string
		indent int
		want   []string
	}{
		"nothing":                     {nil, 0, []string{""}},
		"fit":                         {[]string{"a b", "c d"}, textWidth - 8, []string{"a b, c d"}},
		"broken between":              {[]string{"a b", "c d"}, textWidth - 7, []string{"a b,", "c d"}},
		"broken within only when not": {[]string{"a", "b c d"}, textWidth - 4, []string{"a, b", "c d"}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, wrapItems(c.items, c.indent)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
