// A target group is what an alb target probes: where it is, who reads it, which binding fills it, and the request that users make through it.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// TargetGroup says what an alb target probes, as configured or as discovered.
type TargetGroup struct {
	Region     string
	ARN        string     // "": the group is found by its name
	Name       string     // at ELB; "" when ARN is given by the configuration
	Observer   Identity   // reads the ELB API; for a group of another account with the binding's role as its last hop
	Binding    BindingRef // zero: no cluster is named, or none of its bindings
	MinHealthy int        // how many healthy targets are enough; at least 1
	Request    *Request   // nil: no request is made
	Labels     map[string]string
}

// AccountID is the account that the group's ARN names; "" while it is known by its name alone.
func (g TargetGroup) AccountID() string { return AccountOf(g.ARN) }

// Pool names whose API rate reads of the group use up, within its region: the account that its observer is expected to be in, since ELB counts the calls of the caller, whatever ARN it asks for; else
// that of the group's ARN, else the observer itself.
func (g TargetGroup) Pool() string {
	return cmp.Or(AccountOf(g.Observer.Expected()), g.AccountID(), "observer "+g.Observer.Name)
}

// GroupNameOf is the name within a target group's ARN, arn:PARTITION:elasticloadbalancing:REGION:ACCOUNT:targetgroup/NAME/ID; "" of another text.
func GroupNameOf(arn string) string {
	_, rest, _ := strings.Cut(arn, ":targetgroup/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// facts are what the configuration knows of the group.
func (g TargetGroup) facts(target string) Facts {
	facts := Facts{
		FactRegion: g.Region, FactAccountID: g.AccountID(), FactObserver: g.Observer.Name, FactTargetGroup: cmp.Or(GroupNameOf(g.ARN), g.Name, target), FactTargetGroupARN: g.ARN,
		FactBinding: g.Binding.Name, FactNamespace: g.Binding.Namespace, FactMinHealthy: strconv.Itoa(g.MinHealthy),
	}
	if g.Request != nil {
		facts[FactURL] = g.Request.URL
		if u, err := url.Parse(g.Request.URL); err == nil {
			facts[FactHost], facts[FactTLSName] = u.Hostname(), cmp.Or(g.Request.SNI, u.Hostname())
		}
	}
	return facts
}

// BindingRef names a TargetGroupBinding (elbv2.k8s.aws/v1beta1) in the target's cluster.
type BindingRef struct{ Namespace, Name string }

// IsZero reports whether no binding is named.
func (b BindingRef) IsZero() bool { return b == BindingRef{} }

// String is namespace/name, as kubectl writes it.
func (b BindingRef) String() string {
	if b.IsZero() {
		return ""
	}
	return b.Namespace + "/" + b.Name
}

// IPFamily says over which IP version a request goes.
type IPFamily string

// The IP families; IPFamilyAny takes what the resolver and the network give.
const (
	IPFamilyAny IPFamily = ""
	IPFamily4   IPFamily = "ipv4"
	IPFamily6   IPFamily = "ipv6"
)

// Request is a real HTTP request through the load balancer. Redirects are not followed: the answer is the first one.
type Request struct {
	URL          string // http or https, without user or password
	ExpectStatus []int  // never empty
	ExpectBody   string // regular expression (RE2) that the body must match somewhere; "": any body
	Host         string // overrides the Host header
	SNI          string // overrides the name of the TLS handshake, for which the certificate is verified
	CAFile       string // PEM; "": the system's authorities
	IPFamily     IPFamily
	Timeout      time.Duration
}

// Response is the answer to a Request.
type Response struct {
	Status    int // 0: no whole header came
	Header    http.Header
	Body      []byte // its first 64 KiB
	Truncated bool   // the body was longer
}

// Discovery finds alb targets at run time: the groups behind a load balancer, those with tags, or those that a cluster's bindings name. Exactly one of the three is set.
type Discovery struct {
	Name         string            // of the entry in the configuration
	LoadBalancer string            // ARN
	Tags         map[string]string // every one must be on the target group
	BindingsOf   bool              // every TargetGroupBinding of Template.Cluster
	Template     Target            // what every found target is like, but for its name and its group's ARN, name and binding
}
