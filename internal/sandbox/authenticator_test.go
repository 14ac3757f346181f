// The authenticator's whole way, with tokens of the real generator and the sandbox's STS.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"regexp"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestAuthenticateRole(t *testing.T) {
	k := newKubeCluster(t)
	credentials := k.assume(t, deployARN, denyAll)
	user, err := k.api.auth.authenticate(t.Context(), k.mint(t, credentials, "prod"))
	must(t, err)
	wantSame(t, user, authenticationv1.UserInfo{
		Username: "ci:probe", Groups: []string{"deployers"}, UID: "aws-iam-authenticator:111122223333:AROADEPLOY",
		Extra: map[string]authenticationv1.ExtraValue{
			"arn": {"arn:aws:sts::111122223333:assumed-role/ci-deploy/probe"}, "canonicalArn": {deployARN}, "sessionName": {"probe"},
			"accessKeyId": {credentials.AccessKeyID}, "principalId": {"AROADEPLOY"}, "sigs.k8s.io/aws-iam-authenticator/principalId": {"AROADEPLOY"},
		},
	})
	wantSame(t, k.calls(), []Call{{"authenticator", "TokenReview", ""}})
}

func TestAuthenticateUser(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) {
		c.Entries[userARN] = &Entry{AccessEntry: chain.AccessEntry{PrincipalARN: userARN, Type: "STANDARD"}, RoleID: "AIDAUSER"}
	})
	user, err := k.api.auth.authenticate(t.Context(), k.mint(t, testUser, "prod"))
	must(t, err)
	wantSame(t, user, authenticationv1.UserInfo{
		Username: userARN, Groups: []string{}, UID: "aws-iam-authenticator:111122223333:AIDAUSER",
		Extra: map[string]authenticationv1.ExtraValue{
			"arn": {userARN}, "canonicalArn": {userARN}, "sessionName": {""},
			"accessKeyId": {testUser.AccessKeyID}, "principalId": {"AIDAUSER"}, "sigs.k8s.io/aws-iam-authenticator/principalId": {"AIDAUSER"},
		},
	})
}

// requestIDs differ from answer to answer.
var requestIDs = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func TestAuthenticateRefusals(t *testing.T) {
	stsBody := func(code, message string) string {
		return `error from AWS (expected 200, got 403) on eu-west-1 endpoint. Body: {"Error":{"Type":"Sender","Code":"` + code + `","Message":"` + message + `"},"RequestId":"ID"}`
	}
	const failed = "sts getCallerIdentity failed: "
	mismatch := refusal{"sts_error", failed + stsBody("SignatureDoesNotMatch",
		"The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")}
	tests := map[string]struct {
		fault   func(s *State, c *Cluster)
		cluster string
		want    refusal
	}{
		"the token is for another cluster":                    {cluster: "staging", want: mismatch},
		"the authenticator knows the cluster by another name": {fault: func(_ *State, c *Cluster) { c.Fault.AnswerID = "old-prod" }, want: mismatch},
		"the role was made anew":                              {fault: func(_ *State, c *Cluster) { c.Entries[deployARN].RoleID = "AROABEFORE" }, want: refusal{"unknown_user", "identity is not mapped"}},
		"no entry":                                            {fault: func(_ *State, c *Cluster) { delete(c.Entries, deployARN) }, want: refusal{"unknown_user", "identity is not mapped"}},
		"STS throttles": {fault: func(s *State, _ *Cluster) { s.Throttle["PresignedGetCallerIdentity"] = true }, want: refusal{"sts_throttling",
			`sts getCallerIdentity was throttled: {"Error":{"Type":"Sender","Code":"Throttling","Message":"Rate exceeded"},"RequestId":"ID"}`}},
		"STS is off": {fault: func(s *State, _ *Cluster) { s.Off["sts"] = true }, want: refusal{"sts_error", failed + "error during GET: EOF on eu-west-1 endpoint"}},
		"the webhook is down": {fault: func(_ *State, c *Cluster) { c.Fault.Authenticator = AuthenticatorDown }, want: refusal{"unavailable",
			`Post "https://127.0.0.1:21362/authenticate?timeout=30s": dial tcp 127.0.0.1:21362: connect: connection refused`}},
		"the webhook is throttled": {fault: func(_ *State, c *Cluster) { c.Fault.Authenticator = AuthenticatorThrottled }, want: refusal{"sts_throttling",
			`sts getCallerIdentity was throttled: {"Error":{"Code":"Throttling","Message":"Rate exceeded","Type":"Sender"}}`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			cluster := "prod"
			if test.cluster != "" {
				cluster = test.cluster
			}
			token := k.mint(t, k.assume(t, deployARN, denyAll), cluster)
			if test.fault != nil {
				k.state.Change(func(s *State) { test.fault(s, s.Clusters["prod"]) })
			}
			_, err := k.api.auth.authenticate(t.Context(), token)
			var got *refusal
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a refusal", err)
			}
			wantSame(t, requestIDs.ReplaceAllString(got.text, "ID"), test.want.text)
			wantSame(t, k.calls(), []Call{{"authenticator", "TokenReview", test.want.code}})
		})
	}
}

// TestAuthenticateByTheSandboxClock: a slow client is refused by the authenticator, a fast one by STS; the same cause, two errors.
func TestAuthenticateByTheSandboxClock(t *testing.T) {
	for name, test := range map[string]struct {
		shift time.Duration
		code  string
	}{
		"fourteen minutes on":           {14 * time.Minute, ""},
		"sixteen minutes on":            {16 * time.Minute, "invalid_token"},
		"the client is an hour ahead":   {-time.Hour, "sts_error"},
		"the client is a minute behind": {time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			token := k.deployToken(t)
			k.state.ShiftClock(test.shift)
			_, err := k.api.auth.authenticate(t.Context(), token)
			if (err == nil) != (test.code == "") {
				t.Errorf("authenticating: %v", err)
			}
			wantSame(t, k.calls(), []Call{{"authenticator", "TokenReview", test.code}})
		})
	}
}

func TestAuthenticatorWantsAnAuthority(t *testing.T) {
	_, err := NewAPIServer(&State{Clusters: map[string]*Cluster{"prod": testCluster("prod")}}, nil, "prod", STSEndpoint{Address: "127.0.0.1:1", CAPEM: []byte("none")})
	if want := `serving cluster "prod": reading the certificate authority of STS: no PEM certificate in it`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
