// Source irsa: what AWS_ROLE_ARN may say, and that a page in the place of STS convicts no token.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestRoleOfTheEnvironment(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	identity.RoleARN = ""
	for name, role := range map[string]string{
		"junk": "junk", "a user": userARN, "a session": "arn:aws:sts::111122223333:assumed-role/irsa/x", "no account": "arn:aws:iam:::role/irsa", "a blank after it": irsaARN + " ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ROLE_ARN", role)
			e := wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonNoCredentials))
			wantText(t, e.Detail, `AWS_ROLE_ARN is "`+role[:4], "no IAM ARN of a role")
		})
	}
	wantSame(t, len(w.seen.requests), 0)
	for _, role := range []string{irsaARN, deployARN, "arn:aws-us-gov:iam::111122223333:role/a/b+c"} {
		wantSame(t, roleShape.MatchString(role), true)
	}
	t.Setenv("AWS_ROLE_ARN", irsaARN)
	must(t, w.signIn(identity))
}

// The Date of a page in STS's place convicts no token, whatever its status, nor is it a clock.
func TestForeignDateConvictsNoToken(t *testing.T) {
	oidc, err := sandbox.NewOIDC(issuer)
	must(t, err)
	for _, status := range []int{200, 302, 403, 407, 429, 502, 503} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			w := literal(t, func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Date", time.Now().Add(48*time.Hour).UTC().Format(http.TimeFormat))
				rw.WriteHeader(status)
				_, _ = rw.Write([]byte("<html><body>Access Denied</body></html>"))
			})
			w.oidc = oidc
			e := wantVerdict(t, w.signIn(w.irsa()), failure(chain.StepSTS, chain.ReasonSTSUnreachable))
			wantSame(t, []any{e.Facts[chain.FactClockSkew], len(w.seen.skews)}, []any{"", 0})
		})
	}
}

// AWS's own answer without a code has a Date that counts as a clock, and still does not convict: only a verdict of STS does.
func TestWordlessAnswerConvictsNoToken(t *testing.T) {
	w := literal(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Date", time.Now().Add(48*time.Hour).UTC().Format(http.TimeFormat))
		rw.Header().Set("X-Amzn-Requestid", "the-request")
		rw.WriteHeader(http.StatusServiceUnavailable)
	})
	var err error
	w.oidc, err = sandbox.NewOIDC(issuer)
	must(t, err)
	wantVerdict(t, w.signIn(w.irsa()), failure(chain.StepSTS, chain.ReasonSTSError))
	wantSame(t, len(w.seen.skews), 1)
}
