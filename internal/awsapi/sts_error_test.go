// What STS answers, in its own words, and the reason that it is.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func internetTLS() *tls.Config {
	return &tls.Config{RootCAs: internet.ca.Pool(), MinVersion: tls.VersionTLS12}
}

// The literal shapes. Texts are matched only where STS shares one code among several causes.
func TestJudgeSTS(t *testing.T) {
	ahead, behind := sighting{skew: maxAhead + time.Second, measured: true}, sighting{skew: -maxBehind - time.Second, measured: true}
	agrees := sighting{skew: maxAhead, measured: true}
	tagged := sighting{tagged: true}
	const (
		mismatch = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
		late     = "Signature expired: 20261130T114300Z is now earlier than 20261130T114500Z (20261130T120000Z - 15 min.)"
		early    = "Signature not yet current: 20261130T120700Z is still later than 20261130T120500Z (20261130T120000Z + 5 min.)"
		scope    = "Credential should be scoped to a valid region, not 'eu-west-1'. "
	)
	for name, c := range map[string]struct {
		operation, code, message string
		status                   int
		seen                     sighting
		want                     verdict
	}{
		"C01, C02: trust policy":      {opWebIdentity, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", 403, agrees, failure(chain.StepSTS, chain.ReasonIRSATrustDenied)},
		"C04: no provider":            {opWebIdentity, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://oidc.eks.eu-west-1.amazonaws.com/id/1", 400, agrees, failure(chain.StepSTS, chain.ReasonOIDCProviderMissing)},
		"C05: thumbprint":             {opWebIdentity, "InvalidIdentityToken", "OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint", 400, agrees, failure(chain.StepSTS, chain.ReasonOIDCThumbprintMismatch)},
		"audience":                    {opWebIdentity, "InvalidIdentityToken", "Incorrect token audience", 400, agrees, failure(chain.StepSTS, chain.ReasonIRSAAudienceMismatch)},
		"no JWT for STS":              {opWebIdentity, "InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)", 400, agrees, failure(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed)},
		"issuer out of STS's reach":   {opWebIdentity, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements", 400, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"C10: token expired":          {opWebIdentity, "ExpiredTokenException", "Token expired: current date/time 1796040000 must be before the expiration date/time 1796036400", 400, agrees, failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired)},
		"issuer silent":               {opWebIdentity, "IDPCommunicationError", "", 400, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"C13: TagSession":             {opAssumeRole, "AccessDenied", "User: arn:aws:sts::111122223333:assumed-role/base/eks is not authorized to perform: sts:TagSession on resource: arn:aws:iam::444455556666:role/next", 403, agrees, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"denied":                      {opAssumeRole, "AccessDenied", "User: x is not authorized to perform: sts:AssumeRole on resource: y", 403, agrees, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"denied to say who it is":     {opCaller, "AccessDenied", "with an explicit deny in a VPC endpoint policy", 403, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"C20: scope":                  {opAssumeRole, "SignatureDoesNotMatch", scope, 403, agrees, failure(chain.StepSTS, chain.ReasonSTSRegionScopeMismatch)},
		"C22: late, measured":         {opAssumeRole, "SignatureDoesNotMatch", late, 403, behind, failure(chain.StepSTS, chain.ReasonClockBehind)},
		"C22: late, by the text":      {opAssumeRole, "SignatureDoesNotMatch", late, 403, sighting{}, failure(chain.StepSTS, chain.ReasonClockBehind)},
		"C23: early, measured":        {opAssumeRole, "SignatureDoesNotMatch", early, 403, ahead, failure(chain.StepSTS, chain.ReasonClockAhead)},
		"C23: early, by the text":     {opAssumeRole, "SignatureDoesNotMatch", early, 403, sighting{}, failure(chain.StepSTS, chain.ReasonClockAhead)},
		"the clock beats the key":     {opAssumeRole, "SignatureDoesNotMatch", mismatch, 403, ahead, failure(chain.StepSTS, chain.ReasonClockAhead)},
		"no clock beats a denial":     {opAssumeRole, "AccessDenied", "", 403, ahead, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"wrong secret":                {opAssumeRole, "SignatureDoesNotMatch", mismatch, 403, agrees, failure(chain.StepSTS, chain.ReasonSignatureInvalid)},
		"fifteen minutes are allowed": {opAssumeRole, "SignatureDoesNotMatch", mismatch, 403, sighting{skew: -maxBehind, measured: true}, failure(chain.StepSTS, chain.ReasonSignatureInvalid)},
		"an old token":                {opReplay, "SignatureDoesNotMatch", late, 403, agrees, failure(chain.StepToken, chain.ReasonTokenExpired)},
		"an old token, no clock":      {opReplay, "SignatureDoesNotMatch", late, 403, sighting{}, failure(chain.StepSTS, chain.ReasonClockBehind)},
		"session ended":               {opAssumeRole, "ExpiredToken", "The security token included in the request is expired", 403, agrees, failure(chain.StepSTS, chain.ReasonCredentialsExpired)},
		"session ended, replayed":     {opReplay, "ExpiredToken", "The security token included in the request is expired", 403, agrees, failure(chain.StepSTS, chain.ReasonCredentialsExpired)},
		"dead keys":                   {opCaller, "InvalidClientTokenId", "The security token included in the request is invalid.", 403, agrees, failure(chain.StepSTS, chain.ReasonCredentialsInvalid)},
		"region off":                  {opAssumeRole, "RegionDisabledException", "STS is not activated in this region for account:111122223333.", 403, agrees, failure(chain.StepSTS, chain.ReasonSTSRegionDisabled)},
		"another service's host":      {opAssumeRole, "SignatureDoesNotMatch", "Credential should be scoped to correct service: 'sqs'. ", 403, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"a scope of another day":      {opAssumeRole, "SignatureDoesNotMatch", "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20230101' != '20230102', from '20230102T000000Z'.", 403, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"denied by an endpoint":       {opWebIdentity, "AccessDenied", "User: x is not authorized to perform: sts:AssumeRoleWithWebIdentity on resource: y with an explicit deny in a VPC endpoint policy", 403, agrees, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"denied by an RCP":            {opWebIdentity, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity with an explicit deny in a resource control policy", 403, agrees, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"let in by no endpoint":       {opWebIdentity, "AccessDenied", "because no VPC endpoint policy allows the sts:AssumeRoleWithWebIdentity action", 403, agrees, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
		"let in by no trust policy":   {opWebIdentity, "AccessDenied", "because no role trust policy allows the sts:AssumeRoleWithWebIdentity action", 403, agrees, failure(chain.StepSTS, chain.ReasonIRSATrustDenied)},
		"policy too large":            {opAssumeRole, "PackedPolicyTooLarge", "", 400, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"AWS is down":                 {opAssumeRole, "ServiceUnavailable", "", 503, agrees, failure(chain.StepSTS, chain.ReasonSTSError)},
		"AWS is down, wordless":       {opAssumeRole, "", "", 503, tagged, failure(chain.StepSTS, chain.ReasonSTSError)},
		"a captive portal":            {opAssumeRole, "", "", 200, agrees, failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"silence":                     {opAssumeRole, "", "", 0, sighting{}, failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
	} {
		t.Run(name, func(t *testing.T) {
			c.seen.tagged = c.seen.tagged || c.code != ""
			got := judgeSTS(c.operation, answer{sighting: c.seen, code: c.code, message: c.message, status: c.status})
			wantSame(t, verdict{"failure", got.step.String(), string(got.reason)}, c.want)
		})
	}
}

// xmlError is STS's error, as the SDK reads it.
func xmlError(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		w.Header().Set("X-Amzn-Requestid", "the-request")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>the-request</RequestId></ErrorResponse>`, code, message)
	}
}

// Where STS names the policy, or the caller's kind, the detail adds nothing to it.
func TestDenialThatSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		operation, message string
		silent             bool
	}{
		"bare":                  {opAssumeRole, "User: x is not authorized to perform: sts:AssumeRole on resource: y", false},
		"an SCP":                {opAssumeRole, "User: x is not authorized to perform: sts:AssumeRole on resource: y with an explicit deny in a service control policy", true},
		"no policy":             {opAssumeRole, "User: x is not authorized to perform: sts:AssumeRole on resource: y because no identity-based policy allows the sts:AssumeRole action", true},
		"root":                  {opAssumeRole, "Roles may not be assumed by root accounts.", true},
		"bare, of a token":      {opWebIdentity, "Not authorized to perform sts:AssumeRoleWithWebIdentity", false},
		"an endpoint's, too":    {opWebIdentity, "with an explicit deny in a VPC endpoint policy", true},
		"the trust policy's":    {opWebIdentity, "with an explicit deny in the role trust policy", true},
		"another service's key": {opCaller, "with an explicit deny in a VPC endpoint policy", true},
	} {
		t.Run(name, func(t *testing.T) {
			wantSame(t, judgeDenial(c.operation, c.message).why == "", c.silent)
		})
	}
}

// STS repeats a parameter that it cannot accept; what was sent as a secret shows nowhere, by its value nor by its place.
func TestEchoedSecrets(t *testing.T) {
	for name, message := range map[string]string{
		"by its place": "1 validation error detected: Value 'XMode Social' at 'externalId' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@:\\/-]*",
		"by its value": "the external id XMode Social is not the expected one",
		"cut by STS":   "1 validation error detected: Value 'XMode So' at 'externalId' failed to satisfy constraint: x",
	} {
		t.Run(name, func(t *testing.T) {
			w := literal(t, xmlError(400, "ValidationError", message))
			identity := w.environment(vendorARN)
			identity.Hops[0].ExternalIDFile = w.file("external-id", "XMode Social\n")
			e := wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonSTSError))
			wantText(t, e.Facts[chain.FactErrorMessage], "[redacted]")
			if strings.Contains(e.Detail+e.Facts[chain.FactErrorMessage], "XMode") {
				t.Errorf("the external id shows: %v\n%s", e.Facts, e.Detail)
			}
		})
	}
	call := stsCall{secrets: []chain.Secret{chain.NewSecret(""), chain.NewSecret("the.web.token")}}
	wantSame(t, call.withoutSecrets("Value 'x' at 'webIdentityToken' failed, the.web.token"), "Value '[redacted]' at 'webIdentityToken' failed, [redacted]")
	wantSame(t, call.withoutSecrets("Value 'x' at 'durationSeconds' failed"), "Value 'x' at 'durationSeconds' failed")
}

// C14: the detail keeps STS's words, names the hop, and picks no cause.
func TestC14DetailAndFacts(t *testing.T) {
	w := literal(t, xmlError(403, "AccessDenied", "User: arn:aws:iam::111122223333:user/ci (AKIAUSERUSERUSERUSER) is not authorized to perform: sts:TagSession on resource: "+vendorARN))
	identity := w.environment(vendorARN)
	identity.Hops[0].ExternalIDFile = w.file("external-id", external)
	e := wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonAssumeRoleDenied))
	wantText(t, e.Detail, "assuming "+vendorARN+" (hop 1 of 1) at 127.0.0.1:", "403 AccessDenied: User: ", "sts:TagSession", "STS does not say which condition failed")
	for fact, want := range map[chain.Fact]string{
		chain.FactHop: "1 of 1", chain.FactRoleARN: vendorARN, chain.FactRoleName: "vendor", chain.FactErrorCode: "AccessDenied", chain.FactRequestID: "the-request",
		chain.FactHTTPStatus: "403", chain.FactExternalID: "sent, from " + w.dir + "/external-id", chain.FactRegion: region, chain.FactClockSkew: e.Facts[chain.FactClockSkew],
	} {
		wantSame(t, e.Facts[fact], want)
	}
	wantText(t, e.Facts[chain.FactErrorMessage], "sts:TagSession", "[redacted]")
}

// Every failure of the sandbox's STS, end to end, with exactly one attempt.
func TestSTSEndToEnd(t *testing.T) {
	const asia = "ASIA" + "OLDOLDOLDOLDOLDO"
	for name, c := range map[string]struct {
		change func(*world)
		source chain.Source
		want   verdict
		detail string
	}{
		"C01: another subject": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Roles[irsaARN].Trust[0].Subject = "system:serviceaccount:shop:*" })
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonIRSATrustDenied), "which condition of the trust policy"},
		"C04: no provider": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Providers[issuer].Removed = true })
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonOIDCProviderMissing), issuer},
		"C05: thumbprint": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Providers[issuer].Stale = true })
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonOIDCThumbprintMismatch), "not of STS"},
		"audience": {func(w *world) {
			w.token(sandbox.TokenClaims{Audience: []string{"vault"}})
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonIRSAAudienceMismatch), "Incorrect token audience"},
		"no audience": {func(w *world) {
			w.token(sandbox.TokenClaims{Audience: []string{}})
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonIRSAAudienceMismatch), "has no audience"},
		"throttled": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Throttle["AssumeRoleWithWebIdentity"] = true })
		}, chain.SourceIRSA, unknown(chain.ReasonSTSThrottled), "400 Throttling: Rate exceeded"},
		"fails": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Failing["AssumeRoleWithWebIdentity"] = true })
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonSTSError), "500 InternalFailure"},
		"off": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Off["sts"] = true })
		}, chain.SourceIRSA, failure(chain.StepSTS, chain.ReasonSTSUnreachable), "no answer, while "},
		"C22: the local clock is behind": {func(w *world) { w.state.ShiftClock(17 * time.Minute) }, chain.SourceEnvironment, failure(chain.StepSTS, chain.ReasonClockBehind), "17m0s behind"},
		"C23: the local clock is ahead":  {func(w *world) { w.state.ShiftClock(-7 * time.Minute) }, chain.SourceEnvironment, failure(chain.StepSTS, chain.ReasonClockAhead), "7m0s ahead"},
		"a deleted key": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { delete(s.Users, keyID) })
		}, chain.SourceEnvironment, failure(chain.StepSTS, chain.ReasonCredentialsInvalid), "403 InvalidClientTokenId"},
		"a wrong secret": {func(w *world) { w.t.Setenv("AWS_SECRET_ACCESS_KEY", "not it") }, chain.SourceEnvironment, failure(chain.StepSTS, chain.ReasonSignatureInvalid), "does not match"},
		"a session that ended": {func(w *world) {
			w.state.Change(func(s *sandbox.State) {
				s.Sessions[asia] = &sandbox.Session{AccessKeyID: asia, SecretKey: secret, SessionToken: "token", ARN: userARN, Expires: time.Now().Add(-time.Hour)}
			})
			w.t.Setenv("AWS_ACCESS_KEY_ID", asia)
			w.t.Setenv("AWS_SESSION_TOKEN", "token")
		}, chain.SourceEnvironment, failure(chain.StepSTS, chain.ReasonCredentialsExpired), "403 ExpiredToken"},
		"a role that does not trust": {func(w *world) {
			w.state.Change(func(s *sandbox.State) { s.Roles[deployARN].Trust = nil })
		}, chain.SourceEnvironment, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied), "hop 1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			identity := w.environment(deployARN)
			if c.source == chain.SourceIRSA {
				identity = w.irsa()
			}
			c.change(w)
			e := wantVerdict(t, w.signIn(identity), c.want)
			wantText(t, e.Detail, c.detail)
			asked := slices.DeleteFunc(slices.Clone(w.state.Calls), func(call sandbox.Call) bool { return call.Operation == "GetCallerIdentity" }) // the second look of refine
			if len(asked) > 1 {
				t.Errorf("%d attempts: %+v", len(asked), asked)
			}
		})
	}
}

// The region is disabled where the host names it, so this goes through the proxy under the canonical name.
func TestRegionDisabled(t *testing.T) {
	w := newInternetWorld(t)
	w.state.Change(func(s *sandbox.State) { s.Disabled[region] = true })
	t.Cleanup(func() { w.state.Change(func(s *sandbox.State) { s.Disabled = map[string]bool{} }) })
	e := wantVerdict(t, w.signIn(w.irsa()), failure(chain.StepSTS, chain.ReasonSTSRegionDisabled))
	wantSame(t, e.Facts[chain.FactSTSHost], "sts.eu-west-1.amazonaws.com")
}

// C20: signed for one region, sent to the global STS.
func TestC20ScopeMismatch(t *testing.T) {
	w := newInternetWorld(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", "https://sts.amazonaws.com")
	w.client = w.newClient(func(*Options) {})
	e := wantVerdict(t, w.signIn(w.environment()), failure(chain.StepSTS, chain.ReasonSTSRegionScopeMismatch))
	wantSame(t, e.Facts[chain.FactSTSHost], "sts.amazonaws.com")
}

// C19, and its kind: what keeps a call from STS is told by how far it got.
func TestSTSUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	for name, c := range map[string]struct {
		endpoint string
		mode     sandbox.ProxyMode
		detail   []string
	}{
		"refused":          {"https://127.0.0.1:1", sandbox.ProxyOpen, []string{"at 127.0.0.1:1: no answer, while connecting to 127.0.0.1:1: ", "connection refused"}},
		"no such host":     {"https://sts.invalid", sandbox.ProxyOpen, []string{"at sts.invalid: no answer, while "}},
		"another's server": {"https://" + internet.sts.Addr(), sandbox.ProxyOpen, []string{"in the TLS handshake", "certificate"}},
		"no TLS":           {"https://" + silent.Addr().String(), sandbox.ProxyOpen, []string{"no answer in time, while in the TLS handshake"}},
		"the proxy denies": {"", sandbox.ProxyDeny, []string{"at sts.eu-west-1.amazonaws.com: no answer, while connected to ", "Forbidden"}},
		"the proxy hangs":  {"", sandbox.ProxyHangs, []string{"at sts.eu-west-1.amazonaws.com: no answer in time, while connected to "}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			t.Setenv("AWS_ENDPOINT_URL_STS", c.endpoint)
			w.client = w.newClient(func(*Options) {})
			internet.proxy.SetMode(c.mode)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := w.login(w.environment(deployARN)).Assume(ctx)
			wantText(t, wantVerdict(t, err, failure(chain.StepSTS, chain.ReasonSTSUnreachable)).Detail, c.detail...)
		})
	}
	internet.proxy.SetMode(sandbox.ProxyOpen)
}

// The time was over before the call: the calls before it were STS's too.
func TestOutOfTime(t *testing.T) {
	w := newWorld(t)
	session := w.session(w.irsa())
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := session.Caller(ctx)
	wantVerdict(t, err, failure(chain.StepSTS, chain.ReasonSTSUnreachable))
}

// An STS that answers with nothing in it granted nothing.
func TestEmptyGrant(t *testing.T) {
	w := literal(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult></AssumeRoleResult></AssumeRoleResponse>`))
	})
	wantVerdict(t, w.signIn(w.environment(deployARN)), failure(chain.StepSTS, chain.ReasonSTSError))
}

// What the SDK could not even send is the prober's own trouble.
func TestNotSent(t *testing.T) {
	err := (&Client{}).stsError(t.Context(), stsCall{operation: opCaller, doing: "asking"}, answer{err: errors.New("no resolver")})
	wantVerdict(t, err, unknown(chain.ReasonReadFailed))
}

func FuzzJudgeSTS(f *testing.F) {
	f.Add(opAssumeRole, "AccessDenied", "denied", 403, int64(0), false)
	f.Add(opWebIdentity, "InvalidIdentityToken", "Incorrect token audience", 400, int64(1), true)
	f.Add(opReplay, "SignatureDoesNotMatch", "Signature expired: x", 403, int64(-1<<62), true)
	f.Fuzz(func(t *testing.T, operation, code, message string, status int, skew int64, measured bool) {
		a := answer{sighting: sighting{phase: "asking", skew: time.Duration(skew), measured: measured, tagged: true}, code: code, message: message, status: status, err: errors.New(message)}
		found := judgeSTS(operation, a)
		if _, ok := chain.LookupReason(found.step, found.reason); !ok {
			t.Errorf("%s/%s is no reason", found.step, found.reason)
		}
		if found.step != chain.StepSTS && found.step != chain.StepCredentials && found.step != chain.StepToken {
			t.Errorf("blamed %s", found.step)
		}
		var e *chain.Error
		if err := (&Client{}).stsError(t.Context(), stsCall{operation: operation, doing: "asking"}, a); !errors.As(err, &e) || e.Reason == "" || (e.Outcome == chain.OutcomeUnknown) != a.throttled() {
			t.Errorf("got %v", err)
		}
	})
}
