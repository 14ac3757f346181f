// What the adapters hand to the access chain's steps: the cluster as EKS describes it, the token, the review, entries and decisions.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "time"

// ClusterInfo is what DescribeCluster says of a cluster.
type ClusterInfo struct {
	Name      string
	ARN       string
	Status    string // ACTIVE, CREATING, …
	Endpoint  string // https URL
	CA        []byte // PEM
	AuthMode  string // CONFIG_MAP, API_AND_CONFIG_MAP or API
	OIDC      string // issuer URL
	PublicIPs []string
	Public    bool
	Private   bool
	Read      time.Time // when it was read
}

// Authentication modes of an EKS cluster (EKS API, AccessConfigResponse).
const (
	AuthModeConfigMap       = "CONFIG_MAP"
	AuthModeAPIAndConfigMap = "API_AND_CONFIG_MAP"
	AuthModeAPI             = "API"
)

// ClusterStatusActive is the one status in which a cluster serves normally; UPDATING serves too.
const (
	ClusterStatusActive   = "ACTIVE"
	ClusterStatusUpdating = "UPDATING"
)

// Token is a presigned GetCallerIdentity URL for one cluster, as aws-iam-authenticator reads it.
type Token struct {
	Value       Secret    // k8s-aws-v1.…
	URL         Secret    // the presigned URL
	ClusterName string    // the x-k8s-aws-id that was signed
	Signed      time.Time // X-Amz-Date
	Expires     time.Time // the true end: min(15 minutes after Signed, the session's end)
}

// TokenLifetime is how long STS and the authenticator accept a presigned URL, whatever its X-Amz-Expires says (aws-iam-authenticator pkg/token).
const TokenLifetime = 15 * time.Minute

// Review is what the apiserver's authentication made of a token (SelfSubjectReview).
type Review struct {
	Username string
	Groups   []string
	UID      string
	Extra    map[string][]string // arn, canonicalArn, sessionName, accessKeyId, principalId
	Date     time.Time           // the apiserver's Date header; zero when it sent none
}

// Anonymous reports whether the apiserver saw no credential at all.
func (r Review) Anonymous() bool { return r.Username == "system:anonymous" }

// Decision is the authorizer's answer to one rule.
type Decision struct {
	Allowed bool
	Denied  bool   // an authorizer said no, rather than none said yes
	Reason  string // the authorizer's own words
	Error   string // evaluation errors, such as a binding to a role that does not exist
}

// AccessEntry is an EKS access entry.
type AccessEntry struct {
	PrincipalARN string
	Username     string
	Groups       []string
	Type         string
	Created      time.Time
}

// Mapping is one line of mapRoles or mapUsers in the aws-auth ConfigMap.
type Mapping struct {
	ARN      string // as written
	Username string
	Groups   []string
}

// AWSAuth is the aws-auth ConfigMap as the authenticator reads it: sections are parsed apart, a broken one maps nobody.
type AWSAuth struct {
	Roles    []Mapping
	Users    []Mapping
	Accounts []string
	Broken   map[string]string // section → what is wrong with it
}

// Timing is how long each phase of a new connection took; zero phases were not reached.
type Timing struct {
	DNS, TCP, TLS, HTTP time.Duration
}
