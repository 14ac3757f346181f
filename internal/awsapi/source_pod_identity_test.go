// The source pod_identity against an agent on loopback: what is read before it is asked, what it answers, and where the chain goes on.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const podARN = "arn:aws:iam::" + account + ":role/pod"

// pod starts an agent on the pod's node, and sets what the webhook sets.
func (w *world) pod() (chain.Identity, *sandbox.PodIdentityAgent) {
	w.t.Helper()
	agent, err := sandbox.NewPodIdentityAgent(w.state)
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, agent.Close()) })
	w.state.Change(func(s *sandbox.State) {
		s.Clusters["home"] = &sandbox.Cluster{Name: "home", AccountID: account, Region: region, OIDCIssuer: issuer}
		s.PodIdentity = sandbox.PodIdentity{Cluster: "home", Associations: map[string]string{"shop/deployer": podARN}}
		s.Roles[podARN] = &sandbox.Role{ARN: podARN, RoleID: "AROAPOD", MaxSession: 6 * time.Hour, Trust: []sandbox.Trust{{Principals: []string{podIdentityAudience}}}}
	})
	w.t.Setenv(agentVariable, agent.CredentialsURL())
	w.t.Setenv(agentTokenVariable, w.podToken(sandbox.TokenClaims{}))
	return chain.Identity{Name: "pod", Source: chain.SourcePodIdentity, SessionPolicy: chain.SessionPolicyDenyAll}, agent
}

func (w *world) podToken(claims sandbox.TokenClaims) string {
	if claims.Audience == nil {
		claims.Audience = []string{podIdentityAudience}
	}
	claims.Pod = "deployer-0"
	return w.token(claims)
}

func TestPodIdentity(t *testing.T) {
	w := newWorld(t)
	identity, _ := w.pod()
	w.key() // static keys do not beat the source
	login := w.login(identity)
	facts := login.Facts()
	wantSame(t, []string{facts[chain.FactProvider], facts[chain.FactOIDCSubject], facts[chain.FactOIDCAudience]}, []string{"pod_identity", "system:serviceaccount:shop:deployer", podIdentityAudience})
	wantNoSecret(t, "", facts)
	session, err := login.Assume(t.Context())
	must(t, err)
	if left := time.Until(session.Expires()); left < 5*time.Hour {
		t.Errorf("the session ends in %s, which is not the agent's own end", left)
	}
	principal, err := session.Caller(t.Context())
	must(t, err)
	wantSame(t, principal.Canonical(), podARN)
	w.login(identity)
	wantSame(t, w.state.Count("AssumeRoleForPodIdentity"), 2)
	wantSame(t, w.seen.requests, []string{"container GetCredentials ok", "sts GetCallerIdentity ok", "container GetCredentials ok"})
}

// Nothing but the two variables is read, and the token goes to no stranger.
func TestPodIdentityVariables(t *testing.T) {
	w := newWorld(t)
	identity, agent := w.pod()
	asked := w.metadata(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTeapot) })
	token := w.podToken(sandbox.TokenClaims{})
	w.key()
	t.Setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "static")
	for name, c := range map[string]struct {
		agent, token string
		reason       chain.Reason
		detail       string
	}{
		"C08: nothing was injected": {"", "", chain.ReasonNoCredentials, agentVariable + " is not set, so the pod was given no Pod Identity"},
		"no agent":                  {"", token, chain.ReasonNoCredentials, agentVariable + " is not set"},
		"no token":                  {agent.CredentialsURL(), "", chain.ReasonWebIdentityTokenMissing, agentTokenVariable + " is not"},
		"no such token":             {agent.CredentialsURL(), w.dir + "/none", chain.ReasonWebIdentityTokenMissing, "no such file or directory"},
		"a directory":               {agent.CredentialsURL(), w.dir, chain.ReasonWebIdentityTokenUnreadable, "not a regular file"},
		"an empty token":            {agent.CredentialsURL(), w.file("empty", "\n"), chain.ReasonWebIdentityTokenMalformed, "it is empty"},
		"no JWT":                    {agent.CredentialsURL(), w.file("nojwt", "secret"), chain.ReasonWebIdentityTokenMalformed, "it is not a JWT"},
		"IRSA's token":              {agent.CredentialsURL(), w.file("irsa", w.oidc.Mint(sandbox.TokenClaims{})), chain.ReasonWebIdentityTokenMalformed, `its audience is "sts.amazonaws.com"`},
		"C10: expired on disk": {agent.CredentialsURL(), w.file("old", w.oidc.Mint(sandbox.TokenClaims{Expires: time.Now().Add(-time.Hour)})),
			chain.ReasonIdentityTokenExpired, "by the local clock, and no server confirmed that clock"},
		"a stranger":         {"http://192.0.2.1/v1/credentials", token, chain.ReasonNoCredentials, "192.0.2.1 is reached with http"},
		"a stranger's name":  {"http://agent.example.com/v1", token, chain.ReasonNoCredentials, "agent.example.com is reached with http"},
		"a socket":           {"unix:///agent.sock", token, chain.ReasonNoCredentials, "no URL with a host"},
		"what is no address": {"http://[::1", token, chain.ReasonNoCredentials, "no URL with a host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(agentVariable, c.agent)
			t.Setenv(agentTokenVariable, c.token)
			_, err := w.client.Login(t.Context(), identity, region, "run-1")
			wantText(t, wantVerdict(t, err, failure(chain.StepCredentials, c.reason)).Detail, c.detail)
		})
	}
	wantSame(t, asked.Load(), int64(0))
	wantSame(t, len(w.state.Calls), 0)
	for _, address := range []string{"http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/v1/credentials", "http://[::1]:80/", "https://agent.example.com/"} {
		must(t, checkAgent(address))
	}
}

// Each refusal of EKS Auth and of the agent, as they come over the wire.
func TestPodIdentityRefusals(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*sandbox.State)
		want   verdict
		detail []string
	}{
		"no association": {func(s *sandbox.State) { s.PodIdentity.Associations = nil }, failure(chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing), []string{"404 ResourceNotFoundException"}},
		"the node may not ask": {func(s *sandbox.State) { s.PodIdentity.NodeDenied = true }, failure(chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing),
			[]string{"eks-auth:AssumeRoleForPodIdentity", "the node's role may not ask"}},
		"the role does not trust EKS": {func(s *sandbox.State) { s.Roles[podARN].Trust = nil }, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied),
			[]string{"hop 1 of 1, asking the Pod Identity agent at 127.0.0.1", "EKS does not have permissions to assume the associated role", "sts:TagSession"}},
		"the role allows no tags": {func(s *sandbox.State) { s.Roles[podARN].Trust[0].Untagged = true }, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied), nil},
		"another cluster's token": {func(s *sandbox.State) { s.PodIdentity.Cluster = "elsewhere" }, failure(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed), []string{"InvalidTokenException"}},
		"throttled":               {func(s *sandbox.State) { s.Throttle["AssumeRoleForPodIdentity"] = true }, unknown(chain.ReasonEKSAuthThrottled), []string{"429 ThrottlingException: Rate exceeded"}},
		"a fault of EKS Auth":     {func(s *sandbox.State) { s.Failing["AssumeRoleForPodIdentity"] = true }, failure(chain.StepSTS, chain.ReasonSTSError), []string{"500 InternalServerException"}},
		"EKS Auth out of reach":   {func(s *sandbox.State) { s.Off["eks-auth"] = true }, failure(chain.StepSTS, chain.ReasonSTSError), []string{"HTTP 500: []", "the node's way to the eks-auth endpoint"}},
		"a proxy": {func(s *sandbox.State) { s.PodIdentity.Intercepted = true }, failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable),
			[]string{"HTTP 503 (something that is not the agent answered in its place"}},
		"C11: the agent drops the connection": {func(s *sandbox.State) { s.Off["pod-identity-agent"] = true }, failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable), []string{"no answer, while"}},
	} {
		t.Run(name, func(t *testing.T) {
			identity, _ := w.pod()
			w.state.Change(func(s *sandbox.State) {
				s.Throttle, s.Failing, s.Off, s.Calls = map[string]bool{}, map[string]bool{}, map[string]bool{}, nil
				c.change(s)
			})
			wantText(t, wantVerdict(t, w.signIn(identity), c.want).Detail, c.detail...)
			if n := w.state.Count("AssumeRoleForPodIdentity"); n > 1 {
				t.Errorf("%d attempts", n)
			}
		})
	}
}

// C10: a token that ended a minute ago is left to the agent, whose cluster's clock counts. An old agent relays EKS Auth's two times, a newer one looks itself.
func TestC10TokenExpiredAtTheAgent(t *testing.T) {
	w := newWorld(t)
	identity, _ := w.pod()
	w.podToken(sandbox.TokenClaims{IssuedAt: time.Now().Add(-24 * time.Hour), Expires: time.Now().Add(-time.Minute)})
	wantText(t, wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired)).Detail, "HTTP 400: Service account token failed basic claim validations", "token is expired")
	w.state.Change(func(s *sandbox.State) { s.PodIdentity.Trusting = true })
	wantText(t, wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired)).Detail,
		"400 ExpiredTokenException: The token included in the request is expired: current date/time", "must be before the expiration date/time")
}

// C11: nobody listens, or what listens never answers.
func TestC11AgentUnreachable(t *testing.T) {
	w := newWorld(t)
	identity, _ := w.pod()
	refused, err := sandbox.Refused()
	must(t, err)
	t.Setenv(agentVariable, "http://"+refused+"/v1/credentials")
	e := wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable))
	wantText(t, e.Detail, "no answer, while connecting to "+refused, "connection refused")

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	t.Setenv(agentVariable, "http://"+silent.Addr().String()+"/v1/credentials")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = w.client.Login(ctx, identity, region, "run-1")
	wantText(t, wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)).Detail, "no answer in time, while waiting for the answer")
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err = w.client.Login(cancelled, identity, region, "run-1"); !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
		t.Errorf("got %v, want the context's own error", err)
	}
}

// C13: Pod Identity's session tags go along the chain, and the next role must allow them.
func TestC13ChainFromPodIdentity(t *testing.T) {
	w := newWorld(t)
	identity, _ := w.pod()
	identity.Hops = []chain.Hop{{RoleARN: deployARN}, {RoleARN: vendorARN, ExternalIDFile: w.file("id", external)}}
	w.state.Change(func(s *sandbox.State) { s.Roles[deployARN].Trust = []sandbox.Trust{{Principals: []string{podARN}}} })
	must(t, w.signIn(identity))
	w.state.Change(func(s *sandbox.State) { s.Roles[deployARN].Trust[0].Untagged = true })
	e := wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonAssumeRoleDenied))
	wantText(t, e.Detail, "(hop 2 of 3, from Pod Identity)", "sts:TagSession on resource: "+deployARN, "need not be the cause")
	w.state.Change(func(s *sandbox.State) {
		s.Roles[deployARN].Trust[0].Untagged = false
		s.Roles[vendorARN].Trust[0].Untagged = true // the tags are transitive
	})
	wantText(t, wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)).Detail, "(hop 3 of 3, from Pod Identity)", "sts:TagSession")
}

// Whatever listens at the agent's address, it can neither crash the exporter nor fill its memory.
func TestHostileAgent(t *testing.T) {
	w := newWorld(t)
	token := w.oidc.Mint(sandbox.TokenClaims{Namespace: "shop", ServiceAccount: "deployer", Audience: []string{podIdentityAudience}})
	t.Setenv(agentTokenVariable, w.file("token", token)) // without a newline, which the SDK does not send
	for name, handler := range map[string]http.HandlerFunc{
		"null": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write([]byte("null\n"))
		},
		"null as an error": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = rw.Write([]byte("null"))
		},
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"no keys": func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("{}")) },
		"half the keys": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write([]byte(`{"AccessKeyId":"` + keyID + `"}`))
		},
		"a page":       func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("<html>" + secret)) },
		"another type": func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(`["` + secret + `"]`)) },
		"another end": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write([]byte(`{"Expiration":"` + secret + `"}`))
		},
		"a redirect": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "/v1/credentials", http.StatusTemporaryRedirect)
		},
		"without end":      func(rw http.ResponseWriter, _ *http.Request) { flood(rw) },
		"an endless error": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadRequest); flood(rw) },
		"a page of a key": func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(http.StatusForbidden)
			_, _ = rw.Write([]byte("denied: " + secret))
		},
		"cut short": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "100")
			_, _ = rw.Write([]byte(`{"AccessKeyId":`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			t.Setenv(agentVariable, server.URL)
			_, err := w.client.Login(t.Context(), chain.Identity{Name: "pod", Source: chain.SourcePodIdentity}, region, "run-1")
			e := wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable))
			wantText(t, e.Detail, "asking the Pod Identity agent at ")
			_, err = w.client.Login(t.Context(), chain.Identity{Name: "default", Source: chain.SourceDefault}, region, "run-1")
			if e = chain.AsError(err); e == nil || e.Reason != chain.ReasonNoCredentials {
				t.Errorf("the SDK's default chain, with the same agent: %v", err)
			}
		})
	}
}

func flood(rw http.ResponseWriter) {
	for {
		if _, err := rw.Write([]byte(strings.Repeat("x", 1<<16))); err != nil {
			return
		}
	}
}

// A proxy is for other networks: the services of the node are dialled.
func TestNodeServicesHaveNoProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("here")) }))
	defer server.Close()
	transport := &http.Transport{DisableKeepAlives: true, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://192.0.2.1:3128") }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	must(t, err)
	response, err := newNodeClient(transport).Do(request)
	must(t, err)
	must(t, response.Body.Close())
}
