// Access entries: a principal that was made anew, and an authenticator in trouble, look alike to the one who is refused. Neither is ever taken for the other.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestAccessEntries(t *testing.T) {
	w := startEntries(t)
	for name, test := range entryCases {
		t.Run(name, func(t *testing.T) { w.check(t, test.want, w.probe(t, test.access)) })
	}
	t.Run("entries and aws-auth", w.testBothModes)
	t.Run("two identities at once", w.testAtOnce)
	t.Run("the token ends on its way", w.testEnds)
	t.Run("the token is too old for STS", w.testTooOld)
	t.Run("STS throttles the authenticator", w.testThrottled)
	t.Run("the authenticator hangs", w.testHangs)
	t.Run("the authenticator is gone", w.testGone)
	t.Run("parity", w.testParity)
}

var entryCases = map[string]struct {
	access string
	want   wanted
}{
	"everything as declared": {
		`{cluster: watched, identity: release, expect: {username: "release:{{SessionName}}", groups: [deployers]}}`,
		wanted{steps: "sssss-", facts: chain.Facts{chain.FactGroups: "deployers,system:authenticated"}},
	},
	"nobody made an entry": {
		`{cluster: watched, identity: stranger}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonNotMapped, fault: "not-mapped",
			detail: []string{"no access entry for " + strangeRole + "; authentication mode is API"}, fix: "aws eks create-access-entry",
		},
	},
	"an entry for EC2 instances": {
		`{cluster: watched, identity: node}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUsernameTemplateUnresolved, fault: "entry-of-a-node",
			detail: []string{"the access entry of " + nodeRole + ` has the username "system:node:{{EC2PrivateDNSName}}", which needs an instance id as session name`}, fix: "The session is eks-slo-",
		},
	},
	"a role made anew, as IAM tells": {
		`{cluster: watched, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAccessEntryPrincipalRecreated, fault: "principal-recreated",
			detail: []string{"the access entry of " + deployRole + " was made at ", "as IAM tells: the entry is bound to a former principal of the same name"}, fix: "replace the entry by a new one",
		},
	},
	"a role made anew, as the observer shows": {
		`{cluster: read, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAccessEntryPrincipalRecreated, fault: "principal-recreated-unread",
			detail: []string{"the observer reader has got in since: the entry is bound to a former principal"}, fix: "replace the entry by a new one",
		},
	},
	"a role made anew, and nothing shows it": {
		`{cluster: outside, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnauthorizedUnexplained,
			detail: []string{"the access entry of " + deployRole + " exists", "could not be read: since when the principal exists", "how the observer outside fares: not_measurable: it is refused too, and has no access entry"},
			fix:    "--log-stream-name-prefix authenticator",
		},
	},
	"a role made anew, and nobody to look": {
		`{cluster: unwatched, identity: deploy}`,
		wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnauthorizedUnexplained,
			detail: []string{"STS accepts the presigned URL as ", "the cluster has no observer"}, fix: "Give cluster unwatched an observer",
		},
	},
}

// testBothModes is a cluster in the middle of its migration: who has an entry is mapped by it alone, who has none by aws-auth.
func (w *world) testBothModes(t *testing.T) {
	mode := func(mode string) { w.aws.State.Change(func(s *sandbox.State) { s.Clusters["prod"].AuthMode = mode }) }
	mode(chain.AuthModeAPIAndConfigMap)
	defer mode(chain.AuthModeAPI)
	w.editAWSAuth(t, "- {rolearn: "+releaseRole+", username: release, groups: [admins]}\n- {rolearn: "+strangeRole+", username: stranger, groups: [admins]}\n")
	defer w.editAWSAuth(t, "")
	t.Run("the entry counts", func(t *testing.T) {
		w.check(t, wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAccessEntryShadowsAWSAuth, fault: "entry-shadows-aws-auth", fix: "aws eks update-access-entry",
			detail: []string{"the access entry of " + releaseRole + " gives the groups deployers and hides the aws-auth line that gives admins"},
		}, w.probe(t, `{cluster: read, identity: release, expect: {groups: [admins]}}`))
	})
	t.Run("who has no entry", func(t *testing.T) {
		wanted{steps: "sssss-"}.check(t, w.probe(t, `{cluster: read, identity: stranger, expect: {username: stranger, groups: [admins]}}`))
	})
}

// probeAtOnce runs several targets in one prober at the same time.
func (w *world) probeAtOnce(t *testing.T, accesses ...string) []chain.Run {
	t.Helper()
	prober, runs := newProber(t), make([]chain.Run, len(accesses))
	errs := make([]error, len(accesses))
	var wait sync.WaitGroup
	for i, access := range accesses {
		target := w.target(t, access)
		wait.Go(func() { runs[i], errs[i] = prober.Run(t.Context(), target, time.Now()) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return runs
}

// testAtOnce: what happens to one identity is not put down to another.
func (w *world) testAtOnce(t *testing.T) {
	names := []string{"everything as declared", "a role made anew, as IAM tells", "nobody made an entry", "a role made anew, as the observer shows"}
	accesses := make([]string, len(names))
	for i, name := range names {
		accesses[i] = entryCases[name].access
	}
	for i, run := range w.probeAtOnce(t, accesses...) {
		entryCases[names[i]].want.check(t, run)
	}
}

// testThrottled: the apiserver asks a throttled authenticator five times within about 4 s, and then answers a plain 401. Who is refused then is not taken for made anew, even who is.
func (w *world) testThrottled(t *testing.T) {
	w.throttle(true)
	defer w.throttle(false)
	want := wanted{
		steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAuthenticatorThrottled, fault: "authenticator-throttled",
		detail: []string{" exists, the refusal took ", "STS throttles the presigned URL that the authenticator has to present"}, fix: "--filter-pattern throttled",
	}
	for _, run := range w.probeAtOnce(t, `{cluster: watched, identity: release}`, `{cluster: read, identity: release}`, `{cluster: outside, identity: release}`, `{cluster: read, identity: deploy}`) {
		w.check(t, want, run)
	}
}

// testHangs: the authenticator takes connections and answers nothing; the apiserver answers whoever shows no token.
func (w *world) testHangs(t *testing.T) {
	w.pause(t)
	defer w.resume(t)
	target := w.target(t, `{cluster: watched, identity: release}`)
	target.Timeout = 4 * time.Second
	wanted{
		steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAuthenticatorUnavailable, fix: "aws eks describe-cluster",
		detail: []string{"the apiserver answers requests without a token, but not the review of this token: the webhook that authenticates it hangs"},
	}.check(t, runOnce(t, newProber(t), target))
}

// testGone: nobody listens where the apiserver asks, so it refuses all, at once.
func (w *world) testGone(t *testing.T) {
	w.cluster.Authenticator.Stop()
	unavailable := wanted{
		steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonAuthenticatorUnavailable, fault: "authenticator-down", fix: "aws eks describe-cluster",
		detail: []string{" exist, STS accepts both tokens, and the apiserver refuses both: it gets no answer from its authenticator"},
	}
	unexplained := wanted{steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonUnauthorizedUnexplained, fault: "unauthorized", fix: "--log-stream-name-prefix authenticator"}
	for name, test := range map[string]struct {
		access string
		want   wanted
	}{
		"the observer is refused too":                          {`{cluster: watched, identity: release}`, unavailable},
		"and may not read IAM":                                 {`{cluster: read, identity: release}`, unavailable},
		"and may not read IAM, and the role was made anew too": {`{cluster: read, identity: deploy}`, unavailable},
		"the observer has no entry":                            {`{cluster: outside, identity: release}`, unexplained},
	} {
		t.Run(name, func(t *testing.T) { w.check(t, test.want, w.probe(t, test.access)) })
	}
}

// throttle makes STS refuse what the authenticator asks, and only that.
func (w *world) throttle(on bool) {
	w.aws.State.Change(func(s *sandbox.State) { s.Throttle["PresignedGetCallerIdentity"] = on })
}

func (w *world) pause(t *testing.T) {
	t.Helper()
	if err := w.cluster.Authenticator.Pause(); err != nil {
		t.Fatal(err)
	}
}

func (w *world) resume(t *testing.T) {
	t.Helper()
	if err := w.cluster.Authenticator.Resume(); err != nil {
		t.Error(err)
	}
}

// testEnds changes the world between the making of a token and the authenticator's look at it: the exporter itself sends no token whose end has come.
func (w *world) testEnds(t *testing.T) {
	for name, test := range map[string]struct {
		clock  time.Duration // STS' own, from then on
		life   time.Duration // left to the session, from now on
		logged string
		want   wanted
	}{
		"the session is over": {0, -time.Second, "The security token included in the request is expired", wanted{
			steps: "ssfs--", step: chain.StepToken, reason: chain.ReasonTokenSigningCredentialsExpired, fix: "Sign with a session that outlives the token",
			detail: []string{"STS refuses the presigned URL: ", "403 ExpiredToken"},
		}},
		"its 15 minutes are over by STS' clock": {16 * time.Minute, time.Hour, "Signature expired: ", wanted{
			steps: "ssssf-", step: chain.StepAccessEntry, reason: chain.ReasonClockSkewPresigned, fix: "The clock is -16m0s off",
			detail: []string{"STS refuses the presigned URL: ", "403 SignatureDoesNotMatch: Signature expired: ", "the local clock is 16m0s behind STS"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			defer w.aws.State.ShiftClock(0)
			before := len(w.cluster.Authenticator.Log())
			test.want.check(t, w.probeMeanwhile(t, `{cluster: watched, identity: release}`, func() {
				w.aws.State.ShiftClock(test.clock)
				w.aws.State.Change(func(s *sandbox.State) {
					for _, session := range s.Sessions {
						session.Expires = time.Now().Add(test.clock + test.life)
					}
				})
			}))
			if log := w.cluster.Authenticator.Log()[before:]; !strings.Contains(log, test.logged) {
				t.Errorf("the authenticator does not say %q:\n%s", test.logged, log)
			}
		})
	}
}

// testTooOld has STS find the token past its time while all clocks agree, as for a machine that was suspended after it signed.
func (w *world) testTooOld(t *testing.T) {
	const text = "Signature expired: 20260101T000000Z is now earlier than 20260101T000100Z (20260101T001600Z - 15 min.)"
	refuse := func(change func(map[string]sandbox.Refusal)) {
		w.aws.State.Change(func(s *sandbox.State) { change(s.Refuse) })
	}
	defer refuse(func(r map[string]sandbox.Refusal) { delete(r, "PresignedGetCallerIdentity") })
	before := len(w.cluster.Authenticator.Log())
	run := w.probeMeanwhile(t, `{cluster: watched, identity: release}`, func() {
		refuse(func(r map[string]sandbox.Refusal) {
			r["PresignedGetCallerIdentity"] = sandbox.Refusal{Code: "SignatureDoesNotMatch", Message: text}
		})
	})
	wanted{
		steps: "ssfs--", step: chain.StepToken, reason: chain.ReasonTokenExpired, fix: "token", detail: []string{"STS refuses the presigned URL: ", "Signature expired: "},
	}.check(t, run)
	if log := w.cluster.Authenticator.Log()[before:]; !strings.Contains(log, "Signature expired: ") {
		t.Errorf("the authenticator does not say so:\n%s", log)
	}
}

// probeMeanwhile runs a target while the authenticator is paused, and makes the change once STS has told the product who it is: the token is made after that, and looked at after the change.
func (w *world) probeMeanwhile(t *testing.T, access string, change func()) chain.Run {
	t.Helper()
	w.pause(t)
	prober, target, asked := newProber(t), w.target(t, access), len(w.calls())
	var run chain.Run
	var err error
	var wait sync.WaitGroup
	wait.Go(func() { run, err = prober.Run(t.Context(), target, time.Now()) })
	await(t, func() bool {
		return slices.ContainsFunc(w.calls()[asked:], func(c sandbox.Call) bool { return c.Operation == "GetCallerIdentity" })
	})
	change()
	w.resume(t)
	wait.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return run
}
