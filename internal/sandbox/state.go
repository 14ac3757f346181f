// State is what the sandbox's servers share: the AWS account, its roles and keys, and the clusters.
//
// SPDX-License-Identifier: Apache-2.0

// Package sandbox is the other side of the wire, on loopback: an AWS account (STS, EKS), its clusters (authenticator, apiserver) and their faults, for demo and tests.
package sandbox

import (
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// User is an IAM user with a static access key.
type User struct {
	Name        string
	AccountID   string
	AccessKeyID string
	SecretKey   string
	UserID      string // AIDA…
	ReadsEKS    bool   // its policy allows eks:Describe* and eks:List* on every cluster
	ReadsELB    bool   // its policy allows elasticloadbalancing:Describe*
	Created     time.Time
}

// ARN is the user's, in the partition aws.
func (u *User) ARN() string { return "arn:aws:iam::" + u.AccountID + ":user/" + u.Name }

// Role is an IAM role.
type Role struct {
	ARN        string // with its path, when it has one
	RoleID     string // AROA…; a recreated role has another
	Trust      []Trust
	MaxSession time.Duration
	ReadsEKS   bool // its policy allows eks:Describe* and eks:List* on every cluster
	ReadsIAM   bool // its policy allows iam:GetRole and iam:GetUser
	ReadsELB   bool // its policy allows elasticloadbalancing:Describe*
	ManagesELB bool // its policy allows elasticloadbalancing:RegisterTargets and DeregisterTargets
	Created    time.Time
}

// Trust is one Allow statement of a role's trust policy.
type Trust struct {
	Principals []string // canonical IAM ARNs of users and roles that may AssumeRole, or account ids, or AWS services
	ExternalID string   // sts:ExternalId that must be sent; "" none
	Issuer     string   // OIDC issuer host and path of a web identity statement; "" not one
	Subject    string   // StringEquals on sub
	Audience   string   // StringEquals on aud
	Untagged   bool     // the statement does not allow sts:TagSession, without which a session with tags may not come in
}

// Session is what AssumeRole handed out.
type Session struct {
	AccessKeyID  string
	SecretKey    string
	SessionToken string
	ARN          string // assumed-role ARN
	UserID       string // AROA…:session
	AccountID    string
	Policy       string            // the inline session policy
	Tags         map[string]string // session tags, all transitive: they go along when the session assumes a further role
	Expires      time.Time
	Region       string // the one region whose services take it; "" any
}

// Refusal is an error that an operation answers whatever is asked.
type Refusal struct{ Code, Message string }

// Provider is an IAM OIDC identity provider.
type Provider struct {
	Issuer    string // https URL
	Audiences []string
	Removed   bool // No OpenIDConnect provider found
	Stale     bool // the thumbprint no longer matches
}

// Entry is an EKS access entry.
type Entry struct {
	chain.AccessEntry
	RoleID   string // the hidden id that EKS stored when the entry was made
	Policies []AssociatedPolicy
}

// AssociatedPolicy is an access policy with its scope: no namespaces means the cluster.
type AssociatedPolicy struct {
	ARN        string
	Namespaces []string
}

// Grant is one RBAC permission of a group or user; "*" matches anything, an empty Namespace is a ClusterRoleBinding.
type Grant struct {
	Subject   string // group or username
	Verbs     []string
	Groups    []string
	Resources []string // RESOURCE or RESOURCE/SUBRESOURCE
	Names     []string
	Namespace string
	Missing   string // the role does not exist: nothing is granted and reviews say RBAC: … "Missing" not found
}

// Cluster is one EKS cluster.
type Cluster struct {
	Name       string
	AccountID  string
	Region     string
	Status     string
	AuthMode   string
	Endpoint   string            // URL of the apiserver, as DescribeCluster says it; its server fills it in
	CAPEM      []byte            // the apiserver's authority
	OIDCIssuer string            // https URL of the cluster's OIDC issuer; "" none
	Entries    map[string]*Entry // by principal ARN
	AWSAuth    map[string]string // data of the kube-system/aws-auth ConfigMap; nil: there is none
	Grants     []Grant
	Objects    Objects
	Anonymous  Anonymous // what requests without a token are
	Fault      ClusterFault
}

// ClusterFault is what is wrong on the cluster's side; the zero value is a healthy cluster.
type ClusterFault struct {
	Endpoint      string // overrides what DescribeCluster says
	AnswerID      string // the name by which the authenticator knows the cluster, when it is not Name
	Hang          bool   // the apiserver accepts and never answers
	DropsToken    bool   // something before the apiserver takes the Authorization header away
	HTTPStatus    int    // every answer of the apiserver has this status, with a Kubernetes Status body
	StatusMessage string
	Authenticator AuthenticatorFault
	Admission     AdmissionFault
}

// AuthenticatorFault is what is wrong with the webhook behind the apiserver.
type AuthenticatorFault uint8

// The faults of an authenticator.
const (
	AuthenticatorHealthy AuthenticatorFault = iota
	AuthenticatorDown
	AuthenticatorThrottled
)

// Call is one request that a server of the sandbox answered, for tests that count.
type Call struct {
	Service   string // sts, eks, iam, elasticloadbalancing, authenticator, apiserver
	Operation string // AssumeRole, GetCallerIdentity, PresignedGetCallerIdentity, DescribeCluster, TokenReview, SelfSubjectReview, SelfSubjectAccessReview, …
	Code      string // the error code answered, or "" on success
}

// State is everything the servers share. Its methods are safe for concurrent use; Change runs under the lock.
type State struct {
	mu          sync.Mutex
	offset      time.Duration
	Users       map[string]*User     // by access key id
	Roles       map[string]*Role     // by ARN
	Sessions    map[string]*Session  // by access key id
	Providers   map[string]*Provider // by issuer URL
	Issuers     map[string]*OIDC     // by issuer URL: the keys that verify identity tokens
	Clusters    map[string]*Cluster  // by name
	Disabled    map[string]bool      // regions whose STS is deactivated
	Throttle    map[string]bool      // operations answered as throttled
	Failing     map[string]bool      // operations answered with a server error (HTTP 500)
	Refuse      map[string]Refusal   // operations answered with an error of their own (HTTP 403)
	Off         map[string]bool      // services that drop every connection: sts, eks, elasticloadbalancing, eks-auth, pod-identity-agent, imds
	PodIdentity PodIdentity          // the Pod Identity agent of the exporter's node, and EKS Auth behind it
	Instance    Instance             // the exporter's node
	ELB         LoadBalancing        // target groups and load balancers, of every account
	Calls       []Call
	sweepAt     int // how many Sessions there may be before those long ended are forgotten
}

// NewState returns an empty account.
func NewState() *State {
	return &State{
		Users: map[string]*User{}, Roles: map[string]*Role{}, Sessions: map[string]*Session{}, Providers: map[string]*Provider{},
		Clusters: map[string]*Cluster{}, Disabled: map[string]bool{}, Throttle: map[string]bool{}, Off: map[string]bool{},
		Issuers: map[string]*OIDC{}, Failing: map[string]bool{}, Refuse: map[string]Refusal{},
	}
}

// Change runs f under the lock.
func (s *State) Change(f func(s *State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// Now is the sandbox's clock: the local one plus the offset. The caller need not hold the lock.
func (s *State) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.offset)
}

// now is Now for a caller that holds the lock.
func (s *State) now() time.Time { return time.Now().Add(s.offset) }

// ShiftClock moves the sandbox's clock away from the local one; a negative shift makes the local clock look ahead.
func (s *State) ShiftClock(offset time.Duration) { s.Change(func(s *State) { s.offset = offset }) }

func (s *State) record(service, operation, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.Calls) < 100_000 {
		s.Calls = append(s.Calls, Call{service, operation, code})
	}
}

// Count returns how many calls of an operation were answered.
func (s *State) Count(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.Calls {
		if c.Operation == operation {
			n++
		}
	}
	return n
}
