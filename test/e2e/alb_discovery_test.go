// Discovery: every TargetGroupBinding of a real cluster becomes a target, with the rights that are generated for it.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// boundConfig takes the place of the scene's target groups.
const boundConfig = "target_groups:\n  - {name: bound, bindings_of: prod, interval: 30s, timeout: 20s}\n"

// discovering makes a scene's configuration find target groups instead of naming them.
func discovering(scene *sandbox.Scene) {
	before, _, _ := strings.Cut(scene.Config, "target_groups:\n")
	scene.Config = before + boundConfig
}

// Target groups of other bindings than the scene's.
const (
	ordersGroup = "arn:aws:elasticloadbalancing:" + region + ":" + account + ":targetgroup/orders/00000000000000aa"
	farGroup    = "arn:aws:elasticloadbalancing:" + region + ":444455556666:targetgroup/far/00000000000000bb"
	farRole     = "arn:aws:iam::444455556666:role/elb-reader"
)

// bindMore adds bindings: one of another service for a group that has one, and two in another namespace, for groups that are in no load balancer's service. The first of those names its group, and
// the second's is in another account, where only the binding's role can be asked, with its external id.
func bindMore(exporter string) func(*sandbox.State) {
	return func(s *sandbox.State) {
		bindings := s.Clusters["prod"].Objects.TargetGroupBindings
		again, orders, far := *bindings["shop/shop"], *bindings["shop/shop"], *bindings["shop/shop"]
		again.Name, again.Spec.ServiceRef.Name = "shop-again", "other"
		orders.Namespace, orders.Name, orders.Spec.TargetGroupARN, orders.Spec.TargetGroupName = "pay", "orders", "", "orders"
		far.Namespace, far.Name, far.Spec.TargetGroupARN, far.Spec.RoleARN, far.Spec.ExternalID = "pay", "far", farGroup, farRole, "pay-external-id"
		bindings["shop/shop-again"], bindings["pay/orders"], bindings["pay/far"] = &again, &orders, &far
		for _, arn := range []string{ordersGroup, farGroup} {
			s.ELB.AddGroups(&sandbox.TargetGroup{ARN: arn, Protocol: "HTTP", Port: 8080, TargetType: chain.TargetTypeIP})
		}
		s.Roles[farRole] = &sandbox.Role{
			ARN: farRole, RoleID: roleID(farRole), MaxSession: time.Hour, ReadsELB: true, Trust: []sandbox.Trust{{Principals: []string{exporter}, ExternalID: "pay-external-id"}},
		}
	}
}

// discovered asks a scene's discoveries in a prober that knows nothing yet.
func discovered(t *testing.T, scene *sandbox.Scene) ([]chain.Target, error) {
	t.Helper()
	discoveries := configOf(t, scene).Discoveries // its environment is the prober's
	return proberOf(t, scene).DiscoverAll(t.Context(), discoveries, nil)
}

func (w *albWorld) testDiscovery(t *testing.T) {
	config := w.scene.Config
	discovering(w.scene)
	defer func() { w.scene.Config = config }()
	scene := newScene(t, sandbox.Fault{})
	discovering(scene)
	scene.State.Change(bindMore(scene.Env["AWS_ROLE_ARN"]))
	like, err := discovered(t, scene)
	if err != nil {
		t.Fatal(err)
	}
	w.become(t, scene)
	found, err := discovered(t, w.scene)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"orders  pay/orders", "shop " + sandbox.SceneShopGroup + " shop/shop", "web " + sandbox.SceneWebGroup + " shop/web", "far " + farGroup + " pay/far"}
	if got := namesOf(found); !slices.Equal(got, want) || !slices.Equal(got, namesOf(like)) {
		t.Errorf("found %q, in the sandbox %q, want %q", got, namesOf(like), want)
	}
	verdicts := map[string]string{}
	for _, target := range found {
		verdicts[target.Name] = blamed(runOnce(t, proberOf(t, w.scene), target))
	}
	const detached = "failure registration/target_group_not_attached"
	if want := map[string]string{"orders": detached, "far": detached, "shop": "failure registration/target_group_shared", "web": allGood}; !maps.Equal(verdicts, want) {
		t.Errorf("verdicts %q, want %q", verdicts, want)
	}
	w.testNothingDiscovered(t)
}

// testNothingDiscovered tells a cluster that has no such kind from one that says nothing.
func (w *albWorld) testNothingDiscovered(t *testing.T) {
	t.Run("without the kind", func(t *testing.T) {
		w.install(t, false)
		if found, err := discovered(t, w.scene); err != nil || len(found) > 0 {
			t.Errorf("found %q, error %v", namesOf(found), err)
		}
	})
	t.Run("without rights", func(t *testing.T) {
		w.grant(t, nil)
		_, err := discovered(t, w.scene)
		if e := chain.AsError(err); err == nil || e.Reason != chain.ReasonObserverDenied || e.Facts[chain.FactAction] != "list targetgroupbindings.elbv2.k8s.aws" {
			t.Errorf("error %v", err)
		}
	})
}

func namesOf(found []chain.Target) (names []string) {
	for _, target := range found {
		names = append(names, fmt.Sprintf("%s %s %s", target.Name, target.Group.ARN, target.Group.Binding))
	}
	return names
}
