// What the adapters hand to the access chain's steps: the cluster as EKS describes it, the token, the review, entries and decisions.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "time"

// ClusterInfo is what DescribeCluster says of a cluster.
type ClusterInfo struct {
	Name      string
	ARN       string
	Status    string    // ACTIVE, CREATING, …
	Endpoint  string    // https URL
	CA        []byte    // PEM
	AuthMode  string    // CONFIG_MAP, API_AND_CONFIG_MAP or API
	PublicIPs []string  // publicAccessCidrs: who is let to the public endpoint
	Public    bool      // the public endpoint is on
	Private   bool      // the private endpoint is on
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
	Silent   bool // the token was accepted without a word for whom; else an empty Username is the apiserver's own answer
}

// Anonymous reports whether the apiserver saw no credential at all.
func (r Review) Anonymous() bool { return r.Username == "system:anonymous" }

// Decision is the authorizer's answer to one rule.
type Decision struct {
	Allowed     bool
	Reason      string // the authorizer's own words
	Error       string // evaluation errors, such as a binding to a role that does not exist
	MissingRole string // the first role that a binding names and that does not exist, as kubectl writes it: clusterrole/deployer; "" none
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
	OddKeys  []string // keys that are not spelled as the authenticator spells them, such as roleARN or group
	Problem  string   // what of the line did not parse, so that the line counts without it; "" nothing
}

// AWSAuth is the aws-auth ConfigMap as the authenticator reads it: sections are parsed apart, a broken one maps nobody.
type AWSAuth struct {
	Roles    []Mapping
	Users    []Mapping
	Accounts []string
	Strays   []Stray
	Broken   map[string]string // section → what is wrong with it
}
