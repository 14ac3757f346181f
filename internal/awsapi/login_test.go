// Each source opens its own place and nothing else, and says what is missing there.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"math"
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
		"ELB":     {func(o *Options) { o.ELBReadsPerSecond = math.NaN() }, "awsapi: Options.ELBReadsPerSecond is NaN, must be above 0"},
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
			chain.FactOIDCSubject: "system:serviceaccount:shop:deployer", chain.FactOIDCAudience: "sts.amazonaws.com", chain.FactWebIdentityExpires: ends.UTC().Format(time.RFC3339),
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
	good, missing := w.token(sandbox.TokenClaims{}), w.dir+"/none"
	irsa := func(role, file string) chain.Identity {
		return chain.Identity{Name: "ci", Source: chain.SourceIRSA, RoleARN: role, TokenFile: file}
	}
	hop := func(file string) chain.Identity {
		identity := irsa(irsaARN, good)
		identity.Hops = []chain.Hop{{RoleARN: vendorARN, ExternalIDFile: file}}
		return identity
	}
	for name, c := range map[string]struct {
		identity chain.Identity
		reason   chain.Reason
		detail   string
	}{
		"irsa without a role":         {irsa("", good), chain.ReasonNoCredentials, "AWS_ROLE_ARN is not set"},
		"irsa without a file":         {irsa(irsaARN, ""), chain.ReasonWebIdentityTokenMissing, "AWS_WEB_IDENTITY_TOKEN_FILE is not set"},
		"no such token":               {irsa(irsaARN, missing), chain.ReasonWebIdentityTokenMissing, missing + ": no such file or directory"},
		"a directory":                 {irsa(irsaARN, w.dir), chain.ReasonWebIdentityTokenUnreadable, "not a regular file"},
		"a device that never ends":    {irsa(irsaARN, "/dev/zero"), chain.ReasonWebIdentityTokenUnreadable, "not a regular file"},
		"an empty token":              {irsa(irsaARN, w.file("empty", " \n")), chain.ReasonWebIdentityTokenMalformed, "it is empty"},
		"no JWT":                      {irsa(irsaARN, w.file("nojwt", "eyJhbGciOiJub25lIn0")), chain.ReasonWebIdentityTokenMalformed, "it is not a JWT"},
		"too large":                   {irsa(irsaARN, w.file("large", strings.Repeat("x", smallFile+1))), chain.ReasonWebIdentityTokenMalformed, "larger than 65536 bytes"},
		"environment, nothing":        {chain.Identity{Source: chain.SourceEnvironment}, chain.ReasonNoCredentials, "not set: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"},
		"default, nothing":            {chain.Identity{Source: chain.SourceDefault}, chain.ReasonNoCredentials, "no EC2 IMDS role found"},
		"no external id file":         {hop(missing), chain.ReasonNoCredentials, "reading the external id from " + missing + ": no such file or directory"},
		"an empty external id":        {hop(w.file("blank", "\n")), chain.ReasonNoCredentials, "the file is empty"},
		"an external id without end":  {hop("/dev/zero"), chain.ReasonNoCredentials, "not a regular file"},
		"an external id out of bound": {hop(w.file("long", strings.Repeat("x", smallFile+1))), chain.ReasonNoCredentials, "larger than 65536 bytes"},
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

// C10: STS takes no signature for a web identity token, so its clock alone judges the token's end, whatever the local one says. Only without STS's word the local clock has to do.
func TestC10TokenPastItsEnd(t *testing.T) {
	past := sandbox.TokenClaims{IssuedAt: time.Now().Add(-2 * time.Hour), Expires: time.Now().Add(-90 * time.Minute)}
	for name, c := range map[string]struct {
		claims sandbox.TokenClaims
		now    time.Duration // of the local clock
		change func(*sandbox.State)
		want   verdict // zero: success
		detail []string
	}{
		"STS agrees":          {past, 0, nil, failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired), []string{"400 ExpiredTokenException: Token expired", "STS' own clock decided"}},
		"STS, not we":         {past, -2 * time.Hour, nil, failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired), []string{"STS' own clock decided; the local one is 2h0m", "behind it"}},
		"we, not STS":         {sandbox.TokenClaims{}, 3 * time.Hour, nil, verdict{}, nil},
		"we, and STS is off":  {past, 0, func(s *sandbox.State) { s.Off["sts"] = true }, failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired), []string{"1h30m", "no server confirmed that clock: assuming " + irsaARN}},
		"not yet, STS is off": {sandbox.TokenClaims{}, 0, func(s *sandbox.State) { s.Off["sts"] = true }, failure(chain.StepSTS, chain.ReasonSTSUnreachable), nil},
		"we, and STS is busy": {past, 0, func(s *sandbox.State) { s.Throttle["AssumeRoleWithWebIdentity"] = true }, unknown(chain.ReasonSTSThrottled), nil},
		"STS says else, and its Date agrees with us": {past, 0, func(s *sandbox.State) { s.Providers[issuer].Removed = true }, failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired),
			[]string{"which STS's Date header confirms", "No OpenIDConnect provider found"}},
		"STS says else, and its Date does not": {sandbox.TokenClaims{}, 30 * time.Hour, func(s *sandbox.State) { s.Providers[issuer].Removed = true }, failure(chain.StepSTS, chain.ReasonOIDCProviderMissing), nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.client = w.newClient(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(c.now) } })
			identity := w.irsa()
			identity.TokenFile = w.token(c.claims)
			if c.change != nil {
				w.state.Change(c.change)
			}
			err := w.signIn(identity)
			wantSame(t, w.seen.requests[0][:29], "sts AssumeRoleWithWebIdentity")
			if c.want == (verdict{}) {
				must(t, err)
				return
			}
			e := wantVerdict(t, err, c.want)
			wantText(t, e.Detail, c.detail...)
			if e.Reason == chain.ReasonIdentityTokenExpired {
				wantSame(t, []string{e.Facts[chain.FactTokenFile], e.Facts[chain.FactWebIdentityExpires], e.Facts[chain.FactTokenExpires]}, []string{identity.TokenFile, past.Expires.UTC().Format(time.RFC3339), ""})
			}
		})
	}
}

// Every source is opened; one that nobody knows is unknown: nothing is pretended.
func TestSources(t *testing.T) {
	for _, source := range chain.Sources {
		if sources[source] == nil {
			t.Errorf("the source %s is not opened", source)
		}
	}
	w := newWorld(t)
	_, err := w.client.Login(t.Context(), chain.Identity{Name: "ci", Source: "vault"}, region, "run-1")
	wantVerdict(t, err, unknown(chain.ReasonNotMeasurable))
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
