// Hops for real: what each call carries, what a run costs, and what reuse_session trades.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// policies are the session policies of the sessions that a role's name stands for.
func (w *world) policies(role string) (policies []string) {
	w.state.Change(func(s *sandbox.State) {
		for _, session := range s.Sessions {
			if chain.SamePrincipal(role, session.ARN) {
				policies = append(policies, session.Policy)
			}
		}
	})
	return policies
}

func TestIRSA(t *testing.T) {
	w := newWorld(t)
	session := w.session(w.irsa())
	principal, err := session.Caller(t.Context())
	must(t, err)
	wantSame(t, principal, chain.Principal{ARN: "arn:aws:sts::111122223333:assumed-role/irsa/eks-slo-run-1", AccountID: account, UserID: "AROAIRSA:eks-slo-run-1"})
	if left := time.Until(session.Expires()); left < 14*time.Minute || left > 15*time.Minute {
		t.Errorf("the session lives %s, want 15 minutes", left)
	}
	wantSame(t, w.policies(irsaARN), []string{denyAll})
	facts := session.Facts()
	for fact, want := range map[chain.Fact]string{chain.FactHop: "1 of 1", chain.FactRoleARN: irsaARN, chain.FactRoleName: "irsa", chain.FactRegion: region, chain.FactReused: ""} {
		wantSame(t, facts[fact], want)
	}
	wantText(t, facts[chain.FactSTSHost], "127.0.0.1:")
	wantText(t, facts[chain.FactClockSkew], "s")
	wantNoSecret(t, "", facts)
}

// The whole chain: only the last hop carries the deny-all policy, or the one before it could not go on.
func TestHops(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	identity.Hops = []chain.Hop{
		{RoleARN: deployARN, Duration: time.Hour},
		{RoleARN: vendorARN, ExternalIDFile: w.file("external-id", external+"\n"), Duration: 20 * time.Minute},
	}
	session := w.session(identity)
	principal, err := session.Caller(t.Context())
	must(t, err)
	wantSame(t, principal.Canonical(), vendorARN)
	wantSame(t, w.policies(irsaARN), []string{""})
	wantSame(t, w.policies(deployARN), []string{""})
	wantSame(t, w.policies(vendorARN), []string{denyAll})
	facts := session.Facts()
	wantSame(t, facts[chain.FactHop], "3 of 3")
	wantSame(t, facts[chain.FactExternalID], "sent, from "+w.dir+"/external-id")
	wantNoSecret(t, "", facts)
	if left := time.Until(session.Expires()); left < 19*time.Minute || left > 20*time.Minute {
		t.Errorf("the session lives %s, want 20 minutes", left)
	}
	wantSame(t, w.state.Calls, []sandbox.Call{
		{Service: "sts", Operation: "AssumeRoleWithWebIdentity"}, {Service: "sts", Operation: "AssumeRole"}, {Service: "sts", Operation: "AssumeRole"},
		{Service: "sts", Operation: "GetCallerIdentity"},
	})
}

func TestSessionPolicyNone(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	identity.SessionPolicy = chain.SessionPolicyNone
	w.session(identity)
	wantSame(t, w.policies(irsaARN), []string{""})
}

// Without hops the source's credentials are the session: no role is assumed, and keys do not end.
func TestNoHops(t *testing.T) {
	w := newWorld(t)
	session := w.session(w.environment())
	principal, err := session.Caller(t.Context())
	must(t, err)
	wantSame(t, principal.ARN, userARN)
	wantSame(t, session.Expires(), time.Time{})
	wantSame(t, w.state.Calls, []sandbox.Call{{Service: "sts", Operation: "GetCallerIdentity"}})
}

// Everything local is read at every run: what was good a run ago says nothing.
func TestReadAtEveryRun(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	identity.Hops = []chain.Hop{{RoleARN: deployARN}, {RoleARN: vendorARN, ExternalIDFile: w.file("external-id", external)}}
	must(t, w.signIn(identity))
	w.file("external-id", "another")
	wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonAssumeRoleDenied))
	w.file("external-id", external)
	must(t, w.signIn(identity))
	w.file("token", "")
	wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed))
}

// A role of another partition is out of reach, and known to be before anything is asked.
func TestWrongPartition(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ region, role string }{
		"a Chinese role from Ireland": {"eu-west-1", "arn:aws-cn:iam::111122223333:role/ci"},
		"an Irish role from China":    {"cn-north-1", deployARN},
		"a GovCloud role":             {"us-east-1", "arn:aws-us-gov:iam::111122223333:role/ci"},
	} {
		t.Run(name, func(t *testing.T) {
			login, err := w.client.Login(t.Context(), w.environment(c.role), c.region, "run-1")
			must(t, err)
			_, err = login.Assume(t.Context())
			e := wantVerdict(t, err, failure(chain.StepSTS, chain.ReasonSTSWrongPartition))
			wantText(t, e.Detail, c.role, "hop 1 of 1", c.region)
		})
	}
	wantSame(t, len(w.state.Calls), 0)
}

// STS off: no session of an earlier run serves, unless reuse_session says so, and even then GetCallerIdentity finds out.
func TestNothingIsCached(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	must(t, w.signIn(identity))
	w.state.Change(func(s *sandbox.State) { s.Off["sts"] = true })
	wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonSTSUnreachable))
}

func TestReuseSession(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.client = w.newClient(func(o *Options) { o.Now = func() time.Time { return now } })
	identity := w.environment(deployARN)
	identity.ReuseSession = 10 * time.Minute
	first := w.session(identity)
	wantSame(t, first.Facts()[chain.FactReused], "")
	now = now.Add(9 * time.Minute)
	second := w.session(identity)
	wantText(t, second.Facts()[chain.FactReused], "9m0s old; no role was assumed in this run")
	wantSame(t, w.state.Count("AssumeRole"), 1)
	_, err := second.Caller(t.Context())
	must(t, err)
	wantSame(t, w.state.Count("GetCallerIdentity"), 1)
	must(t, w.signIn(identity))
	wantSame(t, w.state.Count("GetCallerIdentity"), 2)

	other := identity
	other.Hops = []chain.Hop{{RoleARN: readerARN}}
	wantSame(t, w.session(other).Facts()[chain.FactReused], "")
	login, err := w.client.Login(t.Context(), identity, "eu-north-1", "run-1")
	must(t, err)
	elsewhere, err := login.Assume(t.Context())
	must(t, err)
	wantSame(t, elsewhere.Facts()[chain.FactReused], "")

	now = now.Add(time.Minute)
	wantSame(t, w.session(identity).Facts()[chain.FactReused], "")
	wantSame(t, w.state.Count("AssumeRole"), 4)
}

// A kept session that STS no longer takes gives way to a new one within the run; any other trouble is told as it is.
func TestReuseOfARevokedSession(t *testing.T) {
	w := newWorld(t)
	identity := w.environment(deployARN)
	identity.ReuseSession = 10 * time.Minute
	must(t, w.signIn(identity))
	w.state.Change(func(s *sandbox.State) { s.Sessions = map[string]*sandbox.Session{} })
	session := w.session(identity)
	wantSame(t, session.Facts()[chain.FactReused], "")
	_, err := session.Caller(t.Context())
	must(t, err)
	wantText(t, w.session(identity).Facts()[chain.FactReused], "no role was assumed in this run")
	wantSame(t, w.state.Count("AssumeRole"), 2)
	w.state.Change(func(s *sandbox.State) { s.Throttle["GetCallerIdentity"] = true })
	wantVerdict(t, w.signIn(identity), unknown(chain.ReasonSTSThrottled))
	wantSame(t, w.state.Count("AssumeRole"), 2)
}

// A session store drops the session that was refused, and not the one that has taken its place.
func TestSessionStoreDrops(t *testing.T) {
	store, now, refused, next := newSessionStore(), time.Now(), &Session{region: "a"}, &Session{region: "b"}
	store.put("key", refused, now, time.Hour)
	store.put("key", next, now, time.Hour)
	store.drop("key", refused)
	got, ok := store.get("key", now)
	wantSame(t, []any{ok, got == next}, []any{true, true})
	store.drop("key", next)
	_, ok = store.get("key", now)
	wantSame(t, ok, false)
}

// A session is never kept into the last minute before its end, however long reuse_session is.
func TestReuseEndsBeforeTheSession(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.client = w.newClient(func(o *Options) { o.Now = func() time.Time { return now } })
	identity := w.environment(deployARN)
	identity.ReuseSession = time.Hour
	end := w.session(identity).Expires()
	for _, c := range []struct {
		before time.Duration
		calls  int
	}{{sessionMargin + time.Second, 1}, {sessionMargin, 2}} {
		now = end.Add(-c.before)
		w.session(identity)
		wantSame(t, w.state.Count("AssumeRole"), c.calls)
	}
}

func TestReuseIsSafeForConcurrentUse(t *testing.T) {
	w := newWorld(t)
	identity := w.environment(deployARN)
	identity.ReuseSession = time.Minute
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := w.signIn(identity); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	wantSame(t, w.state.Count("GetCallerIdentity"), 8)
}

// A session store forgets what nobody may use any more.
func TestSessionStoreForgets(t *testing.T) {
	store, now := newSessionStore(), time.Now()
	store.put("gone", &Session{}, now, time.Minute)
	store.put("kept", &Session{}, now, time.Hour)
	store.put("new", &Session{}, now.Add(2*time.Minute), time.Hour)
	var keys []string
	for key := range store.kept {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	wantSame(t, keys, []string{"kept", "new"})
}

func TestRoleName(t *testing.T) {
	for arn, want := range map[string]string{deployARN: "ci-deploy", irsaARN: "irsa", userARN: "", "": ""} {
		wantSame(t, roleName(arn), want)
	}
}
