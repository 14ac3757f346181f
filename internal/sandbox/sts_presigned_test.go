// The presigned GetCallerIdentity, made by the SDK and by aws-iam-authenticator's own generator, presented as the authenticator presents it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// presign makes the URL that a token carries.
func (a *awsAccount) presign(t *testing.T, c aws.Credentials, clusterID string) string {
	t.Helper()
	client := sts.NewPresignClient(a.stsClient(c, testRegion, ""))
	request, err := client.PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, sts.WithPresignClientFromClientOptions(func(o *sts.Options) {
		o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("x-k8s-aws-id", clusterID), smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
	}))
	must(t, err)
	return request.URL
}

// present performs the authenticator's GET.
func (a *awsAccount) present(t *testing.T, url, clusterID string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	r.Header.Set("X-K8s-Aws-Id", clusterID)
	r.Header.Set("Accept", "application/json")
	response, content := a.do(t, r)
	return response.StatusCode, strings.ReplaceAll(content, response.Header.Get("X-Amzn-Requestid"), "ID")
}

func jsonError(code, message string) string {
	return `{"Error":{"Type":"Sender","Code":"` + code + `","Message":"` + message + `"},"RequestId":"ID"}`
}

func TestPresignedGetCallerIdentity(t *testing.T) {
	const (
		caller = `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":"arn:aws:sts::111122223333:assumed-role/ci-deploy/probe","UserId":"AROADEPLOY:probe","Account":"111122223333"},"ResponseMetadata":{"RequestId":"ID"}}}`
		prod   = "prod"
	)
	mismatch := jsonError("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. "+
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	for name, c := range map[string]struct {
		fault     func(s *State, keyID string)
		clusterID string                  // of the authenticator; prod when ""
		tamper    func(url string) string // nil: as signed
		status    int
		body      string
	}{
		"accepted":          {status: 200, body: caller},
		"another cluster's": {clusterID: "staging", status: 403, body: mismatch},
		"another region's host": {
			tamper: replace("sts.eu-west-1.", "sts.us-east-1."),
			status: 403,
			body:   jsonError("SignatureDoesNotMatch", "Credential should be scoped to a valid region, not 'eu-west-1'."),
		},
		"another action": {tamper: replace("Action=GetCallerIdentity", "Action=AssumeRole"), status: 403, body: mismatch},
		"another token": {
			tamper: replace("X-Amz-Security-Token=", "X-Amz-Security-Token=A"),
			status: 403,
			body:   jsonError("InvalidClientTokenId", errInvalidToken.Message),
		},
		"another expiry": {tamper: replace("X-Amz-Expires=60", "X-Amz-Expires=61"), status: 403, body: mismatch},
		"at 14 minutes":  {fault: func(s *State, _ string) { s.offset = 14 * time.Minute }, status: 200, body: caller},
		"C26 its session ended": {
			fault:  func(s *State, id string) { s.Sessions[id].Expires = s.now() },
			status: 403,
			body:   jsonError("ExpiredToken", errExpiredToken.Message),
		},
		"throttled": {
			fault:  func(s *State, _ string) { s.Throttle["PresignedGetCallerIdentity"] = true },
			status: 400,
			body:   jsonError("Throttling", "Rate exceeded"),
		},
		"signed calls throttled, this one not": {
			fault: func(s *State, _ string) { s.Throttle["GetCallerIdentity"] = true }, status: 200, body: caller,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAWSAccount(t)
			session := a.assume(t, deployARN, denyAll)
			url := a.presign(t, session, prod)
			if !strings.Contains(url, "X-Amz-SignedHeaders=host%3Bx-k8s-aws-id") {
				t.Fatalf("the SDK signed other headers than host and x-k8s-aws-id")
			}
			if c.fault != nil {
				a.state.Change(func(s *State) { c.fault(s, session.AccessKeyID) })
			}
			if c.tamper != nil {
				url = c.tamper(url)
			}
			clusterID := prod
			if c.clusterID != "" {
				clusterID = c.clusterID
			}
			status, body := a.present(t, url, clusterID)
			wantSame(t, []any{status, body}, []any{c.status, c.body})
		})
	}
}

func replace(old, with string) func(string) string {
	return func(url string) string { return strings.Replace(url, old, with, 1) }
}

// TestPresignedEndsAfterFifteenMinutes does not care that X-Amz-Expires says 60 seconds, as STS does not.
func TestPresignedEndsAfterFifteenMinutes(t *testing.T) {
	a := newAWSAccount(t)
	url := a.presign(t, testUser, "prod")
	a.state.ShiftClock(15*time.Minute + 2*time.Second)
	status, body := a.present(t, url, "prod")
	if status != 403 || !strings.Contains(body, `"Message":"Signature expired: `) {
		t.Errorf("%d %s, want an expired signature", status, body)
	}
}

// TestAuthenticatorToken presents what aws-iam-authenticator's generator mints.
func TestAuthenticatorToken(t *testing.T) {
	a := newAWSAccount(t)
	generator, err := token.NewGenerator(false, false)
	must(t, err)
	minted, err := generator.GetWithSTS("prod", a.stsClient(testUser, testRegion, ""))
	must(t, err)
	url, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(minted.Token, "k8s-aws-v1."))
	must(t, err)
	status, body := a.present(t, string(url), "prod")
	wantSame(t, []any{status, body}, []any{200, `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":"` + userARN +
		`","UserId":"AIDAUSER","Account":"111122223333"},"ResponseMetadata":{"RequestId":"ID"}}}`})
	wantSame(t, a.state.Calls, []Call{{"sts", "PresignedGetCallerIdentity", ""}})
}
