// The reader on the sandbox's scene: what it reads there, as the observer, over TLS; and what it says when the observer may not.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const sceneGroup = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/"

// made is when the scene made everything.
func (s *sceneReader) made() (at time.Time) {
	s.objects(func(o *sandbox.Objects) { at = o.TargetGroupBindings["shop/shop"].CreationTimestamp.Time })
	return at
}

func TestReadBindings(t *testing.T) {
	s := newSceneReader(t)
	want := []chain.Binding{
		{BindingRef: shopRef, GroupARN: sceneGroup + "shop/0123456789abcdef", TargetType: "ip", Service: "shop", Port: "80", Created: s.made()},
		{BindingRef: webRef, GroupARN: sceneGroup + "web/fedcba9876543210", TargetType: "instance", Service: "web", Port: "80", Created: s.made()},
	}
	got, err := s.List(t.Context(), s.reads)
	must(t, err)
	wantSame(t, got, want)
	one, found, err := s.Binding(t.Context(), s.reads, webRef)
	must(t, err)
	wantSame(t, found, true)
	wantSame(t, one, want[1])
}

// A binding by the group's name, of a group of another account, that is shared.
func TestReadBindingOfAnotherAccount(t *testing.T) {
	s := newSceneReader(t)
	s.objects(func(o *sandbox.Objects) {
		spec := &o.TargetGroupBindings["shop/shop"].Spec
		spec.TargetGroupARN, spec.TargetGroupName, spec.TargetType, spec.MultiCluster = "", "shared", "", true
		spec.RoleARN, spec.ExternalID = "arn:aws:iam::444455556666:role/elb", "an external id"
		spec.ServiceRef.Port.Type, spec.ServiceRef.Port.StrVal = 1, "http"
	})
	got, found, err := s.Binding(t.Context(), s.reads, shopRef)
	must(t, err)
	wantSame(t, found, true)
	wantSame(t, got, chain.Binding{
		BindingRef: shopRef, GroupName: "shared", Service: "shop", Port: "http", MultiCluster: true,
		RoleARN: "arn:aws:iam::444455556666:role/elb", ExternalID: chain.NewSecret("an external id"), Created: s.made(),
	})
}

func TestReadNoBinding(t *testing.T) {
	s := newSceneReader(t)
	for _, kind := range []string{"installed", "not installed"} {
		_, found, err := s.Binding(t.Context(), s.reads, chain.BindingRef{Namespace: "shop", Name: "none"})
		must(t, err)
		if found {
			t.Errorf("found a binding that is not there, with the CRD %s", kind)
		}
		s.objects(func(o *sandbox.Objects) { o.NoBindingKind = true })
	}
	all, err := s.List(t.Context(), s.reads)
	must(t, err)
	wantSame(t, all, []chain.Binding(nil))
}

func TestReadPods(t *testing.T) {
	s := newSceneReader(t)
	s.objects(func(o *sandbox.Objects) {
		second := o.Pods["shop/shop-2"]
		second.Status.Conditions[2].Status, second.Status.Conditions[3].Status = "False", "False" // the gate, and so Ready
		third := o.Pods["shop/shop-3"]
		third.Status.Conditions = third.Status.Conditions[:1] // scheduled, and no more
		third.Spec.ReadinessGates = append(third.Spec.ReadinessGates, third.Spec.ReadinessGates[0])
		third.Spec.ReadinessGates[0].ConditionType = "example.com/other"
	})
	got, err := s.Pods(t.Context(), s.reads, "shop", app)
	must(t, err)
	made, since := s.made(), s.made().Add(time.Minute)
	gate := func(passed bool) []chain.ReadinessGate {
		return []chain.ReadinessGate{{Binding: "shop", Set: true, Passed: passed, Since: since}}
	}
	wantSame(t, got, []chain.Pod{
		{Name: "shop-1", Address: "10.0.1.11", Ready: true, ReadySince: since, ContainersReady: true, Created: made, Gates: gate(true)},
		{Name: "shop-2", Address: "10.0.2.12", ReadySince: since, ContainersReady: true, Created: made, Gates: gate(false)},
		{Name: "shop-3", Address: "10.0.1.13", Created: made, Gates: []chain.ReadinessGate{{Binding: "shop"}}},
	})
	none, err := s.Pods(t.Context(), s.reads, "shop", nil)
	must(t, err)
	wantSame(t, none, []chain.Pod(nil))
	_, err = s.Pods(t.Context(), s.reads, "shop", map[string]string{"a,b": "c d"})
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverUnavailable)
}

// Every method, as far as it is refused by RBAC, names what the observer may not do.
func TestReadDenied(t *testing.T) {
	for action, read := range map[string]func(*sceneReader, *testing.T) error{
		"get targetgroupbindings.elbv2.k8s.aws in shop": func(s *sceneReader, t *testing.T) error {
			_, _, err := s.Binding(t.Context(), s.reads, shopRef)
			return err
		},
		"list targetgroupbindings.elbv2.k8s.aws": func(s *sceneReader, t *testing.T) error { _, err := s.List(t.Context(), s.reads); return err },
		"list events in shop": func(s *sceneReader, t *testing.T) error {
			_, err := s.Trouble(t.Context(), s.reads, shopRef)
			return err
		},
		"list pods in shop": func(s *sceneReader, t *testing.T) error {
			_, err := s.Pods(t.Context(), s.reads, "shop", app)
			return err
		},
		"get services in shop":                         (*sceneReader).backendsOfWeb,
		"list endpointslices.discovery.k8s.io in shop": (*sceneReader).backendsOfWeb,
		"list nodes": (*sceneReader).backendsOfWeb,
	} {
		t.Run(action, func(t *testing.T) {
			s := newSceneReader(t)
			must(t, read(s, t))
			var verb, resource string
			_, err := fmt.Sscanf(action, "%s %s", &verb, &resource)
			must(t, err)
			s.change(func(_ *sandbox.State, prod *sandbox.Cluster) { prod.Grants = without(prod.Grants, verb, resource) })
			e := wantFailure(t, read(s, t), chain.StepNone, chain.ReasonObserverDenied)
			wantSame(t, e.Facts[chain.FactAction], action)
			wantSame(t, e.Facts[chain.FactHTTPStatus], "403")
		})
	}
}

func (s *sceneReader) backendsOfWeb(t *testing.T) error {
	_, err := s.Backends(t.Context(), s.reads, chain.Binding{BindingRef: webRef, TargetType: "instance", Service: "web", Port: "80"})
	return err
}

// without takes one verb on one resource out of every grant.
func without(grants []sandbox.Grant, verb, resource string) (left []sandbox.Grant) {
	for _, g := range grants {
		for _, r := range g.Resources {
			for _, v := range g.Verbs {
				full := r
				if g.Groups[0] != "" {
					full += "." + g.Groups[0]
				}
				if v == verb && full == resource {
					continue
				}
				left = append(left, sandbox.Grant{Subject: g.Subject, Namespace: g.Namespace, Verbs: []string{v}, Groups: g.Groups, Resources: []string{r}, Names: g.Names})
			}
		}
	}
	return left
}

// A cluster that does not know the observer refuses the token, and the new one as well.
func TestReadUnmapped(t *testing.T) {
	s := newSceneReader(t)
	s.change(func(_ *sandbox.State, prod *sandbox.Cluster) { clear(prod.Entries) })
	_, err := s.List(t.Context(), s.reads)
	wantFailure(t, err, chain.StepNone, chain.ReasonObserverDenied)
	if !errors.Is(err, ErrUnauthorized) {
		t.Errorf("%v does not wrap ErrUnauthorized", err)
	}
}

// 10,000 endpoints are read whole, in pages, and in bounded time.
func TestReadManyEndpoints(t *testing.T) {
	s := newSceneReader(t)
	s.objects(func(o *sandbox.Objects) {
		pattern := o.EndpointSlices["shop/shop-x7k2p"]
		o.EndpointSlices = map[string]*discoveryv1.EndpointSlice{}
		for i := range 400 { // more than a page
			slice := pattern.DeepCopy()
			slice.Name, slice.Endpoints = fmt.Sprintf("shop-%03d", i), nil
			for j := range 25 {
				e := pattern.Endpoints[0].DeepCopy()
				e.Addresses[0], e.TargetRef.Name = fmt.Sprintf("10.%d.%d.%d", i/100, i%100, j), fmt.Sprintf("shop-%d-%d", i, j)
				slice.Endpoints = append(slice.Endpoints, *e)
			}
			o.EndpointSlices["shop/"+slice.Name] = slice
		}
	})
	ctx := within(t, ample)
	got, err := s.Backends(ctx, s.reads, chain.Binding{BindingRef: shopRef, TargetType: "ip", Service: "shop", Port: "80"})
	must(t, err)
	wantSame(t, len(got.Endpoints), 10_000)
	wantSame(t, got.Endpoints[9_999].Pod, "shop-399-24")
	wantSame(t, s.scene.State.Count("list endpointslices"), 2)
}
