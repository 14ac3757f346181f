// The Pod Identity agent and EKS Auth, asked by the SDK's own client: what they give, and each of their refusals word for word.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const podARN = "arn:aws:iam::" + testAccount + ":role/pod"

func newPodNode(t *testing.T) (*awsAccount, *PodIdentityAgent) {
	t.Helper()
	a := newAWSAccount(t)
	a.state.Clusters["home"] = testCluster("home")
	a.state.Roles[podARN] = &Role{ARN: podARN, RoleID: "AROAPOD", MaxSession: 6 * time.Hour, Trust: []Trust{{Principals: []string{podPrincipal}}}}
	a.state.PodIdentity = PodIdentity{Cluster: "home", Associations: map[string]string{"shop/deployer": podARN}}
	agent, err := NewPodIdentityAgent(a.state)
	must(t, err)
	t.Cleanup(func() { must(t, agent.Close()) })
	return a, agent
}

func (a *awsAccount) podToken(claims TokenClaims) string {
	claims.Namespace, claims.ServiceAccount, claims.Pod = "shop", "deployer", "deployer-0"
	if claims.Audience == nil {
		claims.Audience = []string{podAudience}
	}
	return a.oidc.Mint(claims)
}

func (a *awsAccount) podCredentials(t *testing.T, agent *PodIdentityAgent) aws.Credentials {
	t.Helper()
	found, err := endpointcreds.New(agent.CredentialsURL(), func(o *endpointcreds.Options) { o.HTTPClient, o.AuthorizationToken = a.http, a.podToken(TokenClaims{}) }).Retrieve(t.Context())
	must(t, err)
	return found
}

func TestPodIdentitySession(t *testing.T) {
	a, agent := newPodNode(t)
	found := a.podCredentials(t, agent)
	who, err := a.stsClient(found, testRegion, a.sts.URL()).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	must(t, err)
	wantSame(t, chain.CanonicalARN(*who.Arn), podARN)
	if !strings.Contains(*who.Arn, "/eks-home-deployer-0-") {
		t.Errorf("the session is called %s", *who.Arn)
	}
	tags := a.state.Sessions[found.AccessKeyID].Tags
	delete(tags, "kubernetes-pod-uid")
	wantSame(t, tags, map[string]string{
		"eks-cluster-arn": "arn:aws:eks:eu-west-1:111122223333:cluster/home", "eks-cluster-name": "home", "kubernetes-namespace": "shop",
		"kubernetes-service-account": "deployer", "kubernetes-pod-name": "deployer-0",
	})
	wantSame(t, a.state.Count(opAssumeForPod), 1)
}

// A session's tags go along to every further role, whose trust policy must allow them; STS then names the tags, whatever it is that is wrong.
func TestTagsGoAlong(t *testing.T) {
	a, agent := newPodNode(t)
	trust := func(role string, t Trust) { a.state.Roles[role].Trust = []Trust{t} }
	trust(deployARN, Trust{Principals: []string{podARN}})
	trust(nextARN, Trust{Principals: []string{deployARN}, Untagged: true})
	trust(vendorARN, Trust{Principals: []string{podARN}, ExternalID: "the external id"})
	caller := a.podCredentials(t, agent)
	assume := func(from aws.Credentials, role string) (*sts.AssumeRoleOutput, error) {
		return a.stsClient(from, testRegion, a.sts.URL()).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("probe")})
	}
	out, err := assume(caller, deployARN)
	must(t, err)
	_, err = assume(aws.Credentials{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken}, nextARN)
	wantAnswer(t, err, awsAnswer{403, "AccessDenied", "User: arn:aws:sts::111122223333:assumed-role/ci-deploy/probe is not authorized to perform: sts:TagSession on resource: " + nextARN})
	_, err = assume(caller, vendorARN)
	wantSame(t, strings.HasSuffix(answerOf(err).Message, "perform: sts:TagSession on resource: "+vendorARN), true)
	trust(nextARN, Trust{Principals: []string{userARN}, Untagged: true})
	_, err = assume(testUser, nextARN) // without tags there is nothing to allow
	must(t, err)
}

// askAgent shows a token to the agent, and returns the answer with its request id taken out.
func askAgent(t *testing.T, a *awsAccount, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	request.Header.Set("Authorization", token)
	response, err := a.http.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, regexp.MustCompile(`^\[[0-9a-f-]{36}\]`).ReplaceAllString(strings.TrimSpace(string(text)), "[ID]")
}

func TestAgentRefusals(t *testing.T) {
	a, agent := newPodNode(t)
	other, err := NewOIDC(testIssuer)
	must(t, err)
	now := time.Now().Truncate(time.Second)
	good := a.podToken(TokenClaims{})
	expired := a.podToken(TokenClaims{IssuedAt: now.Add(-24 * time.Hour), Expires: now.Add(-time.Minute)})
	for name, c := range map[string]struct {
		token  string
		change func(*State)
		status int
		body   string
	}{
		"no token":     {"", nil, 400, "Service account token cannot be empty"},
		"no JWT":       {"x", nil, 400, "Service account token cannot be parsed: token is malformed: token contains an invalid number of segments"},
		"expired":      {expired, nil, 400, "Service account token failed basic claim validations: token is expired"},
		"not yet":      {a.podToken(TokenClaims{IssuedAt: now.Add(time.Hour)}), nil, 400, "Service account token failed basic claim validations: token is not valid yet"},
		"another key":  {other.Mint(TokenClaims{Audience: []string{podAudience}}), nil, 400, "[ID]: (InvalidTokenException): The token included in the request is invalid., fault: client"},
		"for STS":      {a.podToken(TokenClaims{Audience: []string{identityAudience}}), nil, 400, "[ID]: (InvalidTokenException): The token included in the request is invalid., fault: client"},
		"elsewhere":    {good, func(s *State) { s.PodIdentity.Cluster = "elsewhere" }, 400, "[ID]: (InvalidTokenException): The token included in the request is invalid., fault: client"},
		"unassociated": {good, func(s *State) { s.PodIdentity.Associations = nil }, 404, "[ID]: (ResourceNotFoundException): No active association found for service account shop/deployer., fault: client"},
		"untrusted": {good, func(s *State) { s.Roles[podARN].Trust = []Trust{{Principals: []string{ec2Principal}}} }, 400,
			"[ID]: (AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client"},
		"untagged": {good, func(s *State) { s.Roles[podARN].Trust = []Trust{{Principals: []string{podPrincipal}, Untagged: true}} }, 400,
			"[ID]: (AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client"},
		"throttled":   {good, func(s *State) { s.Throttle[opAssumeForPod] = true }, 429, "[ID]: (ThrottlingException): Rate exceeded, fault: client"},
		"failing":     {good, func(s *State) { s.Failing[opAssumeForPod] = true }, 500, "[ID]: (InternalServerException): Internal server error, fault: server"},
		"no EKS Auth": {good, func(s *State) { s.Off["eks-auth"] = true }, 500, "[]"},
		"a proxy":     {good, func(s *State) { s.PodIdentity.Intercepted = true }, 503, "<html><head><title>ERROR: The requested URL could not be retrieved</title></head></html>"},
	} {
		t.Run(name, func(t *testing.T) {
			a.state.Change(func(s *State) {
				s.PodIdentity = PodIdentity{Cluster: "home", Associations: map[string]string{"shop/deployer": podARN}}
				s.Roles[podARN].Trust = []Trust{{Principals: []string{podPrincipal}}}
				s.Throttle, s.Failing, s.Off = map[string]bool{}, map[string]bool{}, map[string]bool{}
				if c.change != nil {
					c.change(s)
				}
			})
			status, body := askAgent(t, a, agent.CredentialsURL(), c.token)
			wantSame(t, status, c.status)
			wantSame(t, body, c.body)
		})
	}
	a.state.Change(func(s *State) { s.PodIdentity.Intercepted = false }) // whichever case came last
	if status, _ := askAgent(t, a, agent.URL()+"/", good); status != http.StatusNotFound {
		t.Errorf("another path answers %d", status)
	}
}

// The first agents left the claims to EKS Auth, whose clock is AWS's, and whose answer has two times in it.
func TestTrustingAgent(t *testing.T) {
	a, agent := newPodNode(t)
	a.state.PodIdentity.Trusting = true
	ends := time.Now().Add(time.Minute).Truncate(time.Second)
	a.state.ShiftClock(time.Hour)
	status, body := askAgent(t, a, agent.CredentialsURL(), a.podToken(TokenClaims{Expires: ends}))
	wantSame(t, status, 400)
	if !regexp.MustCompile(`^\[ID\]: \(ExpiredTokenException\): The token included in the request is expired: current date/time \d{10} must be before the expiration date/time \d{10}, fault: client$`).MatchString(body) {
		t.Error(body)
	}
}

func TestNodeDenied(t *testing.T) {
	a, agent := newPodNode(t)
	a.state.PodIdentity.NodeDenied = true
	a.state.Instance = Instance{ID: "i-0123456789abcdef0", RoleARN: "arn:aws:iam::" + testAccount + ":role/fleet/node"}
	_, body := askAgent(t, a, agent.CredentialsURL(), a.podToken(TokenClaims{}))
	wantSame(t, body, "[ID]: (AccessDeniedException): User: arn:aws:sts::111122223333:assumed-role/node/i-0123456789abcdef0 is not authorized to perform: eks-auth:AssumeRoleForPodIdentity on resource: "+
		"arn:aws:eks:eu-west-1:111122223333:cluster/home because no identity-based policy allows the eks-auth:AssumeRoleForPodIdentity action, fault: client")
}
