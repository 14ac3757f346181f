// The observer's rights: exactly what the exporter generates from its configuration, applied as the YAML that it prints, is enough, and nothing of it may be missing.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	authorization "k8s.io/api/authorization/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/permissions"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// observerUser is the username that EKS gives an access entry without one (Amazon EKS User Guide, "Create access entries").
const observerUser = "arn:aws:sts::" + account + ":assumed-role/eks-slo-exporter/{{SessionName}}"

// object is one of RBAC, as YAML has it.
type object = unstructured.Unstructured

// generatedRBAC is what `check --print rbac --cluster prod` prints for a scene's configuration.
func generatedRBAC(t *testing.T, scene *sandbox.Scene) []object {
	t.Helper()
	loaded := configOf(t, scene)
	clusters := permissions.RBAC(permissions.Probes{Targets: slices.Concat(loaded.Access, loaded.Groups), Discoveries: loaded.Discoveries})
	clusters = slices.DeleteFunc(clusters, func(c permissions.Cluster) bool { return c.Cluster.Name != "prod" })
	var text bytes.Buffer
	if err := permissions.WriteRBAC(&text, clusters); err != nil {
		t.Fatal(err)
	}
	var objects []object
	for documents := yaml.NewYAMLOrJSONDecoder(&text, 4096); ; {
		var o object
		err := documents.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
}

// pathOf is where an object of RBAC is.
func pathOf(o object) string {
	return rbacPath(o.GetNamespace(), strings.ToLower(o.GetKind())+"s", o.GetName())
}

// right is what one rule of a role gives.
type right struct {
	role  object
	place int // of the rule
	spec  authorization.ResourceAttributes
}

// action is how a verdict names it.
func (r right) action() string {
	text := r.spec.Verb + " " + r.spec.Resource
	if r.spec.Group != "" {
		text += "." + r.spec.Group
	}
	if r.spec.Namespace != "" {
		text += " in " + r.spec.Namespace
	}
	return text
}

// rightsOf lists what roles give. Every generated rule is of one verb, one group and one resource; of several names the first stands for all.
func rightsOf(t *testing.T, objects []object) (all []right) {
	t.Helper()
	for _, o := range objects {
		var role rbac.Role
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			t.Fatal(err)
		}
		for i, rule := range role.Rules {
			if len(rule.Verbs) != 1 || len(rule.APIGroups) != 1 || len(rule.Resources) != 1 {
				t.Fatalf("the rule %v is not of one verb, one group and one resource", rule)
			}
			spec := authorization.ResourceAttributes{Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0], Namespace: o.GetNamespace()}
			if len(rule.ResourceNames) > 0 {
				spec.Name = rule.ResourceNames[0]
			}
			all = append(all, right{o, i, spec})
		}
	}
	return all
}

// grant makes these objects all the rights that observers have, and returns when kube-apiserver knows it.
func (w *albWorld) grant(t *testing.T, objects []object) {
	t.Helper()
	former := rightsOf(t, w.rbac)
	for _, o := range w.rbac {
		w.cluster.Delete(t.Context(), t, pathOf(o))
	}
	for _, r := range former {
		w.awaitRight(t, r, false)
	}
	for _, o := range objects {
		w.cluster.Apply(t.Context(), t, pathOf(o), &o)
	}
	w.rbac = objects
	for _, r := range rightsOf(t, objects) {
		w.awaitRight(t, r, true)
	}
}

// awaitRight returns when kube-apiserver gives the right to observers, or gives it no more.
func (w *albWorld) awaitRight(t *testing.T, r right, held bool) {
	t.Helper()
	await(t, func() bool {
		return held == w.cluster.Allows(t.Context(), t, authorization.SubjectAccessReviewSpec{User: observerUser, Groups: []string{permissions.Group}, ResourceAttributes: &r.spec})
	})
}

// without takes one rule out of its role for as long as f runs.
func (w *albWorld) without(t *testing.T, r right, f func()) {
	t.Helper()
	less := *r.role.DeepCopy()
	rules, _, err := unstructured.NestedSlice(less.Object, "rules")
	if err == nil {
		err = unstructured.SetNestedSlice(less.Object, slices.Delete(rules, r.place, r.place+1), "rules")
	}
	if err != nil {
		t.Fatal(err)
	}
	w.cluster.Apply(t.Context(), t, pathOf(less), &less)
	w.awaitRight(t, r, false)
	f()
	w.cluster.Apply(t.Context(), t, pathOf(r.role), &r.role)
	w.awaitRight(t, r, true)
}

// needs says where each right is needed. The configmap is read by targets of the other chain.
var needs = map[string]albRow{
	"list targetgroupbindings.elbv2.k8s.aws":        {fault: sandbox.Fault{Target: "shop"}},
	"get targetgroupbindings.elbv2.k8s.aws in shop": {fault: sandbox.Fault{Target: "web"}},
	"get services in shop":                          {fault: sandbox.Fault{Target: "shop"}},
	"list endpointslices.discovery.k8s.io in shop":  {fault: sandbox.Fault{Target: "shop"}},
	"list nodes":          {fault: sandbox.Fault{Target: "web"}},
	"list pods in shop":   {fault: sandbox.Fault{Target: "shop"}, happen: oneNotRegistered},
	"list events in shop": {fault: sandbox.Fault{Target: "shop"}, happen: oneNotRegistered},
}

// oneNotRegistered makes the binding's pods and events matter; two healthy targets are enough.
func oneNotRegistered(s *sandbox.State) {
	group := s.TargetGroup(sandbox.SceneShopGroup)
	group.Targets = group.Targets[:2]
}

// testRights takes each generated rule away, one at a time.
func (w *albWorld) testRights(t *testing.T) {
	seen := map[string]bool{}
	for i, r := range rightsOf(t, generatedRBAC(t, w.scene)) {
		action := r.action()
		if seen[action] = true; action == "get configmaps in kube-system" {
			continue
		}
		t.Run(action, func(t *testing.T) {
			need, known := needs[action]
			if !known {
				t.Fatal("nobody knows what this right is for")
			}
			w.become(t, need.scene(t))
			if run := w.probe(t, need.fault); run.Verdict.Outcome != chain.OutcomeSuccess {
				t.Errorf("with it, %s: %s", blamed(run), run.Verdict.Detail)
			}
			w.without(t, rightsOf(t, w.rbac)[i], func() { checkDenied(t, w.probe(t, need.fault), action) })
		})
	}
	for action := range needs {
		if !seen[action] {
			t.Errorf("the right to %s is not generated", action)
		}
	}
}

// checkDenied wants a run that could not tell whether what is in the group is what should be, but judged its health all the same.
func checkDenied(t *testing.T, run chain.Run, action string) {
	t.Helper()
	named := run.Facts()[chain.FactAction]
	if blamed(run) != "unknown registration/observer_denied" || named != action || run.Steps[1].Outcome != chain.OutcomeSuccess {
		t.Errorf("without it, %s %s; it names %q: %s", blamed(run), stepsOf(run), named, run.Verdict.Detail)
	}
	if testing.Verbose() {
		t.Logf("%s %s", stepsOf(run), run.Verdict.Detail)
	}
}
