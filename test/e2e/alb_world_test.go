// The world of the target group tests: the sandbox's scene, with a real cluster in the place of prod that holds the same objects.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/permissions"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/test/e2e/harness"
)

// albWorld is what the target group tests share. They run one after another.
type albWorld struct {
	scene      *sandbox.Scene
	cluster    *harness.Cluster
	namespaces map[string]bool           // that were made
	held       map[string]map[string]any // what was made in them, by path
	rbac       []object                  // what observers are allowed
}

// startALB starts it without objects. The exporter's role has an access entry with the group of observers, which is allowed what its configuration needs.
func startALB(t *testing.T) *albWorld {
	t.Helper()
	scene := newScene(t, sandbox.Fault{})
	patient(scene)
	exporter := scene.State.Roles[scene.Env["AWS_ROLE_ARN"]]
	entry := harness.RoleMapping{RoleARN: exporter.ARN, Username: observerUser, Groups: []string{permissions.Group}}
	w := &albWorld{
		scene: scene, namespaces: map[string]bool{}, held: map[string]map[string]any{},
		cluster: harness.StartCluster(t.Context(), t, harness.Options{ClusterID: "prod", AWS: harness.AWSOf(t, scene), Entries: []harness.Entry{{RoleMapping: entry, RoleID: exporter.RoleID}}}),
	}
	scene.State.Change(func(s *sandbox.State) {
		prod := s.Clusters["prod"]
		prod.Endpoint, prod.CAPEM = w.cluster.URL, w.cluster.CA
	})
	return w
}

// patient gives each run of a scene more time than this machine will ever need.
func patient(scene *sandbox.Scene) {
	scene.Config = strings.NewReplacer("interval: 5s", "interval: 30s", "timeout: 3s", "timeout: 20s").Replace(scene.Config)
}

// become makes the world like another scene: AWS says the same, and the cluster holds the same objects. Who has no group there has no rights here.
func (w *albWorld) become(t *testing.T, like *sandbox.Scene) {
	t.Helper()
	var aws sandbox.State
	var objects sandbox.Objects
	mapped := true
	like.State.Change(func(s *sandbox.State) {
		aws.ELB, aws.Roles, aws.Throttle, aws.Off = s.ELB, s.Roles, s.Throttle, s.Off
		objects = s.Clusters["prod"].Objects
		mapped = len(s.Clusters["prod"].Entries[like.Env["AWS_ROLE_ARN"]].Groups) > 0
	})
	w.scene.State.Change(func(s *sandbox.State) { s.ELB, s.Roles, s.Throttle, s.Off = aws.ELB, aws.Roles, aws.Throttle, aws.Off })
	w.install(t, !objects.NoBindingKind)
	w.fill(t, objects)
	if mapped {
		w.grant(t, generatedRBAC(t, w.scene))
	} else {
		w.grant(t, nil)
	}
}

// albKind is a kind of the objects that the exporter reads.
type albKind struct {
	group, kind, resource string // group is the path of the API group and its version
	wide                  bool   // without namespaces
	status                bool   // which is a subresource
}

var (
	nodeKind    = albKind{"api/v1", "Node", "nodes", true, true}
	serviceKind = albKind{"api/v1", "Service", "services", false, false}
	podKind     = albKind{"api/v1", "Pod", "pods", false, true}
	sliceKind   = albKind{"apis/discovery.k8s.io/v1", "EndpointSlice", "endpointslices", false, false}
	bindingKind = albKind{"apis/elbv2.k8s.aws/v1beta1", "TargetGroupBinding", "targetgroupbindings", false, false}
	eventKind   = albKind{"api/v1", "Event", "events", false, false}
)

// fill makes the cluster hold these objects alone. What it holds already stays, and so is as old as it is; a status is written in any case.
func (w *albWorld) fill(t *testing.T, objects sandbox.Objects) {
	t.Helper()
	bindings := objects.TargetGroupBindings
	if objects.NoBindingKind {
		bindings = nil
	}
	wanted := slices.Concat(
		manifestsOf(t, nodeKind, objects.Nodes), manifestsOf(t, serviceKind, objects.Services), manifestsOf(t, podKind, objects.Pods),
		manifestsOf(t, sliceKind, objects.EndpointSlices), manifestsOf(t, bindingKind, bindings), manifestsOf(t, eventKind, objects.Events),
	)
	for path, held := range w.held {
		if !slices.ContainsFunc(wanted, func(m manifest) bool { return m.path == path && reflect.DeepEqual(m.object, held) }) {
			w.cluster.Delete(t.Context(), t, path)
			delete(w.held, path)
		}
	}
	for _, m := range wanted {
		if w.held[m.path] == nil {
			w.makeNamespace(t, m.namespace)
			w.cluster.Apply(t.Context(), t, m.path, m.object)
			w.held[m.path] = m.object
		}
		if m.status != nil {
			w.cluster.Apply(t.Context(), t, m.path+"/status", m.status)
		}
	}
}

// makeNamespace makes one with the service account that pods have; kube-controller-manager, which would make it, does not run here.
func (w *albWorld) makeNamespace(t *testing.T, name string) {
	t.Helper()
	if name == "" || w.namespaces[name] {
		return
	}
	w.cluster.Apply(t.Context(), t, "/api/v1/namespaces/"+name, core.Namespace{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta.ObjectMeta{Name: name}})
	w.cluster.Apply(t.Context(), t, "/api/v1/namespaces/"+name+"/serviceaccounts/default",
		core.ServiceAccount{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta.ObjectMeta{Name: "default", Namespace: name}})
	w.namespaces[name] = true
}

// manifest is an object of the sandbox as kube-apiserver takes it: without what that sets itself, and with what must be there though nobody reads it.
type manifest struct {
	namespace, path string
	object, status  map[string]any // the status is apart where it is a subresource, else nil
}

func manifestsOf[T any](t *testing.T, kind albKind, objects map[string]T) (all []manifest) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		all = append(all, kind.manifest(t, key, objects[key]))
	}
	return all
}

// manifest is the one of the object with this key, NAMESPACE/NAME or NAME.
func (k albKind) manifest(t *testing.T, key string, object any) manifest {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(k.group, "/")
	fields["apiVersion"], fields["kind"] = version, k.kind
	for _, own := range []string{"uid", "creationTimestamp", "resourceVersion"} {
		unstructured.RemoveNestedField(fields, "metadata", own)
	}
	switch k {
	case serviceKind:
		unstructured.RemoveNestedField(fields, "spec", "clusterIP")
	case podKind:
		if err := unstructured.SetNestedSlice(fields, []any{map[string]any{"name": "app", "image": "app"}}, "spec", "containers"); err != nil {
			t.Fatal(err)
		}
	}
	m := manifest{object: fields}
	if m.namespace, m.path = "", "/"+k.group+"/"+k.resource+"/"+key; !k.wide {
		namespace, name, _ := strings.Cut(key, "/")
		m.namespace, m.path = namespace, "/"+k.group+"/namespaces/"+namespace+"/"+k.resource+"/"+name
	}
	if k.status {
		m.status = maps.Clone(fields)
		delete(m.status, "spec")
		delete(fields, "status")
	}
	return m
}

// probe runs the target of a fault once, against the real cluster.
func (w *albWorld) probe(t *testing.T, fault sandbox.Fault) chain.Run {
	t.Helper()
	return probeScene(t, w.scene, fault)
}
