// May I: one SelfSubjectAccessReview for one rule. Unlike a rules review it also shows what EKS access policies grant.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const accessReviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

func accessReview(spec object) object {
	return object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
}

// Access asks whether the token's user may do what the rule says. Errors are those of Review; a refused review is unknown, not_measurable: that answers nothing about the rule.
func (c *Conn) Access(ctx context.Context, token chain.Token, rule chain.Rule) (chain.Decision, error) {
	got, err := c.create(ctx, token, accessReviewPath, accessReview(object{"resourceAttributes": object{
		"verb": rule.Verb, "group": rule.Group, "resource": rule.Resource, "subresource": rule.Subresource, "name": rule.Name, "namespace": rule.Namespace,
	}}))
	switch {
	case err != nil:
		return chain.Decision{}, err
	case !got.ok():
		return chain.Decision{}, c.accessRefused(got)
	}
	var review authorizationv1.SelfSubjectAccessReview
	if err := c.read(got, "SelfSubjectAccessReview", &review); err != nil {
		return chain.Decision{}, err
	}
	s := review.Status
	return chain.Decision{
		Allowed: s.Allowed, Reason: chain.Redact(s.Reason), Error: chain.Redact(s.EvaluationError), MissingRole: missingRole(s.Reason, s.EvaluationError),
	}, nil
}

func (c *Conn) accessRefused(got answer) error {
	status, kubernetes := readStatus(got.body)
	if !kubernetes || got.status != http.StatusForbidden {
		return c.answerError(got)
	}
	message := chain.Redact(status.Message)
	facts := answerFacts(got, message)
	if user, _, _ := forbiddenUser(status); user == anonymous {
		return chain.Fail(chain.StepToken, chain.ReasonTokenNotSent, "the apiserver saw no token: "+message, facts, nil)
	}
	return chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("the cluster refuses access reviews (the ClusterRole system:basic-user permits them): %s", message), facts, nil)
}
