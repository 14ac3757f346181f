// Resources and kinds: what client-go's own scheme knows is taken from there, other groups are asked of the apiserver.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// kindOf finds the version and kind of a rule's resource.
func (c *Conn) kindOf(ctx context.Context, token chain.Token, rule chain.Rule) (schema.GroupVersionKind, error) {
	if kind, ok := builtinKind(rule.Group, rule.Resource); ok {
		return kind, nil
	}
	if rule.Group == "" || scheme.Scheme.IsGroupRegistered(rule.Group) {
		return schema.GroupVersionKind{}, notMeasurable(rule, fmt.Sprintf("Kubernetes has no resource %q in the group %q", rule.Resource, rule.Group))
	}
	return c.customKind(ctx, token, rule)
}

// builtinKind looks in client-go's scheme, stable versions first.
func builtinKind(group, resource string) (schema.GroupVersionKind, bool) {
	for _, version := range scheme.Scheme.PrioritizedVersionsForGroup(group) {
		for name := range scheme.Scheme.KnownTypes(version) {
			kind := version.WithKind(name)
			if plural, _ := meta.UnsafeGuessKindToResource(kind); plural.Resource == resource {
				return kind, true
			}
		}
	}
	return schema.GroupVersionKind{}, false
}

// customKind asks the apiserver for the preferred version of a group, then for the kind of the resource in it.
func (c *Conn) customKind(ctx context.Context, token chain.Token, rule chain.Rule) (schema.GroupVersionKind, error) {
	var group metav1.APIGroup
	if err := c.ask(ctx, token, "/apis/"+rule.Group, "APIGroup", &group); err != nil {
		return schema.GroupVersionKind{}, unserved(err, rule)
	}
	version := schema.GroupVersion{Group: rule.Group, Version: group.PreferredVersion.Version}
	var list metav1.APIResourceList
	if err := c.ask(ctx, token, apiPath(version), "APIResourceList", &list); err != nil {
		return schema.GroupVersionKind{}, unserved(err, rule)
	}
	at := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == rule.Resource })
	if at < 0 {
		return schema.GroupVersionKind{}, notMeasurable(rule, fmt.Sprintf("the apiserver has no resource %q in %s", rule.Resource, version))
	}
	return version.WithKind(list.APIResources[at].Kind), nil
}

// errUnserved is returned by ask for what the apiserver does not serve, or not to this user.
type errUnserved struct{ status int }

// Error implements error.
func (e errUnserved) Error() string { return fmt.Sprintf("the apiserver answered %d", e.status) }

func unserved(err error, rule chain.Rule) error {
	if e, ok := errors.AsType[errUnserved](err); ok {
		return notMeasurable(rule, fmt.Sprintf("asked what the group %q holds, %v", rule.Group, e))
	}
	return err
}

func (c *Conn) ask(ctx context.Context, token chain.Token, path, kind string, into any) error {
	got, err := c.call(ctx, token, c.rest.Verb(http.MethodGet).AbsPath(path))
	_, kubernetes := readStatus(got.body)
	switch {
	case err != nil:
		return err
	case got.unserved(), kubernetes && got.status == http.StatusForbidden:
		return errUnserved{got.status}
	case !got.ok():
		return c.answerError(got)
	}
	return c.read(got, kind, into)
}

// clusterKinds are Kubernetes' own kinds that live in no namespace.
var clusterKinds = []string{
	"Namespace", "Node", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "StorageClass", "VolumeAttachment", "VolumeAttributesClass", "CSIDriver", "CSINode",
	"IngressClass", "IPAddress", "ServiceCIDR", "PriorityClass", "RuntimeClass", "FlowSchema", "PriorityLevelConfiguration", "CertificateSigningRequest", "ClusterTrustBundle",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy",
	"MutatingAdmissionPolicyBinding", "DeviceClass", "ResourceSlice", "StorageVersionMigration",
}

// namespaceOf returns where an object without a namespace goes, as kubectl has it: "default" for Kubernetes' own namespaced kinds. Kinds of other groups are taken to live in none.
func namespaceOf(kind schema.GroupVersionKind, written string) string {
	if written == "" && scheme.Scheme.Recognizes(kind) && !slices.Contains(clusterKinds, kind.Kind) {
		return metav1.NamespaceDefault
	}
	return written
}
