// Source pod_identity: the projected service account token of the pod, which the EKS Pod Identity agent of its node turns into a session.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	agentVariable      = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
	agentTokenVariable = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
	// podIdentityAudience is the one audience that EKS Auth takes (EKS user guide, "How EKS Pod Identity works").
	podIdentityAudience = "pods.eks.amazonaws.com"
)

// agentHosts are the link-local addresses of the agent (eks-pod-identity-agent configuration/config.go). The token is sent over plain HTTP to them, and to loopback, alone.
var agentHosts = []string{"169.254.170.23", "fd00:ec2::23"}

// openPodIdentity reads the two variables that the webhook adds to a pod, and nothing else: neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_AUTHORIZATION_TOKEN, which are not of
// Pod Identity. The token is judged before it is sent; then the agent is asked once.
func openPodIdentity(ctx context.Context, l *Login) (opened, error) {
	facts := chain.Facts{chain.FactProvider: string(chain.SourcePodIdentity)}
	agent, path := os.Getenv(agentVariable), os.Getenv(agentTokenVariable)
	if agent == "" {
		return opened{}, l.fail(chain.ReasonNoCredentials, facts, nil, "opening the source pod_identity: %s is not set, so the pod was given no Pod Identity: it is added when a pod is created, "+
			"if its service account has an association by then and the webhook is up", agentVariable)
	}
	if err := checkAgent(agent); err != nil {
		return opened{}, l.fail(chain.ReasonNoCredentials, facts, nil, "opening the source pod_identity: %s is no address of the agent: %v", agentVariable, err)
	}
	if path == "" {
		return opened{}, l.fail(chain.ReasonWebIdentityTokenMissing, facts, nil, "opening the source pod_identity: %s is set and %s is not", agentVariable, agentTokenVariable)
	}
	token, err := openToken(path)
	if err != nil {
		return opened{}, err
	}
	if now := l.client.options.Now(); token.ended(now) {
		return opened{}, token.expired(now, "none was asked, since the agent judges by this node's clock as well")
	}
	facts = facts.Merge(token.facts())
	if !slices.Contains(token.claims.audience, podIdentityAudience) {
		return opened{}, l.fail(chain.ReasonWebIdentityTokenMalformed, facts, nil, "the web identity token %s is another one than Pod Identity's: its audience is %q, and EKS Auth takes %s alone",
			path, strings.Join(token.claims.audience, ","), podIdentityAudience)
	}
	return l.askAgent(ctx, agent, token.value, facts)
}

// checkAgent keeps the token from going in clear text to any host that a variable may name. Its errors hold nothing of the URL but its host.
func checkAgent(agent string) error {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return errors.New("it is no URL with a host")
	}
	ip := net.ParseIP(u.Hostname())
	switch {
	case u.Scheme == "https", u.Scheme == "http" && ip != nil && (ip.IsLoopback() || slices.Contains(agentHosts, ip.String())):
		return nil
	}
	return fmt.Errorf("%s is reached with %s, which is for loopback and %s alone", u.Hostname(), u.Scheme, strings.Join(agentHosts, " and "))
}

// askAgent makes the one call. The agent may serve a session that it has kept for the same token; whether it did cannot be seen from here.
func (l *Login) askAgent(ctx context.Context, agent string, token chain.Secret, facts chain.Facts) (opened, error) {
	seen := l.client.observe()
	credentials, err := endpointcreds.New(agent, func(o *endpointcreds.Options) {
		o.HTTPClient, o.Retryer, o.AuthorizationToken = l.client.node, aws.NopRetryer{}, token.Reveal()
		o.APIOptions = append(o.APIOptions, seen.attach)
	}).Retrieve(ctx)
	facts = facts.Merge(seen.seen().facts())
	if err == nil && !credentials.HasKeys() {
		err = errors.New("the answer holds no key pair")
	}
	if err != nil {
		return l.refusedByAgent(ctx, agentAnswer(err, seen.seen()), facts)
	}
	return opened{credentials: credentials, assumed: 1, facts: facts}, nil
}
