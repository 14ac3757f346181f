// The second look at credentials that one region's STS does not know.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// One code, three causes: dead keys, a token that this region does not take, a region that the account has not enabled.
func TestRefine(t *testing.T) {
	const who = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>` + userARN + `</Arn><UserId>AIDAUSER</UserId><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`
	for name, c := range map[string]struct {
		region, sessionToken, good string
		want                       chain.Reason
		calls                      int
	}{
		"a token of elsewhere":      {"af-south-1", "token", "us-east-1", chain.ReasonSessionTokenRegionInvalid, 2},
		"a region not enabled":      {"af-south-1", "", "us-east-1", chain.ReasonSTSRegionDisabled, 2},
		"dead everywhere":           {"af-south-1", "token", "nowhere", chain.ReasonCredentialsInvalid, 2},
		"dead in the home region":   {"us-east-1", "token", "nowhere", chain.ReasonCredentialsInvalid, 1},
		"another partition's home":  {"cn-northwest-1", "token", "cn-north-1", chain.ReasonSessionTokenRegionInvalid, 2},
		"GovCloud has its own home": {"us-gov-east-1", "", "us-gov-west-1", chain.ReasonSTSRegionDisabled, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := literal(t, func(rw http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.Header.Get("Authorization"), "/"+c.good+"/sts/") {
					_, _ = rw.Write([]byte(who))
					return
				}
				xmlError(403, "InvalidClientTokenId", "The security token included in the request is invalid.")(rw, r)
			})
			identity := w.environment()
			t.Setenv("AWS_SESSION_TOKEN", c.sessionToken)
			login, err := w.client.Login(t.Context(), identity, c.region, "run-1")
			must(t, err)
			session, err := login.Assume(t.Context())
			must(t, err)
			_, err = session.Caller(t.Context())
			wantVerdict(t, err, failure(chain.StepSTS, c.want))
			wantSame(t, len(w.seen.requests), c.calls)
		})
	}
}

// Without a word of the home region on the keys it stays open whether they are dead.
func TestRefineThatIsNotAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		home http.HandlerFunc
		text string
	}{
		"throttled": {xmlError(400, "Throttling", "Rate exceeded"), "the STS of us-east-1, which would tell, could not be asked: 400 Throttling: Rate exceeded"},
		"hung up":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "could not be asked: no answer, while "},
		"a page":    {func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) }, "could not be asked: HTTP 403 without an AWS error"},
	} {
		t.Run(name, func(t *testing.T) {
			w := literal(t, func(rw http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.Header.Get("Authorization"), "/us-east-1/sts/") {
					c.home(rw, r)
					return
				}
				xmlError(403, "InvalidClientTokenId", "The security token included in the request is invalid.")(rw, r)
			})
			e := wantVerdict(t, w.signIn(w.environment(vendorARN)), failure(chain.StepSTS, chain.ReasonSTSError))
			wantText(t, e.Detail, "403 InvalidClientTokenId", c.text)
		})
	}
}

// A session of our own hop comes from this very region: no second look is needed.
func TestRefineLeavesHopsAlone(t *testing.T) {
	w := newWorld(t)
	session := w.session(w.irsa())
	w.state.Change(func(s *sandbox.State) { s.Sessions = map[string]*sandbox.Session{} })
	_, err := session.Caller(t.Context())
	wantVerdict(t, err, failure(chain.StepSTS, chain.ReasonCredentialsInvalid))
	wantSame(t, w.state.Count("GetCallerIdentity"), 1)
}
