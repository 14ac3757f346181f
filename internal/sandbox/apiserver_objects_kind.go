// The kinds of objects that the sandbox's apiserver can read, one row each.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is what every kind can do.
type object interface {
	metav1.Object
	GetObjectKind() schema.ObjectKind
}

// objectKind is one row of the table.
type objectKind struct {
	schema.GroupVersionKind
	resource   string
	namespaced bool
	all        func(*Objects) iter.Seq2[string, object] // in the order of their keys
	fields     func(object) fields.Set                  // by which it can be selected
	checkField func(field string) error                 // refuses any other field
}

var objectKinds = []objectKind{
	newKind(bindingGroup, bindingVersion, "TargetGroupBinding", func(o *Objects) map[string]*TargetGroupBinding { return o.TargetGroupBindings }, nil),
	newKind("", "v1", "Service", func(o *Objects) map[string]*corev1.Service { return o.Services }, serviceFields),
	newKind(discoveryGroup, "v1", "EndpointSlice", func(o *Objects) map[string]*discoveryv1.EndpointSlice { return o.EndpointSlices }, nil),
	newKind("", "v1", "Node", func(o *Objects) map[string]*corev1.Node { return o.Nodes }, nodeFields),
	newKind("", "v1", "Pod", func(o *Objects) map[string]*corev1.Pod { return o.Pods }, podFields),
	newKind("", "v1", "Event", func(o *Objects) map[string]*corev1.Event { return o.Events }, eventFields),
}

// newKind makes a row. extra are the fields beside name and namespace; nil: none.
func newKind[T any, P interface {
	*T
	object
}](group, version, kind string, of func(*Objects) map[string]P, extra func(P) fields.Set,
) objectKind {
	if extra == nil {
		extra = func(P) fields.Set { return fields.Set{} }
	}
	return objectKind{
		GroupVersionKind: schema.GroupVersionKind{Group: group, Version: version, Kind: kind},
		resource:         strings.ToLower(kind) + "s",
		namespaced:       kind != "Node",
		all:              func(o *Objects) iter.Seq2[string, object] { return inOrder(of(o)) },
		fields: func(o object) fields.Set {
			set := fields.Set{}
			if p, ok := o.(P); ok {
				set = extra(p)
			}
			set["metadata.name"], set["metadata.namespace"] = o.GetName(), o.GetNamespace()
			return set
		},
		checkField: func(field string) error {
			known := extra(new(T))
			_, _, err := runtime.DefaultMetaV1FieldSelectorConversion(field, "")
			switch {
			case err == nil || known.Has(field):
				return nil
			case len(known) > 0:
				return fmt.Errorf("field label not supported: %s", field) // kubernetes pkg/apis/core/v1
			}
			return err
		},
	}
}

func inOrder[P object](objects map[string]P) iter.Seq2[string, object] {
	return func(yield func(string, object) bool) {
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			if !yield(key, objects[key]) {
				return
			}
		}
	}
}

// objectKindOf finds the kind that a request is about; false when objects of it cannot be read.
func objectKindOf(want attributes) (objectKind, bool) {
	i := slices.IndexFunc(objectKinds, func(k objectKind) bool {
		return k.Group == want.group && k.Version == want.version && k.resource == want.resource
	})
	if i < 0 || want.subresource != "" {
		return objectKind{}, false
	}
	return objectKinds[i], true
}

// The fields by which objects can be selected (kubernetes pkg/apis/core/v1 conversion.go), as far as they matter here.

func serviceFields(s *corev1.Service) fields.Set {
	return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
}

func nodeFields(n *corev1.Node) fields.Set {
	return fields.Set{"spec.unschedulable": strconv.FormatBool(n.Spec.Unschedulable)}
}

func podFields(p *corev1.Pod) fields.Set {
	return fields.Set{"spec.nodeName": p.Spec.NodeName, "status.phase": string(p.Status.Phase), "status.podIP": p.Status.PodIP}
}

func eventFields(e *corev1.Event) fields.Set {
	about := e.InvolvedObject
	return fields.Set{
		"involvedObject.kind": about.Kind, "involvedObject.namespace": about.Namespace, "involvedObject.name": about.Name, "involvedObject.uid": string(about.UID),
		"involvedObject.apiVersion": about.APIVersion, "reason": e.Reason, "type": e.Type, "source": e.Source.Component, "reportingComponent": e.ReportingController,
	}
}
