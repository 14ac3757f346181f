// What STS may answer, however odd, read by ours and by the real Verifier alike; and tokens that nobody would make.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	iamtoken "sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func stsAnswer(arn, userID string) string {
	return `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Account":"111122223333","Arn":"` + arn + `","UserId":"` + userID + `"},"ResponseMetadata":{"RequestId":"r"}}}`
}

func TestSTSAnswerParityWithTheRealVerifier(t *testing.T) {
	const role = "arn:aws:sts::111122223333:assumed-role/ci/s"
	tests := map[string]struct {
		status int
		body   string
	}{
		"an assumed role":         {200, stsAnswer(role, "AROACI:s")},
		"a user":                  {200, stsAnswer("arn:aws:iam::111122223333:user/team/bob", "AIDABOB")},
		"the root":                {200, stsAnswer("arn:aws:iam::111122223333:root", "111122223333")},
		"a federated user":        {200, stsAnswer("arn:aws:sts::111122223333:federated-user/bob", "111122223333:bob")},
		"a role itself":           {200, stsAnswer("arn:aws:iam::111122223333:role/ci", "AROACI")},
		"another partition":       {200, stsAnswer("arn:aws-cn:sts::111122223333:assumed-role/ci/s", "AROACI:s")},
		"an unknown partition":    {200, stsAnswer("arn:moon:sts::111122223333:assumed-role/ci/s", "AROACI:s")},
		"no ARN":                  {200, stsAnswer("ci", "AROACI:s")},
		"an assumed role's half":  {200, stsAnswer("arn:aws:sts::111122223333:assumed-role/ci", "AROACI:s")},
		"another service":         {200, stsAnswer("arn:aws:s3:::bucket", "AROACI:s")},
		"an IAM group":            {200, stsAnswer("arn:aws:iam::111122223333:group/ci", "AROACI:s")},
		"a user id without a :":   {200, stsAnswer(role, "AROACI")},
		"a user id with two":      {200, stsAnswer(role, "AROACI:s:t")},
		"XML":                     {200, "<GetCallerIdentityResponse/>"},
		"half of a JSON":          {200, `{"GetCallerIdentityResponse":`},
		"nothing":                 {200, ""},
		"an empty object":         {200, "{}"},
		"a redirect":              {302, ""},
		"ExpiredToken":            {403, `{"Error":{"Code":"ExpiredToken","Message":"The security token included in the request is expired","Type":"Sender"}}`},
		"an outage":               {503, "Service Unavailable"},
		"Throttling":              {400, `{"Error":{"Code":"Throttling","Message":"Rate exceeded","Type":"Sender"}}`},
		"ThrottlingException":     {429, `{"Error":{"Code":"ThrottlingException"}}`},
		"Throttling in a success": {200, stsAnswer(role, "AROACI:Throttling")},
	}
	k := newKubeCluster(t)
	token := k.deployToken(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client := k.answeringSTS(t, test.status, test.body)
			before := http.DefaultTransport
			http.DefaultTransport = client.Transport
			defer func() { http.DefaultTransport = before }()
			verified, realErr := iamtoken.NewVerifier("prod", "aws", testRegion).Verify(token)
			opened, err := parseToken(token, testRegion, time.Now())
			must(t, err)
			got, ourErr := askSTS(t.Context(), client, opened, "prod")
			wantSame(t, sameWords(ourErr), sameWords(realErr))
			if realErr == nil {
				wantSame(t, []string{got.arn, got.canonicalARN, got.accountID, got.userID, got.sessionName, got.accessKeyID},
					[]string{verified.ARN, verified.CanonicalARN, verified.AccountID, verified.UserID, verified.SessionName, verified.AccessKeyID})
			}
		})
	}
}

// answeringSTS is the authenticator's client of an STS that says one thing.
func (k *kubeCluster) answeringSTS(t *testing.T, status int, body string) *http.Client {
	t.Helper()
	cert, err := k.ca.Issue(IssueOptions{Names: []string{"sts.eu-west-1.amazonaws.com"}})
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(clusterIDHeader) != "prod" || r.Header.Get("Accept") != "application/json" || r.Host != "sts.eu-west-1.amazonaws.com" {
			t.Errorf("STS was asked with %v at %s", r.Header, r.Host)
		}
		w.Header().Set("Location", "https://sts.eu-west-1.amazonaws.com/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	client, err := STSEndpoint{Address: server.Listener.Addr().String(), CAPEM: k.ca.PEM()}.client()
	must(t, err)
	t.Cleanup(func() {
		client.CloseIdleConnections()
		server.Close()
	})
	return client
}

// TestOneSTSCallPerTokenReview: a review asks once, and a malformed token never gets that far.
func TestOneSTSCallPerTokenReview(t *testing.T) {
	k := newKubeCluster(t)
	for _, token := range []string{k.deployToken(t), k.mint(t, testUser, "prod"), "k8s-aws-v1.bm9uc2Vuc2U"} {
		_, _ = k.api.auth.authenticate(t.Context(), token) // mapped, unmapped, malformed
	}
	wantSame(t, k.state.Count("TokenReview"), 3)
	wantSame(t, k.state.Count("PresignedGetCallerIdentity"), 2)
}

// TestSTSOutOfReach: the authenticator's own way to STS may be broken while the client's is fine.
func TestSTSOutOfReach(t *testing.T) {
	k := newKubeCluster(t)
	refused, err := Refused()
	must(t, err)
	other, err := NewCA()
	must(t, err)
	token := k.deployToken(t)
	for name, test := range map[string]struct {
		sts  STSEndpoint
		want string
	}{
		"refused":           {STSEndpoint{Address: refused, CAPEM: k.ca.PEM()}, "dial tcp " + refused + ": connect: connection refused"},
		"another authority": {STSEndpoint{Address: k.sts.Addr(), CAPEM: other.PEM()}, "tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		"another cluster":   {STSEndpoint{Address: k.api.Addr(), CAPEM: k.api.ca.Load().PEM()}, "tls: failed to verify certificate: x509: certificate is valid for "},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := newAuthenticator(k.state, "prod", test.sts)
			must(t, err)
			defer a.close()
			_, err = a.authenticate(t.Context(), token)
			var refused *refusal
			if !errors.As(err, &refused) || refused.code != codeSTSError {
				t.Fatalf("got %#v", err)
			}
			if !strings.Contains(refused.text, "sts getCallerIdentity failed: error during GET: "+test.want) {
				t.Errorf("got %s", refused.text)
			}
		})
	}
	wantSame(t, k.state.Count("PresignedGetCallerIdentity"), 0)
}

func TestAuthenticateEndsWithItsContext(t *testing.T) {
	k := newKubeCluster(t)
	token := k.deployToken(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.api.auth.authenticate(ctx, token)
	wantSame(t, errorText(err), "sts getCallerIdentity failed: error during GET: context canceled on eu-west-1 endpoint")
}

func FuzzParseToken(f *testing.F) {
	const url = "https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Expires=60&X-Amz-Date=20261130T120000Z"
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, seed := range []string{url, url + "&X-Amz-Credential=AKIA/x", strings.ToUpper(url), "https://", "", "https://sts.amazonaws.com/?%zz", "https://[::1]:443/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		opened, err := parseToken(encodeToken(inside), testRegion, now)
		var refused *refusal
		switch {
		case err == nil && (opened.url.Scheme != "https" || !strings.HasSuffix(opened.url.Host, "aws.com") && !strings.HasSuffix(opened.url.Host, "api.aws")):
			t.Errorf("opened %s", opened.url)
		case err != nil && (!errors.As(err, &refused) || refused.code != codeInvalidToken):
			t.Errorf("refused with %#v", err)
		case err != nil && chain.Redact(err.Error()) != strings.TrimSpace(err.Error()) && strings.Contains(err.Error(), "X-Amz-Signature="):
			t.Errorf("the error tells a secret: %v", err)
		}
	})
}
