// Server-side dry-run creates: checked and answered as a create would be, and stored by nobody.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// createKinds are the resources that can be created, by group.
var createKinds = map[string]map[string]string{
	"": {
		"configmaps": "ConfigMap", "endpoints": "Endpoints", "events": "Event", "limitranges": "LimitRange", "namespaces": "Namespace",
		"persistentvolumeclaims": "PersistentVolumeClaim", "persistentvolumes": "PersistentVolume", "pods": "Pod", "podtemplates": "PodTemplate",
		"replicationcontrollers": "ReplicationController", "resourcequotas": "ResourceQuota", "secrets": "Secret", "serviceaccounts": "ServiceAccount", "services": "Service",
	},
	"apps": {
		"controllerrevisions": "ControllerRevision", "daemonsets": "DaemonSet", "deployments": "Deployment", "replicasets": "ReplicaSet", "statefulsets": "StatefulSet",
	},
	rbacGroup: {
		"clusterrolebindings": "ClusterRoleBinding", "clusterroles": "ClusterRole", "rolebindings": "RoleBinding", "roles": "Role",
	},
}

var clusterScoped = []string{"namespaces", "persistentvolumes", "clusterroles", "clusterrolebindings"}

// createAnswer echoes the object as it would have been stored, after what stands before: its namespace, admission that may change it, RBAC's own checks, validation, and admission that may refuse
// it, in the order of the real one. Without dryRun=All nothing can be created here.
func (a *APIServer) createAnswer(r *http.Request, user authenticationv1.UserInfo, want attributes) answer {
	kind, known := createKinds[want.group][want.resource]
	if !known || (want.namespace == "") != slices.Contains(clusterScoped, want.resource) {
		return errorAnswer(genericError(http.StatusNotFound, ""))
	}
	if !dryRun(r) {
		return errorAnswer(genericError(http.StatusMethodNotAllowed, ""))
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	if err := decodeBody(r, &object.Object); err != nil {
		return errorAnswer(err)
	}
	gvk := schema.GroupVersionKind{Group: want.group, Version: want.version, Kind: kind}
	if err := a.admit(object, gvk, user, want); err != nil {
		return errorAnswer(err)
	}
	object.SetNamespace(want.namespace)
	object.SetUID(types.UID(newRequestID()))
	object.SetCreationTimestamp(metav1.NewTime(a.state.Now()))
	return answer{status: http.StatusCreated, object: object.Object}
}

// admit is what stands between the request and the store.
func (a *APIServer) admit(object *unstructured.Unstructured, gvk schema.GroupVersionKind, user authenticationv1.UserInfo, want attributes) (err error) {
	a.state.Change(func(s *State) {
		c := s.Clusters[a.cluster]
		if c == nil {
			return
		}
		err = cmp.Or(
			checkKind(object, gvk, want.namespace),
			c.checkNamespace(want),
			c.Fault.Admission.mutate(),
			c.checkEscalation(object, user, want),
			checkName(object, gvk),
			c.Fault.Admission.validate(object, want),
		)
	})
	return err
}

// checkKind checks that the object is what the path says, in the path's namespace.
func checkKind(object *unstructured.Unstructured, gvk schema.GroupVersionKind, namespace string) error {
	if object.GroupVersionKind() != gvk {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q",
			object.GetKind(), object.GetAPIVersion(), gvk.Kind, object.GetKind(), object.GetAPIVersion()))
	}
	if own := object.GetNamespace(); own != "" && own != namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if prefix := object.GetGenerateName(); object.GetName() == "" && prefix != "" {
		object.SetName(prefix + rand.String(5))
	}
	return nil
}

// checkName is all that is left of validation here.
func checkName(object *unstructured.Unstructured, gvk schema.GroupVersionKind) error {
	if object.GetName() == "" {
		return apierrors.NewInvalid(gvk.GroupKind(), "", field.ErrorList{field.Required(field.NewPath("metadata", "name"), "name or generateName is required")})
	}
	return nil
}
