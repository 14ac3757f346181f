// Profiles: each way in which one can say where credentials come from, and no way out of a profile that says nothing.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// profiles writes the shared configuration files.
func (w *world) profiles(config, credentials string) {
	w.t.Setenv("AWS_CONFIG_FILE", w.file("config", config))
	w.t.Setenv("AWS_SHARED_CREDENTIALS_FILE", w.file("credentials", credentials))
}

func profile(name string) chain.Identity {
	return chain.Identity{Name: "laptop", Source: chain.SourceProfile, Profile: name}
}

const staticKeys = "aws_access_key_id = " + keyID + "\naws_secret_access_key = " + secret + "\n"

func TestProfileSources(t *testing.T) {
	w := newWorld(t)
	w.profiles(strings.ReplaceAll(`
[profile keys-of-config]
KEYS
[profile role]
role_arn = `+deployARN+`
source_profile = keys
[profile named]
role_arn = `+deployARN+`
role_session_name = someone
source_profile = keys
[profile chained]
role_arn = `+vendorARN+`
external_id = `+external+`
source_profile = role
[profile web]
role_arn = `+irsaARN+`
web_identity_token_file = `+w.token(sandbox.TokenClaims{})+`
[profile from-environment]
role_arn = `+deployARN+`
credential_source = Environment
[profile process]
credential_process = echo '{"Version":1,"AccessKeyId":"`+keyID+`","SecretAccessKey":"`+secret+`"}'
`, "KEYS\n", staticKeys), "[keys]\n"+staticKeys+"[default]\n"+staticKeys)
	role := func(name, session string) string {
		return "arn:aws:sts::111122223333:assumed-role/" + name + "/" + session
	}
	for name, c := range map[string]struct{ arn, provider string }{
		"keys":             {userARN, "SharedConfigCredentials: "},
		"default":          {userARN, "SharedConfigCredentials: "},
		"keys-of-config":   {userARN, "SharedConfigCredentials: "},
		"role":             {role("ci-deploy", "eks-slo-run-1"), "AssumeRoleProvider"},
		"named":            {role("ci-deploy", "someone"), "AssumeRoleProvider"},
		"chained":          {role("vendor", "eks-slo-run-1"), "AssumeRoleProvider"},
		"web":              {role("irsa", "eks-slo-run-1"), "WebIdentityCredentials"},
		"from-environment": {role("ci-deploy", "eks-slo-run-1"), "AssumeRoleProvider"},
		"process":          {userARN, "ProcessProvider"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "from-environment" {
				w.key()
			}
			login := w.login(profile(name))
			wantText(t, login.Facts()[chain.FactProvider], "profile "+name+": "+c.provider)
			wantNoSecret(t, "", login.Facts())
			session, err := login.Assume(t.Context())
			must(t, err)
			principal, err := session.Caller(t.Context())
			must(t, err)
			wantSame(t, principal.ARN, c.arn)
		})
	}
}

// C17: keys in the environment do not beat the named profile, nor does AWS_PROFILE.
func TestC17ProfileBeatsEnvironment(t *testing.T) {
	w := newWorld(t)
	w.state.Change(func(s *sandbox.State) {
		s.Users["AKIAOTHEROTHEROTHER0"] = &sandbox.User{Name: "other", AccountID: account, AccessKeyID: "AKIAOTHEROTHEROTHER0", SecretKey: "other", UserID: "AIDAOTHER"}
	})
	w.profiles("", "[staging]\n"+staticKeys+"[other]\naws_access_key_id = AKIAOTHEROTHEROTHER0\naws_secret_access_key = other\n")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOTHEROTHEROTHER0")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "other")
	t.Setenv("AWS_PROFILE", "other")
	principal, err := w.session(profile("staging")).Caller(t.Context())
	must(t, err)
	wantSame(t, principal.ARN, userARN)
}

// metadata is an instance metadata service that would gladly hand out the node's role, or a container's endpoint that would.
func (w *world) metadata(handler http.HandlerFunc) (asked *atomic.Int64) {
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handler(rw, r)
	}))
	w.t.Cleanup(server.Close)
	w.t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	w.t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
	w.t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL)
	return asked
}

// C08 and its kind: a profile without credentials of its own never falls through to the container's or the instance's.
func TestProfileDoesNotFallThrough(t *testing.T) {
	w := newWorld(t)
	asked := w.metadata(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `{"AccessKeyId":%q,"SecretAccessKey":%q,"Token":"t","Expiration":"2100-01-01T00:00:00Z"}`, keyID, secret)
	})
	w.profiles("[profile bare]\nregion = us-west-2\n[profile half]\naws_access_key_id = "+keyID+"\n[profile role-only]\nrole_arn = "+deployARN+"\n[profile own-source]\nrole_arn = "+deployARN+"\nsource_profile = own-source\n", "")
	w.key()
	for name, reason := range map[string]chain.Reason{
		"bare": chain.ReasonNoCredentials, "half": chain.ReasonProfileInvalid, "role-only": chain.ReasonNoCredentials, "own-source": chain.ReasonProfileInvalid,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.client.Login(t.Context(), profile(name), region, "run-1")
			wantVerdict(t, err, failure(chain.StepCredentials, reason))
		})
	}
	wantSame(t, asked.Load(), int64(0))
	wantSame(t, len(w.state.Calls), 0)
}

func TestProfileInvalid(t *testing.T) {
	w := newWorld(t)
	w.profiles(`
[profile lost-source]
role_arn = `+deployARN+`
source_profile = nobody
[profile mfa]
role_arn = `+deployARN+`
source_profile = keys
mfa_serial = arn:aws:iam::111122223333:mfa/ci
[profile sso]
sso_session = nowhere
[profile typo]
role_arn = `+deployARN+`
credential_source = Enviroment
`, "[keys]\n"+staticKeys)
	for name, detail := range map[string]string{
		"": "names no profile", "nobody": `the profile "nobody": it is in none of ` + w.dir + "/config, " + w.dir + "/credentials",
		"lost-source": "nobody", "mfa": "MFA", "sso": "nowhere", "typo": "credential_source values must be",
	} {
		t.Run("profile "+name, func(t *testing.T) {
			_, err := w.client.Login(t.Context(), profile(name), region, "run-1")
			wantText(t, wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonProfileInvalid)).Detail, detail)
		})
	}
	w.profiles("[profile broken\n", "")
	_, err := w.client.Login(t.Context(), profile("broken"), region, "run-1")
	wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonProfileInvalid))
}

// A profile that names a source which gives nothing says so, and says why.
func TestProfileSourceEmpty(t *testing.T) {
	w := newWorld(t)
	w.profiles(`
[profile instance]
role_arn = `+deployARN+`
credential_source = Ec2InstanceMetadata
[profile environment]
role_arn = `+deployARN+`
credential_source = Environment
[profile process]
credential_process = exit 3
[profile chatty]
credential_process = echo secret=`+secret+`
`, "")
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, refused.Close())
	for name, c := range map[string]struct {
		profile  string
		metadata http.HandlerFunc // nil: nobody listens
		want     chain.Reason
	}{
		"no keys":          {"environment", nil, chain.ReasonNoCredentials},
		"a failed process": {"process", nil, chain.ReasonNoCredentials},
		"what it printed":  {"chatty", nil, chain.ReasonNoCredentials},
		"no metadata":      {"instance", nil, chain.ReasonIMDSUnreachable},
		"no role": {"instance", func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				rw.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
				fmt.Fprint(rw, "token")
				return
			}
			http.NotFound(rw, r)
		}, chain.ReasonInstanceProfileMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
			t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://"+refused.Addr().String())
			if c.metadata != nil {
				w.metadata(c.metadata)
			}
			_, err := w.client.Login(t.Context(), profile(c.profile), region, "run-1")
			wantVerdict(t, err, failure(chain.StepCredentials, c.want))
		})
	}
}

// A profile's own roles are walked by the SDK when the source is opened; their failure is still the step sts's.
func TestProfileRoleRefused(t *testing.T) {
	w := newWorld(t)
	w.profiles("[profile role]\nrole_arn = "+deployARN+"\nsource_profile = keys\n[profile web]\nrole_arn = "+irsaARN+"\nweb_identity_token_file = "+w.token(sandbox.TokenClaims{})+"\n", "[keys]\n"+staticKeys)
	for name, c := range map[string]struct {
		profile string
		change  func(*sandbox.State)
		want    verdict
	}{
		"denied":      {"role", func(s *sandbox.State) { s.Roles[deployARN].Trust = nil }, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"irsa denied": {"web", func(s *sandbox.State) { s.Roles[irsaARN].Trust = nil }, failure(chain.StepSTS, chain.ReasonIRSATrustDenied)},
		"no provider": {"web", func(s *sandbox.State) { s.Providers[issuer].Removed = true }, failure(chain.StepSTS, chain.ReasonOIDCProviderMissing)},
		"throttled":   {"role", func(s *sandbox.State) { s.Throttle["AssumeRole"] = true }, unknown(chain.ReasonSTSThrottled)},
		"off":         {"role", func(s *sandbox.State) { s.Off["sts"] = true }, failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
	} {
		t.Run(name, func(t *testing.T) {
			w.state.Change(func(s *sandbox.State) { populate(s, w.oidc); c.change(s); s.Calls = nil })
			login := w.login(profile(c.profile))
			_, err := login.Assume(t.Context())
			wantVerdict(t, err, c.want)
			if len(w.state.Calls) > 1 {
				t.Errorf("%d attempts", len(w.state.Calls))
			}
			w.state.Change(func(s *sandbox.State) { s.Throttle, s.Off = map[string]bool{}, map[string]bool{} })
		})
	}
}

// The SDK detaches its providers from the context. Whatever hangs ends with the run all the same: goleak watches.
func TestProfileThatHangs(t *testing.T) {
	hungUp := make(chan struct{})
	w := literal(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // until the client hangs up
		close(hungUp)
	})
	w.profiles("[profile role]\nrole_arn = "+deployARN+"\nsource_profile = keys\n[profile process]\ncredential_process = exec sleep 60\n", "[keys]\n"+staticKeys)
	for name, want := range map[string]verdict{
		"role": failure(chain.StepSTS, chain.ReasonSTSUnreachable), "process": unknown(chain.ReasonReadFailed),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			login, err := w.client.Login(ctx, profile(name), region, "run-1")
			if err == nil {
				_, err = login.Assume(ctx)
			}
			wantVerdict(t, err, want)
		})
	}
	select {
	case <-hungUp:
	case <-time.After(5 * time.Second):
		t.Error("the SDK still waits for STS, seconds after the run")
	}
}

// The region is the target's also where the SDK itself asks STS; AWS_REGION names one that is disabled.
func TestProfileRegion(t *testing.T) {
	w := newInternetWorld(t)
	w.state.Change(func(s *sandbox.State) { s.Disabled["us-west-2"] = true })
	t.Cleanup(func() { w.state.Change(func(s *sandbox.State) { s.Disabled = map[string]bool{} }) })
	w.profiles("[profile web]\nregion = us-west-2\nrole_arn = "+irsaARN+"\nweb_identity_token_file = "+w.token(sandbox.TokenClaims{})+"\n", "")
	must(t, w.signIn(profile("web")))
}

// Without AWS_CONFIG_FILE the files are those of the home directory.
func TestProfileFilesOfHome(t *testing.T) {
	w := newWorld(t)
	t.Setenv("AWS_CONFIG_FILE", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "")
	t.Setenv("HOME", w.dir)
	must(t, os.Mkdir(w.dir+"/.aws", 0o700))
	_, err := w.client.Login(t.Context(), profile("nobody"), region, "run-1")
	wantText(t, wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonProfileInvalid)).Detail, w.dir+"/.aws/config, "+w.dir+"/.aws/credentials")
}
