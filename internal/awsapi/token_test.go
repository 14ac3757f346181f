// Tokens by the rules of the real authenticator, and replays of them at STS.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// The canonical host of every partition, whatever AWS_ENDPOINT_URL_STS says.
func TestTokenHost(t *testing.T) {
	w := newWorld(t)
	t.Setenv("AWS_USE_FIPS_ENDPOINT", "true")
	t.Setenv("AWS_USE_DUALSTACK_ENDPOINT", "true")
	w.client = w.newClient(func(*Options) {})
	for region, host := range map[string]string{
		"eu-west-1": "sts.eu-west-1.amazonaws.com", "us-east-1": "sts.us-east-1.amazonaws.com", "cn-north-1": "sts.cn-north-1.amazonaws.com.cn",
		"us-gov-west-1": "sts.us-gov-west-1.amazonaws.com", "us-iso-east-1": "sts.us-iso-east-1.c2s.ic.gov", "us-isob-east-1": "sts.us-isob-east-1.sc2s.sgov.gov",
		"eusc-de-east-1": "sts.eusc-de-east-1.amazonaws.eu", "eu-isoe-west-1": "sts.eu-isoe-west-1.cloud.adc-e.uk", "us-isof-south-1": "sts.us-isof-south-1.csp.hci.ic.gov",
	} {
		session := &Session{client: w.client, region: region, credentials: aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}}
		got, err := session.Token(t.Context(), "prod")
		must(t, err)
		u, err := url.Parse(got.URL.Reveal())
		must(t, err)
		wantSame(t, u.Scheme+"://"+u.Host+u.Path, "https://"+host+"/")
	}
	wantSame(t, len(w.seen.requests), 0)
}

func TestToken(t *testing.T) {
	w := newWorld(t)
	session := w.session(w.irsa())
	before := time.Now().Truncate(time.Second)
	got, err := session.Token(t.Context(), "prod")
	must(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(got.Value.Reveal(), tokenPrefix))
	must(t, err)
	wantSame(t, string(raw), got.URL.Reveal())
	u, err := url.Parse(string(raw))
	must(t, err)
	query := u.Query()
	for name, want := range map[string]string{
		"Action": "GetCallerIdentity", "Version": "2011-06-15", "X-Amz-Expires": "60", "X-Amz-SignedHeaders": "host;x-k8s-aws-id", "X-Amz-Date": got.Signed.Format("20060102T150405Z"),
	} {
		wantSame(t, query.Get(name), want)
	}
	if got.Signed.Before(before) || got.Signed.After(time.Now()) {
		t.Errorf("signed at %s, want now", got.Signed)
	}
	wantSame(t, got.ClusterName, "prod")
	wantNoSecret(t, got.Value.String()+got.URL.String(), nil)
}

// C26: a token lives until the earlier of its fifteen minutes and its session's end.
func TestC26TokenEnd(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 900, time.UTC)
	client := &Client{options: Options{Now: func() time.Time { return now }}}
	for name, c := range map[string]struct {
		credentials aws.Credentials
		want        time.Duration
	}{
		"keys do not end":        {aws.Credentials{}, 15 * time.Minute},
		"a session that is long": {aws.Credentials{CanExpire: true, Expires: now.Add(time.Hour)}, 15 * time.Minute},
		"two minutes left":       {aws.Credentials{CanExpire: true, Expires: now.Truncate(time.Second).Add(2 * time.Minute)}, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			c.credentials.AccessKeyID, c.credentials.SecretAccessKey = keyID, secret
			got, err := (&Session{client: client, region: region, credentials: c.credentials}).Token(t.Context(), "prod")
			must(t, err)
			wantSame(t, got.Expires, now.Truncate(time.Second).Add(c.want))
		})
	}
}

// The authenticator's own verifier takes the token; its GET goes through the proxy to the sandbox's STS.
func TestTokenAtTheAuthenticator(t *testing.T) {
	w := newInternetWorld(t)
	transport := http.DefaultTransport.(*http.Transport)
	before := transport.TLSClientConfig
	transport.TLSClientConfig = internetTLS()
	t.Cleanup(func() { transport.CloseIdleConnections(); transport.TLSClientConfig = before })
	identity := w.irsa()
	identity.Hops = []chain.Hop{{RoleARN: deployARN}}
	got, err := w.session(identity).Token(t.Context(), "prod")
	must(t, err)
	verifier := token.NewVerifier("prod", "aws", region)
	who, err := verifier.Verify(got.Value.Reveal())
	must(t, err)
	wantSame(t, []string{who.CanonicalARN, who.UserID, who.SessionName}, []string{"arn:aws:iam::111122223333:role/ci-deploy", "AROADEPLOY", "eks-slo-run-1"})
	_, err = token.NewVerifier("another", "aws", region).Verify(got.Value.Reveal())
	if _, ok := errors.AsType[token.STSError](err); !ok {
		t.Errorf("a verifier of another cluster says %v, want STS to refuse", err)
	}
}

func TestReplay(t *testing.T) {
	w := newWorld(t)
	session := w.session(w.irsa())
	good, err := session.Token(t.Context(), "prod")
	must(t, err)
	principal, err := w.client.Replay(t.Context(), good, region)
	must(t, err)
	wantSame(t, principal, chain.Principal{ARN: "arn:aws:sts::111122223333:assumed-role/irsa/eks-slo-run-1", AccountID: account, UserID: "AROAIRSA:eks-slo-run-1"})
	wantSame(t, w.seen.requests[len(w.seen.requests)-1], "sts PresignedGetCallerIdentity ok")

	other := good
	other.ClusterName = "another"
	elsewhere := good
	elsewhere.URL = chain.NewSecret(strings.Replace(good.URL.Reveal(), "sts.eu-west-1", "evil.eu-west-1", 1))
	for name, c := range map[string]struct {
		token  chain.Token
		change func(*sandbox.State)
		want   verdict
	}{
		"another cluster's name": {other, nil, failure(chain.StepSTS, chain.ReasonSignatureInvalid)},
		"another host":           {elsewhere, nil, failure(chain.StepToken, chain.ReasonTokenMalformed)},
		"no URL":                 {chain.Token{}, nil, failure(chain.StepToken, chain.ReasonTokenMalformed)},
		"throttled":              {good, func(s *sandbox.State) { s.Throttle["PresignedGetCallerIdentity"] = true }, unknown(chain.ReasonSTSThrottled)},
		"fails":                  {good, func(s *sandbox.State) { s.Failing["PresignedGetCallerIdentity"] = true }, failure(chain.StepSTS, chain.ReasonSTSError)},
		"off":                    {good, func(s *sandbox.State) { s.Off["sts"] = true }, failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"C26: the session ended": {good, func(s *sandbox.State) {
			for _, session := range s.Sessions {
				session.Expires = time.Now().Add(-time.Second)
			}
		}, failure(chain.StepSTS, chain.ReasonCredentialsExpired)},
		"the session is gone": {good, func(s *sandbox.State) { s.Sessions = map[string]*sandbox.Session{} }, failure(chain.StepSTS, chain.ReasonCredentialsInvalid)},
	} {
		t.Run(name, func(t *testing.T) {
			sessions := map[string]*sandbox.Session{}
			w.state.Change(func(s *sandbox.State) {
				for id, session := range s.Sessions {
					kept := *session
					sessions[id] = &kept
				}
				if c.change != nil {
					c.change(s)
				}
			})
			_, err := w.client.Replay(t.Context(), c.token, region)
			wantVerdict(t, err, c.want)
			w.state.Change(func(s *sandbox.State) {
				s.Sessions, s.Throttle, s.Failing, s.Off = sessions, map[string]bool{}, map[string]bool{}, map[string]bool{}
			})
		})
	}
}

// C25: replayed after its fifteen minutes, with a clock that agrees, it is the token that is old.
func TestC25ReplayOfAnOldToken(t *testing.T) {
	w := newWorld(t)
	old := w.newClient(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(-20 * time.Minute) } })
	session := &Session{client: old, region: region, credentials: aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}}
	token, err := session.Token(t.Context(), "prod")
	must(t, err)
	_, err = w.client.Replay(t.Context(), token, region)
	wantVerdict(t, err, failure(chain.StepToken, chain.ReasonTokenExpired))
	w.state.ShiftClock(20 * time.Minute)
	_, err = w.client.Replay(t.Context(), token, region)
	wantVerdict(t, err, failure(chain.StepSTS, chain.ReasonClockBehind))
}

// What answers in STS's place is no verdict on the token: redirects are not followed, and foreign bodies not believed.
func TestReplayOfForeignAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   verdict
	}{
		"a redirect":           {302, "", failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"a proxy's page":       {403, "<html>Access denied</html>", failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"XML":                  {200, "<GetCallerIdentityResponse/>", failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"nobody":               {200, "{}", failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"a gateway":            {502, "bad gateway", failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"a body without end":   {200, strings.Repeat(" ", maxAnswer) + `{"Error":{}}`, failure(chain.StepSTS, chain.ReasonSTSUnreachable)},
		"STS, throttling":      {400, `{"Error":{"Code":"Throttling","Message":"Rate exceeded","Type":"Sender"},"RequestId":"1"}`, unknown(chain.ReasonSTSThrottled)},
		"STS, region disabled": {403, `{"Error":{"Code":"RegionDisabledException","Message":"STS is not activated"},"RequestId":"1"}`, failure(chain.StepSTS, chain.ReasonSTSRegionDisabled)},
	} {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			w := literal(t, func(rw http.ResponseWriter, r *http.Request) {
				if got != nil {
					t.Errorf("%s was asked too", r.URL.Path)
				}
				got = r
				rw.Header().Set("Location", "/elsewhere")
				rw.WriteHeader(c.status)
				_, _ = rw.Write([]byte(c.body))
			})
			session := &Session{client: w.client, region: region, credentials: aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}}
			token, err := session.Token(t.Context(), "prod")
			must(t, err)
			_, err = w.client.Replay(t.Context(), token, region)
			wantVerdict(t, err, c.want)
			wantSame(t, []string{got.Method, got.Host, got.Header.Get("X-K8s-Aws-Id"), got.Header.Get("Accept")}, []string{"GET", "sts.eu-west-1.amazonaws.com", "prod", "application/json"})
		})
	}
}

// A deadline that strikes is STS's failure; the presigned URL stays out of the text.
func TestReplayInTime(t *testing.T) {
	release := make(chan struct{})
	w := literal(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	session := &Session{client: w.client, region: region, credentials: aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}}
	token, err := session.Token(t.Context(), "prod")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = w.client.Replay(ctx, token, region)
	wantText(t, wantVerdict(t, err, failure(chain.StepSTS, chain.ReasonSTSUnreachable)).Detail, "no answer in time, while waiting for the answer")
	wantSame(t, w.seen.requests, []string{"sts PresignedGetCallerIdentity timeout"})
}
