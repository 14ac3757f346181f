// Targets say what is probed: an identity on a cluster (access), or a target group (alb).
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "time"

// Source says where an identity's first credentials come from. Only the configured source is used: nothing falls through to another.
type Source string

// The credential sources.
const (
	SourceIRSA            Source = "irsa"
	SourcePodIdentity     Source = "pod_identity"
	SourceInstanceProfile Source = "instance_profile"
	SourceProfile         Source = "profile"
	SourceEnvironment     Source = "environment"
	SourceDefault         Source = "default"
)

// Sources lists every credential source.
var Sources = []Source{SourceIRSA, SourcePodIdentity, SourceInstanceProfile, SourceProfile, SourceEnvironment, SourceDefault}

// SessionPolicy says which inline session policy the last hop carries.
type SessionPolicy string

// The session policies: deny_all lets the session reach the cluster and do nothing in AWS.
const (
	SessionPolicyDenyAll SessionPolicy = "deny_all"
	SessionPolicyNone    SessionPolicy = "none"
)

// Identity is how to become an AWS principal: a credential source, then zero or more AssumeRole hops.
type Identity struct {
	Name            string
	Source          Source
	RoleARN         string // irsa: the role of the web identity; empty: AWS_ROLE_ARN
	TokenFile       string // irsa: the projected token; empty: AWS_WEB_IDENTITY_TOKEN_FILE
	Profile         string // profile: its name in the shared configuration files
	Hops            []Hop
	ExpectPrincipal string        // ARN of the role or user that GetCallerIdentity must show; empty: the role of the last hop, when there is one
	SessionPolicy   SessionPolicy // of the last hop
	ReuseSession    time.Duration // how long a session may serve further runs; 0: none, every run signs in anew
	Labels          map[string]string
}

// Expected returns the ARN that GetCallerIdentity must show: the configured one, else the role of the last hop; "" when any principal will do.
func (i Identity) Expected() string {
	switch {
	case i.ExpectPrincipal != "":
		return i.ExpectPrincipal
	case len(i.Hops) > 0:
		return i.Hops[len(i.Hops)-1].RoleARN
	case i.Source == SourceIRSA:
		return i.RoleARN
	}
	return ""
}

// Hop is one AssumeRole call.
type Hop struct {
	RoleARN        string
	ExternalIDFile string        // file that holds the external id, read at every run
	ExternalID     Secret        // the external id itself, where a TargetGroupBinding names it; the file wins
	Duration       time.Duration // 15 minutes to 12 hours (1 hour when it is not the first role)
}

// Cluster is one EKS cluster.
type Cluster struct {
	Name      string
	Region    string
	EKSName   string // the name at EKS, which the token is signed for
	AccountID string // when given, verified against DescribeCluster
	Observer  string // name of the identity that reads the EKS API; empty: nobody reads
	Endpoint  string // overrides DescribeCluster's endpoint
	CAFile    string // overrides DescribeCluster's certificate authority
	Labels    map[string]string
}

// Expect is what the cluster must map the identity to. Empty fields are not checked.
type Expect struct {
	Username string // may hold {{SessionName}} and {{AccountID}}, as a mapping does
	Groups   []string
}

// Target is what is probed: identity × cluster (access), or a target group (alb).
type Target struct {
	Name     string // identity@cluster, or the target group's
	Kind     Kind
	Identity Identity // access
	Cluster  Cluster  // alb: the cluster whose controller registers the group's targets; zero when none is named
	Observer Identity // the identity named by Cluster.Observer; zero when there is none
	Expect   Expect   // access
	Allow    []Rule
	Deny     []Rule
	DryRun   []DryRun
	Group    TargetGroup // alb
	Interval time.Duration
	Timeout  time.Duration // never above Interval
}

// DryRun is a server-side dry-run write: a rule whose empty object is made up from it, or a manifest file.
type DryRun struct {
	Rule         Rule
	ManifestFile string
}

// AccessName returns the name of the access target of an identity on a cluster.
func AccessName(identity, cluster string) string { return identity + "@" + cluster }
