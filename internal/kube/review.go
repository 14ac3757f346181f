// Who am I: the token is presented to the apiserver, which says whom it takes the caller for.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// reviewVersions are the versions of SelfSubjectReview, newest first (authentication.k8s.io; v1 since Kubernetes 1.28). Their fields are the same.
var reviewVersions = []string{"v1", "v1beta1", "v1alpha1"}

// Review asks the apiserver who the token is: SelfSubjectReview v1, then older versions, then any authenticated call. The last one, and a 403 for a named user, prove that the
// token was accepted without telling for whom: the review is then Silent. A 403 for system:anonymous returns that Username: the apiserver saw no token.
//
// A refused token is an *UnauthorizedError; other errors are *chain.Error of the step endpoint, which wrap context.DeadlineExceeded when the answer did not come in time, or context.Canceled.
func (c *Conn) Review(ctx context.Context, token chain.Token) (chain.Review, error) {
	for _, version := range reviewVersions {
		api := "authentication.k8s.io/" + version
		got, err := c.create(ctx, token, "/apis/"+api+"/selfsubjectreviews", object{"apiVersion": api, "kind": "SelfSubjectReview"})
		switch {
		case err != nil:
			return chain.Review{}, err
		case got.status == http.StatusNotFound:
			continue
		}
		return c.readReview(got)
	}
	got, err := c.create(ctx, token, accessReviewPath, accessReview(object{"nonResourceAttributes": object{"verb": "get", "path": "/readyz"}}))
	switch {
	case err != nil:
		return chain.Review{}, err
	case got.ok():
		return chain.Review{Silent: true}, nil
	}
	return c.readReview(got)
}

// readReview reads a SelfSubjectReview. Who was authenticated is in the group system:authenticated, even under an empty user name, as a line of aws-auth without one gives.
func (c *Conn) readReview(got answer) (chain.Review, error) {
	if !got.ok() {
		return c.reviewRefused(got)
	}
	var review authenticationv1.SelfSubjectReview
	if err := c.read(got, "SelfSubjectReview", &review); err != nil {
		return chain.Review{}, err
	}
	user := review.Status.UserInfo
	if user.Username == "" && !slices.Contains(user.Groups, "system:authenticated") {
		return chain.Review{}, c.notKubernetes(got, "a SelfSubjectReview without a user", nil)
	}
	return chain.Review{Username: user.Username, Groups: user.Groups}, nil
}

// reviewRefused reads a refusal. Authentication comes before authorization, so a 403 that names a user has accepted the token.
func (c *Conn) reviewRefused(got answer) (chain.Review, error) {
	if status, kubernetes := readStatus(got.body); kubernetes && got.status == http.StatusForbidden {
		switch user, _, ok := forbiddenUser(status); {
		case ok && user == anonymous:
			return chain.Review{Username: anonymous}, nil
		case ok:
			return chain.Review{Silent: true}, nil
		}
	}
	return chain.Review{}, c.answerError(got)
}
