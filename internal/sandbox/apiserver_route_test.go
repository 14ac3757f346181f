// Access reviews, the aws-auth ConfigMap and dry-run creates through client-go, with the exact words of Kubernetes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestSelfSubjectAccessReview(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) {
		c.Entries[deployARN].Policies = []AssociatedPolicy{{ARN: policyPrefix + "AmazonEKSViewPolicy", Namespaces: []string{"shop"}}}
		c.Grants = append(c.Grants, Grant{Subject: "deployers", Missing: "gone"})
	})
	client := k.client(t, k.deployToken(t), authorizationv1.SchemeGroupVersion)
	review := func(spec authorizationv1.SelfSubjectAccessReviewSpec) (got authorizationv1.SelfSubjectAccessReview, err error) {
		err = client.Post().Resource("selfsubjectaccessreviews").Body(&authorizationv1.SelfSubjectAccessReview{Spec: spec}).Do(t.Context()).Into(&got)
		return got, err
	}
	const missing = `rbac: RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found`
	for name, test := range map[string]struct {
		resource *authorizationv1.ResourceAttributes
		path     *authorizationv1.NonResourceAttributes
		want     authorizationv1.SubjectAccessReviewStatus
	}{
		"a grant": {resource: &authorizationv1.ResourceAttributes{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "shop"},
			want: authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: `RBAC: allowed by RoleBinding "deployers/shop" of Role "deployers" to Group "deployers"`}},
		"a policy": {resource: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods", Namespace: "shop"},
			want: authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: `EKS Access Policy: allowed by RoleBinding "` + deployARN + "+" + policyPrefix +
				`AmazonEKSViewPolicy/shop" of ClusterRole "` + policyPrefix + `AmazonEKSViewPolicy" to User "AROADEPLOY"`}},
		"neither": {resource: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "log", Name: "web", Namespace: "stage"},
			want: authorizationv1.SubjectAccessReviewStatus{Reason: missing}},
		"a path": {path: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/metrics"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := review(authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: test.resource, NonResourceAttributes: test.path})
			must(t, err)
			wantSame(t, got.Status, test.want)
		})
	}
	_, err := review(authorizationv1.SelfSubjectAccessReviewSpec{})
	wantSame(t, statusOf(t, err).Message, `SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`)
	wantSame(t, k.state.Count("SelfSubjectAccessReview"), 5)
	wantSame(t, k.state.Count("TokenReview"), 1)
}

func TestAWSAuthConfigMap(t *testing.T) {
	k := newKubeCluster(t)
	client := k.client(t, k.deployToken(t), corev1.SchemeGroupVersion)
	read := func(name string) (got corev1.ConfigMap, err error) {
		err = client.Get().Namespace("kube-system").Resource("configmaps").Name(name).Do(t.Context()).Into(&got)
		return got, err
	}
	_, err := read("aws-auth")
	wantSame(t, statusOf(t, err).Message, `configmaps "aws-auth" is forbidden: User "ci:probe" cannot get resource "configmaps" in API group "" in the namespace "kube-system"`)
	k.change(func(c *Cluster) {
		c.Entries[deployARN].Policies = []AssociatedPolicy{{ARN: policyPrefix + "AmazonEKSViewPolicy"}}
	})
	_, err = read("aws-auth")
	wantSame(t, statusOf(t, err).Message, `configmaps "aws-auth" not found`)
	k.change(func(c *Cluster) { c.AWSAuth = map[string]string{"mapRoles": "- x"} })
	configMap, err := read("aws-auth")
	must(t, err)
	wantSame(t, configMap.Data, map[string]string{"mapRoles": "- x"})
	err = client.Get().Namespace("shop").Resource("configmaps").Name("aws-auth").Do(t.Context()).Error()
	wantSame(t, statusOf(t, err).Message, `configmaps "aws-auth" not found`) // elsewhere it is any ConfigMap
	_, err = read("other")
	wantSame(t, statusOf(t, err).Message, `configmaps "other" not found`)
	wantSame(t, k.calls(), []Call{
		{"authenticator", "TokenReview", ""}, {"apiserver", "GetConfigMap", "Forbidden"}, {"apiserver", "GetConfigMap", "NotFound"},
		{"apiserver", "GetConfigMap", ""}, {"apiserver", "GetConfigMap", "NotFound"}, {"apiserver", "GetConfigMap", "NotFound"},
	})
}

// TestForbiddenTellsWhy: the authorizer's reason is part of the 403's text.
func TestForbiddenTellsWhy(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) { c.Grants = []Grant{{Subject: "deployers", Missing: "namespace-reader"}} })
	err := k.client(t, k.deployToken(t), corev1.SchemeGroupVersion).Get().Resource("namespaces").Do(t.Context()).Error()
	wantSame(t, statusOf(t, err), metav1.Status{
		Status: "Failure", Code: 403, Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{Kind: "namespaces"},
		Message: `namespaces is forbidden: User "ci:probe" cannot list resource "namespaces" in API group "" at the cluster scope: rbac: RBAC: clusterrole.rbac.authorization.k8s.io "namespace-reader" not found`,
	})
}

func TestDryRunCreate(t *testing.T) {
	k := newKubeCluster(t)
	client := k.client(t, k.deployToken(t), appsv1.SchemeGroupVersion)
	create := func(namespace string, object metav1.ObjectMeta, options metav1.CreateOptions) (made appsv1.Deployment, err error) {
		err = client.Post().Namespace(namespace).Resource("deployments").VersionedParams(&options, scheme.ParameterCodec).Body(&appsv1.Deployment{ObjectMeta: object}).Do(t.Context()).Into(&made)
		return made, err
	}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	made, err := create("shop", metav1.ObjectMeta{GenerateName: "canary-"}, dry)
	must(t, err)
	if made.Namespace != "shop" || len(made.Name) != len("canary-")+5 || made.UID == "" || made.CreationTimestamp.IsZero() {
		t.Errorf("made %+v", made.ObjectMeta)
	}
	for want, try := range map[string]func() error{
		`deployments.apps is forbidden: User "ci:probe" cannot create resource "deployments" in API group "apps" in the namespace "stage"`: func() error {
			_, err := create("stage", metav1.ObjectMeta{Name: "canary"}, dry)
			return err
		},
		`the namespace of the provided object does not match the namespace sent on the request`: func() error {
			_, err := create("shop", metav1.ObjectMeta{Name: "canary", Namespace: "stage"}, dry)
			return err
		},
		`Deployment.apps "" is invalid: metadata.name: Required value: name or generateName is required`: func() error {
			_, err := create("shop", metav1.ObjectMeta{}, dry)
			return err
		},
		`the server does not allow this method on the requested resource`: func() error {
			_, err := create("shop", metav1.ObjectMeta{Name: "canary"}, metav1.CreateOptions{})
			return err
		},
	} {
		wantSame(t, statusOf(t, try()).Message, want)
	}
	wantSame(t, k.state.Count("DryRunCreate"), 4)
}

func TestMalformedCreates(t *testing.T) {
	k := newKubeCluster(t)
	k.change(func(c *Cluster) {
		c.Grants = []Grant{{Subject: "deployers", Verbs: anything, Groups: anything, Resources: anything}}
	})
	token := k.deployToken(t)
	for name, test := range map[string]struct {
		path, body string
		headers    []string
		status     int
		message    string
	}{
		"not JSON": {"/api/v1/namespaces/shop/pods?dryRun=All", "kind: Pod", nil, 400,
			"couldn't get version/kind; json parse error: invalid character 'k' looking for beginning of value"},
		"another kind": {"/api/v1/namespaces/shop/pods?dryRun=All", `{"kind":"Service","apiVersion":"v1"}`, nil, 400,
			`Service in version "v1" cannot be handled as a Pod: no kind "Service" is registered for version "v1"`},
		"no namespace":   {"/api/v1/pods?dryRun=All", `{}`, nil, 404, "the server could not find the requested resource"},
		"a cluster's":    {"/api/v1/namespaces?dryRun=All", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"new"}}`, nil, 201, ""},
		"protobuf":       {"/api/v1/namespaces/shop/pods?dryRun=All", "k8s\x00", []string{"Content-Type", "application/vnd.kubernetes.protobuf"}, 415, "the body of the request was in an unknown format - accepted media types include: application/json"},
		"protobuf alone": {"/api/v1/namespaces/shop/pods?dryRun=All", "{}", []string{"Accept", "application/vnd.kubernetes.protobuf"}, 406, "only the following media types are accepted: application/json"},
		"protobuf first": {"/api/v1/namespaces?dryRun=All", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"new"}}`, []string{"Accept", "application/vnd.kubernetes.protobuf,application/json"}, 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := k.do(t, "POST "+test.path, token, test.body, test.headers...)
			wantSame(t, got.status, test.status)
			var status metav1.Status
			must(t, json.Unmarshal([]byte(got.body), &status))
			wantSame(t, status.Message, test.message)
		})
	}
}
