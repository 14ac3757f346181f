// Admission of a create: the namespace must exist, and whatever the cluster's admission makes of every write.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AdmissionFault is what admission makes of every write.
type AdmissionFault uint8

// The faults of admission.
const (
	AdmissionHealthy AdmissionFault = iota
	AdmissionPolicyDenies
	AdmissionWebhookDenies
	AdmissionWebhookDown // its service does not answer (C59)
)

// mutate is the admission that may change an object, before it is validated.
func (f AdmissionFault) mutate() error {
	if f != AdmissionWebhookDown {
		return nil
	}
	return apierrors.NewInternalError(errors.New(`failed calling webhook "mpod.elbv2.k8s.aws": failed to call webhook: ` +
		`Post "https://aws-load-balancer-webhook-service.kube-system.svc:443/mutate-v1-pod?timeout=10s": context deadline exceeded`))
}

// validate is the admission that may refuse it, after. A ValidatingAdmissionPolicy answers 422 by default, a webhook 403 (apiserver pkg/admission/plugin).
func (f AdmissionFault) validate(object *unstructured.Unstructured, want attributes) error {
	switch f {
	case AdmissionPolicyDenies:
		resource := schema.GroupResource{Group: want.group, Resource: want.resource}
		denied := apierrors.NewForbidden(resource, object.GetName(), errors.New("ValidatingAdmissionPolicy 'owned' with binding 'owned' denied request: every object names its owner"))
		denied.ErrStatus.Code, denied.ErrStatus.Reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
		return denied
	case AdmissionWebhookDenies:
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: `admission webhook "validate.policy.example.com" denied the request: every object names its owner`,
		}}
	case AdmissionHealthy, AdmissionWebhookDown:
	}
	return nil
}

// systemNamespaces are those that every cluster has.
var systemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease"}

// checkNamespace refuses a namespace that does not exist (apiserver pkg/admission/plugin/namespace/lifecycle). Those of the cluster's grants exist.
func (c *Cluster) checkNamespace(want attributes) error {
	if want.namespace == "" || slices.Contains(systemNamespaces, want.namespace) || slices.ContainsFunc(c.Grants, func(g Grant) bool { return g.Namespace == want.namespace }) {
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, want.namespace)
}

// roleNotFound is RBAC's answer about a role that a binding names.
func roleNotFound(kind, name string) error {
	resource := schema.GroupResource{Group: rbacGroup, Resource: "clusterroles"}
	if kind == "Role" {
		resource.Resource = "roles"
	}
	status := apierrors.NewNotFound(resource, name)
	status.ErrStatus.Message = fmt.Sprintf("%s.%s %q not found", resource.Resource, rbacGroup, name)
	return status
}
