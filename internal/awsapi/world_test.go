// The account that the tests sign in to, and the small checks that they share.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const (
	account  = "111122223333"
	region   = "eu-west-1"
	issuer   = "https://oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF"
	keyID    = "AKIAUSERUSERUSERUSER"
	secret   = "a-users-secret-key"
	external = "the-external-id-of-the-vendor"

	userARN   = "arn:aws:iam::" + account + ":user/ci"
	irsaARN   = "arn:aws:iam::" + account + ":role/irsa"
	deployARN = "arn:aws:iam::" + account + ":role/team/ci-deploy"
	vendorARN = "arn:aws:iam::" + account + ":role/vendor"
	readerARN = "arn:aws:iam::" + account + ":role/reader"
)

// world is a sandbox, the environment that leads to it, and a client in it.
type world struct {
	t      *testing.T
	state  *sandbox.State
	oidc   *sandbox.OIDC
	client *Client
	seen   *witness
	dir    string
}

// newWorld starts servers on loopback and points the SDK's own variables at them.
func newWorld(t *testing.T) *world {
	t.Helper()
	ca, err := sandbox.NewCA()
	must(t, err)
	state := sandbox.NewState()
	sts, err := sandbox.NewSTS(state, ca)
	must(t, err)
	eks, err := sandbox.NewEKS(state, ca)
	must(t, err)
	elb, err := sandbox.NewELB(state, ca)
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(sts.Close(), eks.Close(), elb.Close())) })
	isolate(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL())
	t.Setenv("AWS_ENDPOINT_URL_EKS", eks.URL())
	t.Setenv("AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2", elb.URL())
	return finishWorld(t, state, ca)
}

// newInternetWorld has no endpoint override: STS is reached under its canonical names, through HTTPS_PROXY. Its tests do not run beside each other.
func newInternetWorld(t *testing.T) *world {
	t.Helper()
	isolate(t)
	internet.state.Change(func(s *sandbox.State) { s.Calls = nil })
	internet.proxy.SetMode(sandbox.ProxyOpen)
	return finishWorld(t, internet.state, internet.ca)
}

func finishWorld(t *testing.T, state *sandbox.State, ca *sandbox.CA) *world {
	t.Helper()
	oidc, err := sandbox.NewOIDC(issuer)
	must(t, err)
	w := &world{t: t, state: state, oidc: oidc, seen: &witness{skews: map[string]time.Duration{}}, dir: t.TempDir()}
	state.Change(func(s *sandbox.State) { populate(s, oidc) })
	t.Setenv("AWS_CA_BUNDLE", w.file("ca.pem", string(ca.PEM())))
	w.client = w.newClient(func(*Options) {})
	return w
}

func populate(s *sandbox.State, oidc *sandbox.OIDC) {
	s.Users[keyID] = &sandbox.User{Name: "ci", AccountID: account, AccessKeyID: keyID, SecretKey: secret, UserID: "AIDAUSER", ReadsEKS: true, ReadsELB: true}
	s.Issuers[issuer] = oidc
	s.Providers[issuer] = &sandbox.Provider{Issuer: issuer, Audiences: []string{"sts.amazonaws.com"}}
	for _, role := range []*sandbox.Role{
		{ARN: irsaARN, RoleID: "AROAIRSA", Trust: []sandbox.Trust{{
			Issuer: strings.TrimPrefix(issuer, "https://"), Subject: "system:serviceaccount:shop:deployer", Audience: "sts.amazonaws.com",
		}}},
		{ARN: deployARN, RoleID: "AROADEPLOY", MaxSession: 2 * time.Hour, Trust: []sandbox.Trust{{Principals: []string{userARN, irsaARN}}}},
		{ARN: vendorARN, RoleID: "AROAVENDOR", Trust: []sandbox.Trust{{Principals: []string{deployARN}, ExternalID: external}}},
		{ARN: readerARN, RoleID: "AROAREADER", ReadsEKS: true, ReadsELB: true, Trust: []sandbox.Trust{{Principals: []string{userARN}}}},
	} {
		s.Roles[role.ARN] = role
	}
}

// isolate takes away what the machine says of AWS, and sets a region that nothing may use.
func isolate(t *testing.T) {
	t.Helper()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		agentVariable: "", agentTokenVariable: "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_STS": "", "AWS_ENDPOINT_URL_EKS": "", "AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2": "",
		"AWS_CONFIG_FILE": nowhere, "AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": "us-west-2", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
}

func (w *world) newClient(change func(*Options)) *Client {
	w.t.Helper()
	options := DefaultOptions()
	options.ObserveRequest, options.ObserveSkew, options.EKSReadsPerSecond, options.ELBReadsPerSecond = w.seen.request, w.seen.skew, 1000, 1000
	change(&options)
	client, err := New(w.t.Context(), options)
	must(w.t, err)
	return client
}

// literal is a client of a server that answers as told, in place of STS, EKS and ELB.
func literal(t *testing.T, handler http.HandlerFunc) *world {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	isolate(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", server.URL)
	t.Setenv("AWS_ENDPOINT_URL_EKS", server.URL)
	t.Setenv("AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2", server.URL)
	w := &world{t: t, seen: &witness{skews: map[string]time.Duration{}}, dir: t.TempDir()}
	t.Setenv("AWS_CA_BUNDLE", w.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))))
	w.client = w.newClient(func(*Options) {})
	return w
}

// file writes a file of the test and returns its path.
func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	must(w.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// token writes the deployer's web identity token.
func (w *world) token(claims sandbox.TokenClaims) string {
	w.t.Helper()
	claims.Namespace, claims.ServiceAccount = "shop", "deployer"
	return w.file("token", w.oidc.Mint(claims)+"\n")
}

func (w *world) key() {
	w.t.Setenv("AWS_ACCESS_KEY_ID", keyID)
	w.t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
}

func (w *world) login(identity chain.Identity) *Login {
	w.t.Helper()
	login, err := w.client.Login(w.t.Context(), identity, region, "run-1")
	must(w.t, err)
	return login
}

func (w *world) session(identity chain.Identity) *Session {
	w.t.Helper()
	session, err := w.login(identity).Assume(w.t.Context())
	must(w.t, err)
	return session
}

// signIn goes as far as GetCallerIdentity, and returns the first error.
func (w *world) signIn(identity chain.Identity) error {
	w.t.Helper()
	login, err := w.client.Login(w.t.Context(), identity, region, "run-1")
	if err != nil {
		return err
	}
	session, err := login.Assume(w.t.Context())
	if err != nil {
		return err
	}
	_, err = session.Caller(w.t.Context())
	return err
}

func (w *world) irsa() chain.Identity {
	w.t.Helper()
	return chain.Identity{Name: "ci", Source: chain.SourceIRSA, RoleARN: irsaARN, TokenFile: w.token(sandbox.TokenClaims{}), SessionPolicy: chain.SessionPolicyDenyAll}
}

func (w *world) environment(roles ...string) chain.Identity {
	w.key()
	identity := chain.Identity{Name: "ci", Source: chain.SourceEnvironment, SessionPolicy: chain.SessionPolicyDenyAll}
	for _, role := range roles {
		identity.Hops = append(identity.Hops, chain.Hop{RoleARN: role})
	}
	return identity
}

// witness keeps what a client reports of its calls.
type witness struct {
	mu       sync.Mutex
	requests []string
	skews    map[string]time.Duration
}

func (w *witness) request(service, operation, code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, service+" "+operation+" "+code)
}

func (w *witness) skew(peer string, skew time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skews[peer] = skew
}

// verdict is what a *chain.Error decides.
type verdict struct {
	Outcome, Step, Reason string
}

func failure(step chain.Step, reason chain.Reason) verdict {
	return verdict{"failure", step.String(), string(reason)}
}

func unknown(reason chain.Reason) verdict { return verdict{"unknown", "", string(reason)} }

// wantVerdict checks what an error decides and that it shows no secret, and returns it.
func wantVerdict(t *testing.T, err error, want verdict) *chain.Error {
	t.Helper()
	var e *chain.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %+v", err, want)
	}
	if got := (verdict{e.Outcome.String(), e.Step.String(), string(e.Reason)}); got != want {
		t.Fatalf("got %+v, want %+v\n%s", got, want, e.Detail)
	}
	wantNoSecret(t, e.Error(), e.Facts)
	return e
}

// wantNoSecret looks for every secret of the tests in a text and in facts.
func wantNoSecret(t *testing.T, text string, facts chain.Facts) {
	t.Helper()
	for name, value := range facts {
		text += "\n" + string(name) + "=" + value
	}
	for _, shape := range []string{keyID, secret, external, "ASIA", tokenPrefix, "eyJ", "X-Amz-Signature", "X-Amz-Security-Token"} {
		if strings.Contains(text, shape) {
			t.Errorf("%q shows in\n%s", shape, text)
		}
	}
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
