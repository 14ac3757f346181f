// Reads of the cluster's objects through client-go's typed and dynamic clients, and the apiserver's words where there is nothing to read.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryv1client "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/rest"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var bindingResource = schema.GroupVersionResource{Group: "elbv2.k8s.aws", Version: "v1beta1", Resource: "targetgroupbindings"}

// objectReaders are client-go's clients of a cluster with the scene's objects.
type objectReaders struct {
	*kubeCluster
	token     string
	bindings  *dynamic.DynamicClient
	core      *corev1client.CoreV1Client
	discovery *discoveryv1client.DiscoveryV1Client
}

func newObjectReaders(t *testing.T) objectReaders {
	t.Helper()
	r := objectReaders{kubeCluster: newKubeCluster(t)}
	r.change(func(c *Cluster) {
		addSceneObjects(c)
		c.Entries[deployARN].Groups = []string{"eks-slo-exporter"}
	})
	r.token = r.deployToken(t)
	config := &rest.Config{Host: r.api.Endpoint(), BearerToken: r.token, Transport: r.transport(t), QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	var err error
	r.bindings, err = dynamic.NewForConfig(config)
	must(t, err)
	r.core, err = corev1client.NewForConfig(config)
	must(t, err)
	r.discovery, err = discoveryv1client.NewForConfig(config)
	must(t, err)
	return r
}

func TestObjectsByDynamicClient(t *testing.T) {
	r := newObjectReaders(t)
	one, err := r.bindings.Resource(bindingResource).Namespace("shop").Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	wantSame(t, one.Object["spec"], any(map[string]any{
		"targetGroupARN": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/fedcba9876543210", "targetType": "instance", "ipAddressType": "ipv4",
		"serviceRef": map[string]any{"name": "web", "port": int64(80)},
	}))
	all, err := r.bindings.Resource(bindingResource).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	wantSame(t, all.GetKind(), "TargetGroupBindingList")
	wantSame(t, namesOf(all.Items), []string{"shop", "web"})

	r.change(func(c *Cluster) { c.Objects.NoBindingKind = true })
	_, err = r.bindings.Resource(bindingResource).List(t.Context(), metav1.ListOptions{})
	wantSame(t, apierrors.IsNotFound(err), true)
	wantSame(t, r.do(t, "GET /apis/elbv2.k8s.aws/v1beta1/targetgroupbindings", r.token, "").body, "404 page not found\n")
}

func namesOf(items []unstructured.Unstructured) (names []string) {
	for _, item := range items {
		names = append(names, item.GetName())
	}
	return names
}

func TestObjectsByTypedClients(t *testing.T) {
	r := newObjectReaders(t)
	service, err := r.core.Services("shop").Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	wantSame(t, service.Spec.Ports[0].NodePort, int32(30080))
	endpoints, err := r.discovery.EndpointSlices("shop").List(t.Context(), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=shop"})
	must(t, err)
	wantSame(t, len(endpoints.Items), 1)
	wantSame(t, endpoints.Items[0].Endpoints[1].Addresses, []string{"10.0.2.12"})
	nodes, err := r.core.Nodes().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	wantSame(t, len(nodes.Items), 2)
	wantSame(t, nodes.Items[0].Spec.ProviderID, "aws:///eu-west-1a/i-0aaaaaaaaaaaaaaa1")
	pods, err := r.core.Pods("").List(t.Context(), metav1.ListOptions{LabelSelector: "app=shop", FieldSelector: "spec.nodeName=node-a"})
	must(t, err)
	wantSame(t, len(pods.Items), 2)
	wantSame(t, pods.Items[1].Name, "shop-3")
	elsewhere, err := r.core.Pods("elsewhere").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	wantSame(t, len(elsewhere.Items), 0)
}

// A fault changes an object, and the next read sees it.
func TestObjectsChange(t *testing.T) {
	r := newObjectReaders(t)
	r.change(func(c *Cluster) {
		delete(c.Objects.TargetGroupBindings, "shop/web")
		c.Objects.Nodes["node-b"].Labels[excludeLabel] = "true"
		c.Objects.EndpointSlices[sceneSlice].Endpoints[0].Conditions.Ready = new(false)
	})
	_, err := r.bindings.Resource(bindingResource).Namespace("shop").Get(t.Context(), "web", metav1.GetOptions{})
	wantSame(t, statusOf(t, err).Message, `targetgroupbindings.elbv2.k8s.aws "web" not found`)
	excluded, err := r.core.Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: excludeLabel})
	must(t, err)
	wantSame(t, len(excluded.Items), 1)
	endpoints, err := r.discovery.EndpointSlices("shop").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	wantSame(t, *endpoints.Items[0].Endpoints[0].Conditions.Ready, false)
}

func TestReport(t *testing.T) {
	r := newObjectReaders(t)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r.change(func(c *Cluster) {
		c.Objects.Report(chain.BindingRef{Namespace: "shop", Name: "shop"}, "FailedReconcile", "Failed reconcile due to a test", at)
	})
	warnings, err := r.core.Events("shop").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=TargetGroupBinding,involvedObject.name=shop,type=Warning"})
	must(t, err)
	wantSame(t, len(warnings.Items), 1)
	got := warnings.Items[0]
	wantSame(t, []string{got.Reason, got.Message, got.InvolvedObject.Namespace}, []string{"FailedReconcile", "Failed reconcile due to a test", "shop"})
	wantSame(t, got.LastTimestamp.UTC(), at)
	normal, err := r.core.Events("shop").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
	must(t, err)
	wantSame(t, normal.Items[0].Type, corev1.EventTypeNormal)
}

func TestObjectPages(t *testing.T) {
	r := newObjectReaders(t)
	r.change(func(c *Cluster) {
		for i := range 1200 {
			name := fmt.Sprintf("extra-%04d", i)
			c.Objects.Pods["shop/"+name] = scenePod(name, "10.1.0.1", "node-a", time.Now())
		}
	})
	var sizes []int
	names := map[string]bool{}
	options := metav1.ListOptions{Limit: 500}
	for {
		page, err := r.core.Pods("shop").List(t.Context(), options)
		must(t, err)
		sizes = append(sizes, len(page.Items))
		for _, pod := range page.Items {
			names[pod.Name] = true
		}
		if page.Continue == "" {
			wantSame(t, page.RemainingItemCount, (*int64)(nil))
			break
		}
		wantSame(t, *page.RemainingItemCount, int64(1203-len(names)))
		options.Continue = page.Continue
	}
	wantSame(t, sizes, []int{500, 500, 203})
	wantSame(t, len(names), 1203)
}

func TestObjectRefusals(t *testing.T) {
	r := newObjectReaders(t)
	r.change(func(c *Cluster) {
		c.Grants = append(c.Grants, Grant{Subject: "eks-slo-exporter", Verbs: []string{"*"}, Groups: []string{""}, Resources: []string{"services", "services/status"}})
	})
	for name, test := range map[string]struct {
		path, message string
		status        int
	}{
		"forbidden in a namespace": {"/api/v1/namespaces/shop/pods/shop-1",
			`pods "shop-1" is forbidden: User "ci:probe" cannot get resource "pods" in API group "" in the namespace "shop"`, http.StatusForbidden},
		"forbidden everywhere": {"/apis/discovery.k8s.io/v1/endpointslices?watch=true",
			`endpointslices.discovery.k8s.io is forbidden: User "ci:probe" cannot watch resource "endpointslices" in API group "discovery.k8s.io" at the cluster scope`, http.StatusForbidden},
		"a missing object":           {"/api/v1/namespaces/shop/services/none", `services "none" not found`, http.StatusNotFound},
		"an object without a place":  {"/api/v1/services/shop", "the server could not find the requested resource", http.StatusNotFound},
		"nodes in a namespace":       {"/api/v1/namespaces/shop/nodes", "the server could not find the requested resource", http.StatusNotFound},
		"a subresource":              {"/api/v1/namespaces/shop/services/shop/status", "the server could not find the requested resource", http.StatusNotFound},
		"a bad field":                {"/api/v1/events?fieldSelector=message%3Dx", "field label not supported: message", http.StatusBadRequest},
		"a bad field of a CRD":       {"/apis/elbv2.k8s.aws/v1beta1/targetgroupbindings?fieldSelector=spec.x%3Dx", `"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"`, http.StatusBadRequest},
		"a bad label":                {"/api/v1/pods?labelSelector=a%20b%20c", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt", http.StatusBadRequest},
		"a bad limit":                {"/api/v1/pods?limit=-1", `limit "-1" is not a whole number of at least 0`, http.StatusBadRequest},
		"a continue token of others": {"/api/v1/pods?continue=bm8", `continue key is not valid: "bm8" was made by nobody here`, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do(t, "GET "+test.path, r.token, "")
			var status metav1.Status
			must(t, json.Unmarshal([]byte(got.body), &status))
			wantSame(t, []any{got.status, status.Kind, status.Message}, []any{test.status, "Status", test.message})
		})
	}
}
