// Errors of Pod Identity: the one place that turns what the agent answered, itself or in EKS Auth's name, into a reason.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// agentAnswer reads the plain text of the agent: "[REQUEST ID]: (CODE): MESSAGE, fault: client" is EKS Auth's error as the agent relays it, "[]" that EKS Auth did not answer the agent
// (eks-pod-identity-agent pkg/errors, HandleCredentialFetchingError).
func agentAnswer(err error, last sighting) answer {
	a := answerOf(err, last)
	var refused interface {
		smithy.APIError
		HTTPStatusCode() int
	}
	if !errors.As(err, &refused) {
		return a
	}
	a.status, a.code, a.message = refused.HTTPStatusCode(), "", strings.TrimSpace(refused.ErrorMessage())
	if parts := relayedShape.FindStringSubmatch(a.message); parts != nil && parts[2] != "" {
		a.requestID, a.code, a.message = parts[1], parts[2], parts[3]
	}
	return a
}

var relayedShape = regexp.MustCompile(`(?s)^\[([0-9A-Za-z-]*)\](?:: \(([A-Za-z]+)\): (.*), fault: (?:client|server|unknown))?$`)

// agentTexts begin the agent's own answers (eks-pod-identity-agent internal/validation, internal/middleware/rate_limiter, internal/credsretriever, pkg/handlers). The first that fits decides.
var agentTexts = []struct {
	text string
	finding
}{
	{"Service account token failed basic claim validations: token is expired", finding{chain.StepCredentials, chain.ReasonIdentityTokenExpired, ""}},
	{"Service account token failed basic claim validations: token is not valid yet", finding{chain.StepSTS, chain.ReasonClockBehind, "the agent's clock is this node's"}},
	{"Service account token", finding{chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed, ""}},
	{"Access Denied. Called agent through invalid address", finding{chain.StepCredentials, chain.ReasonNoCredentials, agentVariable + " names another address than the agent's own"}},
	{"Too Many Requests", finding{chain.StepNone, chain.ReasonEKSAuthThrottled, "the agent's own limit"}},
	{"unable to fetch credentials from EKS Auth", unansweredByEKSAuth},
	{"error getting credentials to cache", unansweredByEKSAuth},
	{"invalid response from server", unansweredByEKSAuth},
	{"fetched credentials are expired", unansweredByEKSAuth},
	{"Unable to serialize credentials", unansweredByEKSAuth},
	{"[]", unansweredByEKSAuth},
}

var unansweredByEKSAuth = finding{chain.StepSTS, chain.ReasonSTSError, "the agent is up, and got no session from EKS Auth: look at its log, and at the node's way to the eks-auth endpoint of its region"}

// relayedCodes are EKS Auth's (EKS API reference, AssumeRoleForPodIdentity).
var relayedCodes = map[string]finding{
	"ResourceNotFoundException": {chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing, ""},
	"AccessDeniedException":     {chain.StepSTS, chain.ReasonAssumeRoleDenied, "the role of the association must let pods.eks.amazonaws.com do sts:AssumeRole and sts:TagSession; EKS Auth does not say which condition failed"},
	"ExpiredTokenException":     {chain.StepCredentials, chain.ReasonIdentityTokenExpired, ""},
	"InvalidTokenException":     {chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed, "it is a JWT, and not one of the cluster that the agent asks for"},
}

// judgeAgent decides by this order: no answer, a code of EKS Auth, the agent's own words. Anything else was not said by the agent: a proxy, or another server at its address.
func judgeAgent(a answer) finding {
	switch {
	case a.status == 0 && !a.answered:
		return finding{chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable, ""}
	case a.code != "" && a.throttled():
		return finding{chain.StepNone, chain.ReasonEKSAuthThrottled, ""}
	case a.code == "AccessDeniedException" && strings.Contains(a.message, "eks-auth:AssumeRoleForPodIdentity"):
		return finding{chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing, "the node's role may not ask"}
	case a.code != "":
		if found, ok := relayedCodes[a.code]; ok {
			return found
		}
		return finding{chain.StepSTS, chain.ReasonSTSError, "EKS Auth's answer, which the agent relays"}
	}
	for _, row := range agentTexts {
		if strings.HasPrefix(a.message, row.text) {
			return row.finding
		}
	}
	return finding{chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable, "something that is not the agent answered in its place, a proxy perhaps"}
}

// refusedByAgent blames the layer that refused. What EKS Auth did in STS's place is a failure of the step sts, at hop 1, and Assume tells it.
func (l *Login) refusedByAgent(ctx context.Context, a answer, facts chain.Facts) (opened, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return opened{}, ctx.Err()
	}
	if a.untried() {
		return opened{}, chain.Unsure(chain.ReasonReadFailed, chain.Redact(fmt.Sprintf("asking the Pod Identity agent at %s: %s", a.host, a.silence())), facts.Merge(a.facts()), a.err)
	}
	found := judgeAgent(a)
	said := a.text()
	switch {
	case found.reason == chain.ReasonPodIdentityAgentUnreachable && a.status != 0:
		said = fmt.Sprintf("HTTP %d", a.status) // a stranger's page is not quoted
		a.message = ""
	case a.status == 0 && a.answered:
		said = "an answer without credentials"
	case a.status != 0 && a.code == "":
		said = fmt.Sprintf("HTTP %d: %s", a.status, a.message)
	}
	detail := fmt.Sprintf("asking the Pod Identity agent at %s: %s", a.host, said)
	if found.why != "" {
		detail += " (" + found.why + ")"
	}
	detail, facts = chain.Redact(detail), facts.Merge(a.facts())
	if found.step == chain.StepNone {
		return opened{}, chain.Unsure(found.reason, detail, facts, a.err)
	}
	if found.step == chain.StepSTS {
		facts[chain.FactHop] = l.place(1, 1)
		return opened{refused: chain.Fail(chain.StepSTS, found.reason, "hop "+facts[chain.FactHop]+", "+detail, facts, a.err), assumed: 1, facts: facts}, nil
	}
	return opened{}, chain.Fail(chain.StepCredentials, found.reason, detail, facts, a.err)
}
