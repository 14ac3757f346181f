// The agent's literal answers: EKS Auth's errors as it relays them, its own texts, and what strangers say at its address.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const relayed = "[b69b1279-d140-4eee-b7ea-b124286f544c]: "

var agentAnswers = map[string]struct {
	status int
	body   string
	want   verdict
}{
	"role not trusted": {400, relayed + "(AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client", failure(chain.StepSTS, chain.ReasonAssumeRoleDenied)},
	"node not allowed": {400, relayed + "(AccessDeniedException): User: arn:aws:sts::111122223333:assumed-role/node/i-0123456789abcdef0 is not authorized to perform: eks-auth:AssumeRoleForPodIdentity on resource: x, fault: client",
		failure(chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing)},
	"no association": {404, relayed + "(ResourceNotFoundException): any text, fault: client", failure(chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing)},
	"C10": {400, relayed + "(ExpiredTokenException): The token included in the request is expired: current date/time 1709126450 must be before the expiration date/time 1709040050, fault: client",
		failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired)},
	"invalid token":       {400, relayed + "(InvalidTokenException): any, fault: client", failure(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed)},
	"invalid parameter":   {400, relayed + "(InvalidParameterException): any, fault: client", failure(chain.StepSTS, chain.ReasonSTSError)},
	"throttled":           {429, relayed + "(ThrottlingException): Rate exceeded, fault: client", unknown(chain.ReasonEKSAuthThrottled)},
	"throttled at 400":    {400, relayed + "(Throttling): Rate exceeded, fault: client", unknown(chain.ReasonEKSAuthThrottled)},
	"unavailable":         {503, relayed + "(ServiceUnavailableException): any\nlines, fault: server", failure(chain.StepSTS, chain.ReasonSTSError)},
	"no answer of AWS":    {500, "[]", failure(chain.StepSTS, chain.ReasonSTSError)},
	"no region":           {500, "unable to fetch credentials from EKS Auth: operation error EKS Auth: AssumeRoleForPodIdentity, failed to resolve service endpoint", failure(chain.StepSTS, chain.ReasonSTSError)},
	"kept too long":       {500, "fetched credentials are expired or will expire within the next -3.00 seconds", failure(chain.StepSTS, chain.ReasonSTSError)},
	"not of the cache":    {500, "error getting credentials to cache: invalid response from server: credentials or assumed role empty", failure(chain.StepSTS, chain.ReasonSTSError)},
	"the agent's limit":   {429, "Too Many Requests", unknown(chain.ReasonEKSAuthThrottled)},
	"expired, it says":    {400, "Service account token failed basic claim validations: token is expired", failure(chain.StepCredentials, chain.ReasonIdentityTokenExpired)},
	"not yet valid":       {400, "Service account token failed basic claim validations: token is not valid yet", failure(chain.StepSTS, chain.ReasonClockBehind)},
	"no token":            {400, "Service account token cannot be empty", failure(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed)},
	"another address":     {403, "Access Denied. Called agent through invalid address, please use either [169.254.170.23 fd00:ec2::23] address not 127.0.0.1", failure(chain.StepCredentials, chain.ReasonNoCredentials)},
	"Squid":               {503, "<html><head><title>ERROR: The requested URL could not be retrieved</title>", failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)},
	"Envoy":               {503, "upstream connect error or disconnect/reset before headers", failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)},
	"proxy with a log-in": {407, "", failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)},
	"too many, of nobody": {429, "<html>slow down</html>", failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)},
	"another server":      {404, "404 page not found", failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)},
	"almost the agent":    {400, "x " + relayed + "(ExpiredTokenException): any, fault: client", failure(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable)},
}

func TestAgentAnswers(t *testing.T) {
	var status int
	var body string
	w := literal(t, func(http.ResponseWriter, *http.Request) {})
	server := textServer(t, &status, &body)
	oidc, err := sandbox.NewOIDC(issuer)
	must(t, err)
	w.oidc = oidc
	t.Setenv(agentVariable, server)
	t.Setenv(agentTokenVariable, w.podToken(sandbox.TokenClaims{}))
	for name, c := range agentAnswers {
		t.Run(name, func(t *testing.T) {
			status, body = c.status, c.body
			wantVerdict(t, w.signIn(chain.Identity{Name: "pod", Source: chain.SourcePodIdentity}), c.want)
		})
	}
}

// textServer serves what stands in status and body, as Go's http.Error writes it.
func textServer(t *testing.T, status *int, body *string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, *body, *status) }))
	t.Cleanup(server.Close)
	return server.URL
}
