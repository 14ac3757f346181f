// Each source opens its own place and nothing else, and says what is missing there.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestNewRefusesOptions(t *testing.T) {
	isolate(t)
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"request": {func(o *Options) { o.ObserveRequest = nil }, "awsapi: Options.ObserveRequest is not set"},
		"skew":    {func(o *Options) { o.ObserveSkew = nil }, "awsapi: Options.ObserveSkew is not set"},
		"wait":    {func(o *Options) { o.ObserveWait = nil }, "awsapi: Options.ObserveWait is not set"},
		"clock":   {func(o *Options) { o.Now = nil }, "awsapi: Options.Now is not set"},
		"budget":  {func(o *Options) { o.EKSReadsPerSecond = 0 }, "awsapi: Options.EKSReadsPerSecond is 0, must be above 0"},
	} {
		t.Run(name, func(t *testing.T) {
			options := DefaultOptions()
			c.change(&options)
			_, err := New(t.Context(), options)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestNewReadsTheSDKConfiguration(t *testing.T) {
	for name, variable := range map[string][2]string{
		"a bundle that is none":         {"AWS_CA_BUNDLE", "login_test.go"},
		"a profile that does not exist": {"AWS_PROFILE", "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			t.Setenv(variable[0], variable[1])
			_, err := New(t.Context(), DefaultOptions())
			if err == nil || !strings.HasPrefix(err.Error(), "awsapi: reading the AWS SDK's configuration: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// C07: no region anywhere, so the STS host name is malformed. AWS_REGION is set in every test of the package.
func TestC07RegionUnset(t *testing.T) {
	w := newWorld(t)
	for _, region := range []string{"", "eu", "eu-west", "eu-west-1.", "eu..1", "EU-WEST-1", "eu-west-1/", "aws-global"} {
		_, err := w.client.Login(t.Context(), w.irsa(), region, "run-1")
		e := wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonRegionUnset))
		wantText(t, e.Detail, "AWS_REGION is not used")
	}
	wantSame(t, len(w.seen.requests), 0)
}

func TestLoginFacts(t *testing.T) {
	w := newWorld(t)
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	path := w.token(sandbox.TokenClaims{Expires: ends})
	t.Setenv("AWS_ROLE_ARN", irsaARN)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", path)
	w.key()
	for name, c := range map[string]struct {
		identity chain.Identity
		want     chain.Facts
	}{
		"irsa": {chain.Identity{Source: chain.SourceIRSA}, chain.Facts{
			chain.FactProvider: "irsa", chain.FactRoleARN: irsaARN, chain.FactRoleName: "irsa", chain.FactTokenFile: path, chain.FactOIDCIssuer: issuer,
			chain.FactOIDCSubject: "system:serviceaccount:shop:deployer", chain.FactOIDCAudience: "sts.amazonaws.com", chain.FactTokenExpires: ends.UTC().Format(time.RFC3339),
		}},
		"environment": {chain.Identity{Source: chain.SourceEnvironment}, chain.Facts{chain.FactProvider: "environment"}},
		"default":     {chain.Identity{Source: chain.SourceDefault}, chain.Facts{chain.FactProvider: "default: EnvConfigCredentials"}},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, w.login(c.identity).Facts(), c.want) })
	}
	wantSame(t, len(w.state.Calls), 0)
}

func TestLoginRefusals(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	good, missing := w.token(sandbox.TokenClaims{}), w.dir+"/none"
	irsa := func(role, file string) chain.Identity {
		return chain.Identity{Name: "ci", Source: chain.SourceIRSA, RoleARN: role, TokenFile: file}
	}
	hop := func(file string) chain.Identity {
		identity := irsa(irsaARN, good)
		identity.Hops = []chain.Hop{{RoleARN: vendorARN, ExternalIDFile: file}}
		return identity
	}
	minted := func(name string, expires time.Time) string {
		return w.file(name, w.oidc.Mint(sandbox.TokenClaims{Namespace: "shop", ServiceAccount: "deployer", IssuedAt: expires.Add(-time.Hour), Expires: expires}))
	}
	for name, c := range map[string]struct {
		identity chain.Identity
		reason   chain.Reason
		detail   string
	}{
		"irsa without a role":         {irsa("", good), chain.ReasonNoCredentials, "AWS_ROLE_ARN is not set"},
		"irsa without a file":         {irsa(irsaARN, ""), chain.ReasonWebIdentityTokenMissing, "AWS_WEB_IDENTITY_TOKEN_FILE is not set"},
		"no such token":               {irsa(irsaARN, missing), chain.ReasonWebIdentityTokenMissing, missing + ": there is no such file"},
		"a directory":                 {irsa(irsaARN, w.dir), chain.ReasonWebIdentityTokenUnreadable, "it is not a regular file"},
		"a device that never ends":    {irsa(irsaARN, "/dev/zero"), chain.ReasonWebIdentityTokenUnreadable, "it is not a regular file"},
		"an empty token":              {irsa(irsaARN, w.file("empty", " \n")), chain.ReasonWebIdentityTokenMalformed, "it is empty"},
		"no JWT":                      {irsa(irsaARN, w.file("nojwt", "eyJhbGciOiJub25lIn0")), chain.ReasonWebIdentityTokenMalformed, "it is not a JWT"},
		"too large":                   {irsa(irsaARN, w.file("large", strings.Repeat("x", smallFile+1))), chain.ReasonWebIdentityTokenMalformed, "more than 64 KiB"},
		"C10: expired on disk":        {irsa(irsaARN, minted("old", now.Add(-90*time.Minute))), chain.ReasonIdentityTokenExpired, "1h30m"},
		"environment, nothing":        {chain.Identity{Source: chain.SourceEnvironment}, chain.ReasonNoCredentials, "not set: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"},
		"default, nothing":            {chain.Identity{Source: chain.SourceDefault}, chain.ReasonNoCredentials, "no EC2 IMDS role found"},
		"no external id file":         {hop(missing), chain.ReasonNoCredentials, "reading the external id from " + missing + ": there is no such file"},
		"an empty external id":        {hop(w.file("blank", "\n")), chain.ReasonNoCredentials, "the file is empty"},
		"an external id without end":  {hop("/dev/zero"), chain.ReasonNoCredentials, "it is not a regular file"},
		"an external id out of bound": {hop(w.file("long", strings.Repeat("x", smallFile+1))), chain.ReasonNoCredentials, "more than 64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.client.Login(t.Context(), c.identity, region, "run-1")
			wantText(t, wantVerdict(t, err, failure(chain.StepCredentials, c.reason)).Detail, c.detail)
		})
	}
	wantSame(t, len(w.state.Calls), 0)
}

// A loop of links is unreadable to root as well.
func TestUnreadableToken(t *testing.T) {
	w := newWorld(t)
	loop := w.dir + "/loop"
	must(t, os.Symlink(loop, loop))
	_, err := w.client.Login(t.Context(), chain.Identity{Source: chain.SourceIRSA, RoleARN: irsaARN, TokenFile: loop}, region, "run-1")
	wantText(t, wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonWebIdentityTokenUnreadable)).Detail, "too many levels of symbolic links")
}

// A token within five minutes after its end is left to STS, whose clock decides.
func TestTokenNearItsEnd(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	identity.TokenFile = w.token(sandbox.TokenClaims{IssuedAt: time.Now().Add(-time.Hour), Expires: time.Now().Add(-time.Minute)})
	e := wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired))
	wantText(t, e.Detail, "400 ExpiredTokenException: Token expired")
	w.state.ShiftClock(-2 * time.Minute)
	must(t, w.signIn(identity))
}

// Sources that this build does not open are unknown: nothing is pretended.
func TestSourceNotBuilt(t *testing.T) {
	w := newWorld(t)
	for _, source := range []chain.Source{chain.SourcePodIdentity, chain.SourceInstanceProfile, ""} {
		_, err := w.client.Login(t.Context(), chain.Identity{Name: "ci", Source: source}, region, "run-1")
		wantVerdict(t, err, unknown(chain.ReasonNotMeasurable))
	}
}

func TestSessionName(t *testing.T) {
	for run, want := range map[string]string{
		"t0abc-01020304":        "eks-slo-t0abc-01020304",
		"a/b c\nd@e":            "eks-slo-a-b-c-d@e",
		strings.Repeat("x", 80): "eks-slo-" + strings.Repeat("x", 56),
		"é":                     "eks-slo--",
	} {
		wantSame(t, (&Login{runID: run}).sessionName(), want)
	}
}

// The default chain is the SDK's, with its order: keys before a web identity.
func TestDefaultSource(t *testing.T) {
	w := newWorld(t)
	t.Setenv("AWS_ROLE_ARN", irsaARN)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", w.token(sandbox.TokenClaims{}))
	session := w.session(chain.Identity{Source: chain.SourceDefault})
	principal, err := session.Caller(t.Context())
	must(t, err)
	wantSame(t, principal.ARN, "arn:aws:sts::111122223333:assumed-role/irsa/eks-slo-run-1")
	w.key()
	principal, err = w.session(chain.Identity{Source: chain.SourceDefault}).Caller(t.Context())
	must(t, err)
	wantSame(t, principal.ARN, userARN)
}

// Our own cancellation is nobody's failure, wherever it strikes.
func TestCancelled(t *testing.T) {
	w := newWorld(t)
	t.Setenv("AWS_ROLE_ARN", irsaARN)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", w.token(sandbox.TokenClaims{}))
	login, session := w.login(w.irsa()), w.session(w.irsa())
	token, err := session.Token(t.Context(), "prod")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"login": func() error {
			_, err := w.client.Login(ctx, chain.Identity{Source: chain.SourceDefault}, region, "r")
			return err
		},
		"assume": func() error { _, err := login.Assume(ctx); return err },
		"caller": func() error { _, err := session.Caller(ctx); return err },
		"replay": func() error { _, err := w.client.Replay(ctx, token, region); return err },
		"eks":    func() error { _, err := w.client.Cluster(ctx, w.target("prod")); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := call(); !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
				t.Errorf("got %v, want the context's own error", err)
			}
		})
	}
}
