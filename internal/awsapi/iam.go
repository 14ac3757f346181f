// The observer's read of IAM: since when a role or user exists. No observer needs to be allowed it.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Created asks GetRole or GetUser with the target's observer. IAM knows names of the observer's own account alone, so what it tells counts only when the unique id is the caller's.
// Errors are unknown, or the context's own.
func (c *Client) Created(ctx context.Context, target chain.Target, principal chain.Principal) (time.Time, error) {
	if err := checkRegion(target.Cluster.Region); err != nil {
		return time.Time{}, err
	}
	session, err := c.observerSession(ctx, clusterReader(target))
	if err != nil {
		return time.Time{}, err
	}
	kind, name := principalName(principal.Canonical())
	id, _, _ := strings.Cut(principal.UserID, ":")
	if name == "" || id == "" {
		return time.Time{}, chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("%s is neither a role nor a user of IAM, or its unique id is not known", principal.ARN), observerFacts(target), nil)
	}
	if err := c.eksReads.wait(ctx, budgetAccount(target), "iam"); err != nil {
		return time.Time{}, chain.Unsure(chain.ReasonObserverUnavailable, "reading IAM was not tried: the exporter's own budget, aws_api_budget.eks_reads_per_second, has no read left within the run's time", observerFacts(target), err)
	}
	seen := c.observe()
	found, err := askIAM(ctx, c.iam(target.Cluster.Region, session.provider(), seen), kind, name)
	if err != nil {
		return time.Time{}, iamError(ctx, target, name, answerOf(err, seen.seen()))
	}
	if found.id != id {
		return time.Time{}, chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("the %s %s that the observer %s can read in IAM is not the one that signed", kind, name, target.Observer.Name), observerFacts(target), nil)
	}
	return found.created, nil
}

func (c *Client) iam(region string, credentials aws.CredentialsProvider, seen *observation) *iam.Client {
	return iam.NewFromConfig(c.base, func(o *iam.Options) {
		o.Region, o.Credentials = region, credentials
		o.APIOptions = append(o.APIOptions, seen.attach)
	})
}

// principalName takes arn:…:role/PATH/NAME or arn:…:user/PATH/NAME apart; "" for any other principal.
func principalName(arn string) (kind, name string) {
	kind, name, found := strings.Cut(arn[strings.LastIndex(arn, ":")+1:], "/")
	if !found || kind != "role" && kind != "user" {
		return "", ""
	}
	return kind, name[strings.LastIndex(name, "/")+1:]
}

// iamPrincipal is what is read of a role or user.
type iamPrincipal struct {
	id      string
	created time.Time
}

func askIAM(ctx context.Context, api *iam.Client, kind, name string) (iamPrincipal, error) {
	if kind == "user" {
		out, err := api.GetUser(ctx, &iam.GetUserInput{UserName: aws.String(name)})
		if err != nil || out.User == nil {
			return iamPrincipal{}, err
		}
		return iamPrincipal{aws.ToString(out.User.UserId), aws.ToTime(out.User.CreateDate)}, nil
	}
	out, err := api.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
	if err != nil || out.Role == nil {
		return iamPrincipal{}, err
	}
	return iamPrincipal{aws.ToString(out.Role.RoleId), aws.ToTime(out.Role.CreateDate)}, nil
}

func iamError(ctx context.Context, target chain.Target, name string, a answer) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	reason := chain.ReasonObserverUnavailable
	switch a.code {
	case "AccessDenied", "AccessDeniedException":
		reason = chain.ReasonObserverDenied
	case "NoSuchEntity", "NoSuchEntityException":
		reason = chain.ReasonNotMeasurable
	}
	return chain.Unsure(reason, chain.Redact(fmt.Sprintf("reading %s in IAM as the observer %s: %s", name, target.Observer.Name, a.text())), observerFacts(target).Merge(a.facts()), a.err)
}
