// The access chain: the ordered steps that prove that one identity still gets into one cluster.
//
// SPDX-License-Identifier: Apache-2.0

// Package probes runs the chains, one file per step, over small interfaces that the adapters (AWS, Kubernetes) fill.
package probes

import (
	"context"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Cloud signs in to AWS. Errors of every method here are *chain.Error (found with errors.As) unless they are the context's own.
// Implementations are safe for concurrent use, make one attempt per call and keep no session, unless the identity says reuse_session.
type Cloud interface {
	// Login opens the identity's configured source, and no other. It belongs to the step credentials: web identity tokens are read and checked here.
	Login(ctx context.Context, request LoginRequest) (Login, error)
	// Replay presents a token's presigned URL to STS as the authenticator would, and returns who STS says signed it. It needs no credentials.
	Replay(ctx context.Context, token chain.Token, region string) (chain.Principal, error)
}

// LoginRequest says who signs in, where, and in which run (the run's id becomes part of the session's name, for CloudTrail).
type LoginRequest struct {
	Identity chain.Identity
	Region   string
	RunID    string
}

// Login is an identity whose source answered.
type Login interface {
	// Facts tells the provider and, for irsa, the token's issuer, subject, audience and end.
	Facts() chain.Facts
	// Assume walks every AssumeRoleWithWebIdentity and AssumeRole hop, for real. It belongs to the step sts.
	Assume(ctx context.Context) (Session, error)
}

// Session is a signed-in principal.
type Session interface {
	// Facts tells the hops walked and the session's end.
	Facts() chain.Facts
	// Caller asks GetCallerIdentity at the regional endpoint.
	Caller(ctx context.Context) (chain.Principal, error)
	// Token presigns GetCallerIdentity for a cluster, for the canonical regional STS host. It makes no call.
	Token(ctx context.Context, clusterName string) (chain.Token, error)
	// Expires is the session's end; zero for credentials that do not end.
	Expires() time.Time
}

// Observer reads AWS with the cluster's observer identity, never with the one under test. Errors are *chain.Error, and but for a cluster that is not found they are unknown.
type Observer interface {
	// Cluster asks DescribeCluster. cluster_not_found is a failure of the step token; a throttled or denied read is unknown.
	Cluster(ctx context.Context, target chain.Target) (chain.ClusterInfo, error)
	// Token mints a token of the observer for the cluster, for reads at its apiserver.
	Token(ctx context.Context, target chain.Target) (chain.Token, error)
	Entries
	Principals
}

// Entries are the access entries of a cluster.
type Entries interface {
	// AccessEntry asks DescribeAccessEntry for a principal. found is false when EKS says there is none.
	AccessEntry(ctx context.Context, target chain.Target, principalARN string) (entry chain.AccessEntry, found bool, err error)
	// AccessEntries lists the principal ARNs that have an entry.
	AccessEntries(ctx context.Context, target chain.Target) ([]string, error)
	// AccessPolicies lists the access policies that are associated with a principal's entry.
	AccessPolicies(ctx context.Context, target chain.Target, principalARN string) ([]chain.AccessPolicy, error)
}

// Principals are the roles and users of IAM. An observer need not be allowed to read them.
type Principals interface {
	// Created asks IAM since when the caller's role or user exists: the very one that signed, by its unique id.
	Created(ctx context.Context, target chain.Target, principal chain.Principal) (time.Time, error)
}

// APIServer opens connections to Kubernetes API servers.
type APIServer interface {
	// Dial opens a NEW connection (DNS, TCP, TLS, HTTP, each timed) and asks /readyz without a token. Its *chain.Error names the phase that broke, and belongs to the step endpoint.
	// The facts are returned in every case. The caller closes the connection.
	Dial(ctx context.Context, endpoint Endpoint) (Conn, chain.Facts, error)
}

// Endpoint is where an apiserver is dialled.
type Endpoint struct {
	ClusterName string // for the clock skew metric
	URL         string
	CA          []byte // PEM; what the server's certificate must chain to
}

// Conn is one connection to an apiserver. Safe for concurrent use. Errors are *Unauthorized or *chain.Error; an answer that did not come in time wraps context.DeadlineExceeded.
type Conn interface {
	Questions
	Evidence
	// Close ends the connection.
	Close()
}

// Questions are what the chain asks with the token under test.
type Questions interface {
	// Review asks the apiserver who the token is: SelfSubjectReview v1, then older versions.
	Review(ctx context.Context, token chain.Token) (chain.Review, error)
	// Access asks one SelfSubjectAccessReview.
	Access(ctx context.Context, token chain.Token, rule chain.Rule) (chain.Decision, error)
	// DryRun tries one server-side dry-run write. A refusal is a *chain.Error of the step rbac.
	DryRun(ctx context.Context, token chain.Token, write chain.DryRun) error
}

// Evidence is what is looked at after a refusal.
type Evidence interface {
	// AWSAuth reads the aws-auth ConfigMap, with the observer's token. found is false when there is none.
	AWSAuth(ctx context.Context, token chain.Token) (auth chain.AWSAuth, found bool, err error)
	// ServedBy reports whether the server's certificate also chains to another CA (PEM).
	ServedBy(ca []byte) bool
}

// Unauthorized is the apiserver's 401: the token was refused, and nobody says why.
type Unauthorized struct {
	Date time.Time // the apiserver's Date header; zero when it sent none
}

// Error implements error.
func (*Unauthorized) Error() string { return "the apiserver answered 401 Unauthorized" }
