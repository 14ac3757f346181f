// What a cluster says of a target group: its TargetGroupBinding, and the service, endpoints, nodes and pods behind it.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "time"

// Binding is a TargetGroupBinding (elbv2.k8s.aws/v1beta1).
type Binding struct {
	BindingRef
	GroupARN     string // spec.targetGroupARN
	GroupName    string // spec.targetGroupName, when the ARN is not given
	TargetType   string // instance or ip; "" when the controller has not filled it in
	Service      string // spec.serviceRef.name
	Port         string // spec.serviceRef.port: a number or a name
	MultiCluster bool   // spec.multiClusterTargetGroup
	RoleARN      string // spec.iamRoleArnToAssume: a group of another account
	ExternalID   Secret // spec.assumeRoleExternalId
	Created      time.Time
}

// Backends are what the controller should register for a binding.
type Backends struct {
	Service   Service
	Endpoints []Endpoint // of the service's port, from its EndpointSlices; those of all slices
	Unfit     Unfit      // what is in its EndpointSlices beside them
	Nodes     []Node     // of a binding of instances; of others none
}

// Unfit counts the endpoints of a service that no controller registers, by the first cause that holds.
type Unfit struct {
	Family int // addresses of the other family than the binding's
	Port   int // of a slice without the service's port, as when no container names its target port
	NoPod  int // of something else than a pod
}

// Service is a binding's service.
type Service struct {
	Found    bool
	Type     string // ClusterIP, NodePort, …
	NodePort int32  // of the binding's port; 0: none
	Selector map[string]string
	Local    bool     // externalTrafficPolicy Local: a node answers at the node port only while it runs a ready pod of the service
	Ports    []string // what it has instead of the binding's port, such as "8080 (http)"; nil: it has that one
}

// Endpoint is one address of an EndpointSlice.
type Endpoint struct {
	Address     string
	Port        int32
	Ready       bool
	Terminating bool
	Pod         string // name, in the binding's namespace; "" when it is no pod's
	Node        string
	Zone        string
}

// Node is a node of the cluster, as far as target groups care.
type Node struct {
	Name       string
	InstanceID string // from spec.providerID; "" when it is no EC2 instance
	Zone       string
	Ready      bool
	Excluded   bool // a label, or the binding's nodeSelector, keeps it out of load balancers
	Created    time.Time
}

// Pod is a pod behind a binding's service.
type Pod struct {
	Name            string
	Address         string
	Ready           bool
	ReadySince      time.Time // when Ready last changed
	ContainersReady bool
	Created         time.Time
	Gates           []ReadinessGate
}

// ReadinessGate is one target-health.elbv2.k8s.aws/BINDING gate of a pod.
type ReadinessGate struct {
	Binding string    // the name in the condition's type
	Set     bool      // the condition is there
	Passed  bool      // and true
	Since   time.Time // when it last changed; zero when it is not set
}

// BindingTrouble is what the warning events of a binding say of its controller since it last reconciled: the newest that is on the list of reasons, and the newest of all others.
type BindingTrouble struct {
	Reason Reason // controller_access_denied or tgb_network_reconcile_failed; "": no such event
	Text   string // the event's message, redacted
	Last   time.Time
	Other  string // the message of the newest warning that is on no list, redacted; it decides nothing
}
