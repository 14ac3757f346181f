// SSO logins that have ended, and an SSO that says nothing: the first is the profile's failure, the second nobody's.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"crypto/sha1" // as the AWS CLI names the file of a login
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	startURL   = "https://example.awsapps.com/start"
	ssoProfile = `
[profile sso]
sso_start_url = ` + startURL + `
sso_region = eu-west-1
sso_account_id = 111122223333
sso_role_name = deployer
[profile session]
sso_session = company
sso_account_id = 111122223333
sso_role_name = deployer
[sso-session company]
sso_start_url = ` + startURL + `
sso_region = eu-west-1
`
)

// ssoLogin keeps a login as `aws sso login` does, under the start URL or the session's name.
func (w *world) ssoLogin(key string, expires time.Time) {
	w.t.Helper()
	sum := sha1.Sum([]byte(key))
	path := filepath.Join(w.dir, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(w.t, os.WriteFile(path, fmt.Appendf(nil, `{"accessToken":"a-login","expiresAt":%q}`, expires.UTC().Format(time.RFC3339)), 0o600))
}

func TestSSO(t *testing.T) {
	ended := failure(chain.StepCredentials, chain.ReasonProfileInvalid)
	refuse := func(status int, code string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			if code != "" {
				rw.Header().Set("X-Amzn-Errortype", code)
			}
			rw.WriteHeader(status)
			fmt.Fprint(rw, `{"message":"no"}`)
		}
	}
	for name, c := range map[string]struct {
		profile string
		left    time.Duration    // of the login; 0: there is none
		sso     http.HandlerFunc // nil: nobody listens
		want    verdict
	}{
		"no login":                    {"sso", 0, nil, ended},
		"no login, session":           {"session", 0, nil, ended},
		"a login that ended":          {"sso", -time.Hour, nil, ended},
		"a login that ended, session": {"session", -time.Hour, nil, ended},
		"a login that was revoked":    {"sso", time.Hour, refuse(401, "UnauthorizedException"), ended},
		"a role that is not given":    {"session", time.Hour, refuse(403, "ForbiddenException"), ended},
		"busy":                        {"sso", time.Hour, refuse(429, "TooManyRequestsException"), unknown(chain.ReasonNotMeasurable)},
		"a fault of its own":          {"sso", time.Hour, refuse(500, "InternalServerException"), unknown(chain.ReasonReadFailed)},
		"a gateway":                   {"session", time.Hour, refuse(502, ""), unknown(chain.ReasonReadFailed)},
		"silence":                     {"sso", time.Hour, nil, unknown(chain.ReasonReadFailed)},
		"silence, session":            {"session", time.Hour, nil, unknown(chain.ReasonReadFailed)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			t.Setenv("HOME", w.dir)
			server := httptest.NewServer(c.sso)
			t.Setenv("AWS_ENDPOINT_URL_SSO", server.URL)
			if c.sso == nil {
				server.Close()
			}
			defer server.Close()
			w.profiles(ssoProfile, "")
			if c.left != 0 {
				w.ssoLogin(map[string]string{"sso": startURL, "session": "company"}[c.profile], time.Now().Add(c.left))
			}
			_, err := w.client.Login(t.Context(), profile(c.profile), region, "run-1")
			wantText(t, wantVerdict(t, err, c.want).Detail, "opening the source profile "+c.profile)
		})
	}
}
