// The AWS account that the tests of STS and EKS share, and real SDK clients of it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	testAccount = "111122223333"
	testRegion  = "eu-west-1"
	testIssuer  = "https://oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF"
	denyAll     = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`

	userARN   = "arn:aws:iam::" + testAccount + ":user/ci"
	deployARN = "arn:aws:iam::" + testAccount + ":role/ci-deploy"
	nextARN   = "arn:aws:iam::" + testAccount + ":role/team/next" // trusts ci-deploy, and only within an account's reach
	vendorARN = "arn:aws:iam::" + testAccount + ":role/vendor"    // wants an external id
	irsaARN   = "arn:aws:iam::" + testAccount + ":role/irsa"
)

var testUser = aws.Credentials{AccessKeyID: "AKIAUSERUSERUSERUSER", SecretAccessKey: "a user's secret key"}

// awsAccount is a running account.
type awsAccount struct {
	state *State
	ca    *CA
	sts   *STS
	eks   *EKS
	oidc  *OIDC
	http  *http.Client // dials STS for every host that is not loopback, as a proxy would
}

func newAWSAccount(t *testing.T) *awsAccount {
	t.Helper()
	ca, err := NewCA()
	must(t, err)
	oidc, err := NewOIDC(testIssuer)
	must(t, err)
	a := &awsAccount{state: NewState(), ca: ca, oidc: oidc}
	a.state.Users[testUser.AccessKeyID] = &User{
		Name: "ci", AccountID: testAccount, AccessKeyID: testUser.AccessKeyID, SecretKey: testUser.SecretAccessKey, UserID: "AIDAUSER", ReadsEKS: true,
	}
	for _, role := range []*Role{
		{ARN: deployARN, RoleID: "AROADEPLOY", Trust: []Trust{{Principals: []string{userARN}}}, MaxSession: 2 * time.Hour, ReadsEKS: true},
		{ARN: nextARN, RoleID: "AROANEXT", Trust: []Trust{{Principals: []string{deployARN}}}, MaxSession: 12 * time.Hour},
		{ARN: vendorARN, RoleID: "AROAVENDOR", Trust: []Trust{{Principals: []string{testAccount}, ExternalID: "the external id"}}},
		{ARN: irsaARN, RoleID: "AROAIRSA", Trust: []Trust{{
			Issuer: "oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF", Subject: "system:serviceaccount:shop:deployer", Audience: "sts.amazonaws.com",
		}}},
	} {
		a.state.Roles[role.ARN] = role
	}
	a.state.Issuers[testIssuer] = oidc
	a.state.Providers[testIssuer] = &Provider{Issuer: testIssuer, Audiences: []string{"sts.amazonaws.com"}}
	a.sts, err = NewSTS(a.state, ca)
	must(t, err)
	a.eks, err = NewEKS(a.state, ca)
	must(t, err)
	a.http = a.client()
	t.Cleanup(func() {
		a.http.CloseIdleConnections()
		must(t, errors.Join(a.sts.Close(), a.eks.Close()))
	})
	return a
}

func (a *awsAccount) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: a.ca.Pool(), MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, _ := net.SplitHostPort(address); host != "127.0.0.1" {
				address = a.sts.Addr()
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}

func provider(c aws.Credentials) aws.CredentialsProvider {
	if c.AccessKeyID == "" {
		return aws.AnonymousCredentials{}
	}
	return credentials.StaticCredentialsProvider{Value: c}
}

// stsClient is the SDK's client; with endpoint "" it asks the region's canonical host.
func (a *awsAccount) stsClient(c aws.Credentials, region, endpoint string, change ...func(*sts.Options)) *sts.Client {
	options := sts.Options{Region: region, Credentials: provider(c), HTTPClient: a.http, Retryer: aws.NopRetryer{}}
	if endpoint != "" {
		options.BaseEndpoint = &endpoint
	}
	return sts.New(options, change...)
}

func (a *awsAccount) eksClient(c aws.Credentials, region string) *eks.Client {
	return eks.New(eks.Options{Region: region, Credentials: provider(c), HTTPClient: a.http, Retryer: aws.NopRetryer{}, BaseEndpoint: aws.String(a.eks.URL())})
}

// assume signs in to a role as the test's user.
func (a *awsAccount) assume(t *testing.T, role, policy string) aws.Credentials {
	t.Helper()
	input := &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("probe")}
	if policy != "" {
		input.Policy = &policy
	}
	output, err := a.stsClient(testUser, testRegion, a.sts.URL()).AssumeRole(t.Context(), input)
	must(t, err)
	c := output.Credentials
	return aws.Credentials{AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken}
}

// do performs a request that no SDK made, and reads the answer to its end.
func (a *awsAccount) do(t *testing.T, r *http.Request) (response *http.Response, body string) {
	t.Helper()
	response, err := a.http.Do(r)
	must(t, err)
	content, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	return response, string(content)
}

// awsAnswer is an error as the SDK hands it on, for exact comparison.
type awsAnswer struct {
	Status  int
	Code    string
	Message string
}

func answerOf(err error) awsAnswer {
	var answer awsAnswer
	if response := (*smithyhttp.ResponseError)(nil); errors.As(err, &response) {
		answer.Status = response.HTTPStatusCode()
	}
	if api := smithy.APIError(nil); errors.As(err, &api) {
		answer.Code, answer.Message = api.ErrorCode(), api.ErrorMessage()
	}
	return answer
}

func wantAnswer(t *testing.T, err error, want awsAnswer) {
	t.Helper()
	if err == nil {
		t.Fatalf("the call succeeded, want %+v", want)
	}
	wantSame(t, answerOf(err), want)
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

func testCluster(name string) *Cluster {
	return &Cluster{
		Name: name, AccountID: testAccount, Region: testRegion, Status: chain.ClusterStatusActive, AuthMode: chain.AuthModeAPI,
		Endpoint: "https://" + name + ".example.com", CAPEM: []byte("the authority"), OIDCIssuer: testIssuer, Entries: map[string]*Entry{},
	}
}

func wantSameType(t *testing.T, got, want any) {
	t.Helper()
	if reflect.TypeOf(got) != reflect.TypeOf(want) {
		t.Errorf("%T: %v\nwant %T", got, got, want)
	}
}
