// Public failure cases on the sandbox's cluster: each shows its client what the case says, so that a probe has to find the cause as it would outside.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// seen is what a client can see: its SelfSubjectReview, and one SelfSubjectAccessReview for "list pods".
type seen struct {
	Unauthorized bool
	Username     string
	Groups       []string
	Allowed      bool
	Reason       string
}

func (k *kubeCluster) look(t *testing.T, token string) seen {
	t.Helper()
	review, err := k.review(t, token)
	if apierrors.IsUnauthorized(err) {
		return seen{Unauthorized: true}
	}
	must(t, err)
	access := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"},
	}}
	must(t, k.client(t, token, authorizationv1.SchemeGroupVersion).Post().Resource("selfsubjectaccessreviews").Body(&access).Do(t.Context()).Into(&access))
	return seen{Username: review.Status.UserInfo.Username, Groups: review.Status.UserInfo.Groups, Allowed: access.Status.Allowed, Reason: access.Status.Reason}
}

func TestCases(t *testing.T) {
	const sessionARN = "arn:aws:sts::111122223333:assumed-role/ci-deploy/probe"
	mapRole := func(line string) map[string]string { return map[string]string{"mapRoles": line} }
	onlyConfigMap := func(c *Cluster, data map[string]string) { c.AuthMode, c.AWSAuth = chain.AuthModeConfigMap, data }
	readers := Grant{Subject: "readers", Verbs: []string{"list"}, Groups: []string{""}, Resources: []string{"pods"}}
	tests := map[string]struct {
		fault func(c *Cluster)
		want  seen
	}{
		"C31 a role path kept in aws-auth": {
			func(c *Cluster) {
				onlyConfigMap(c, mapRole("- {rolearn: 'arn:aws:iam::111122223333:role/team/ci-deploy', username: ci}"))
			}, seen{Unauthorized: true}},
		"C32 an assumed-role ARN in aws-auth": {
			func(c *Cluster) { onlyConfigMap(c, mapRole("- {rolearn: '"+sessionARN+"', username: ci}")) }, seen{Unauthorized: true}},
		"C34 the same role twice, the last line counts": {
			func(c *Cluster) {
				onlyConfigMap(c, mapRole("- {rolearn: '"+deployARN+"', username: ci, groups: [readers]}\n- {rolearn: '"+deployARN+"', username: ci, groups: [guests]}\n"))
				c.Grants = []Grant{readers}
			}, seen{Username: "ci", Groups: []string{"guests", "system:authenticated"}}},
		"C35 aws-auth that does not parse": {
			func(c *Cluster) { onlyConfigMap(c, mapRole("- rolearn: "+deployARN+"\n username: ci: x\n")) }, seen{Unauthorized: true}},
		"C35 aws-auth wiped": {func(c *Cluster) { onlyConfigMap(c, map[string]string{}) }, seen{Unauthorized: true}},
		"C37 the creator has no entry": {
			func(c *Cluster) { c.Entries = nil }, seen{Unauthorized: true}},
		"C38 the entry hides the groups of aws-auth": {
			func(c *Cluster) {
				c.AuthMode, c.AWSAuth = chain.AuthModeAPIAndConfigMap, mapRole("- {rolearn: '"+deployARN+"', username: ci, groups: [readers]}")
				c.Entries[deployARN].Username, c.Entries[deployARN].Groups = "", nil
				c.Grants = []Grant{readers}
			}, seen{Username: sessionARN, Groups: []string{"system:authenticated"}}},
		"C41 the mapping needs an instance": {
			func(c *Cluster) {
				onlyConfigMap(c, mapRole("- {rolearn: '"+deployARN+"', username: 'system:node:{{EC2PrivateDNSName}}', groups: ['system:nodes']}"))
			}, seen{Unauthorized: true}},
		"C43 the webhook cannot be reached": {
			func(c *Cluster) { c.Fault.Authenticator = AuthenticatorDown }, seen{Unauthorized: true}},
		"C44 an entry that grants nothing": {
			func(c *Cluster) {
				c.Entries[deployARN].Username, c.Entries[deployARN].Groups, c.Grants = sessionARN, nil, nil
			}, seen{Username: sessionARN, Groups: []string{"system:authenticated"}}},
		"C47 a binding to a role that does not exist": {
			func(c *Cluster) { c.Grants = []Grant{{Subject: "deployers", Missing: "pod-reader"}} },
			seen{Username: "ci:probe", Groups: []string{"deployers", "system:authenticated"}, Reason: `rbac: RBAC: clusterrole.rbac.authorization.k8s.io "pod-reader" not found`}},
		"a healthy cluster": {
			func(c *Cluster) {
				c.Grants = []Grant{{Subject: "deployers", Verbs: anything, Groups: anything, Resources: anything}}
			},
			seen{Username: "ci:probe", Groups: []string{"deployers", "system:authenticated"}, Allowed: true,
				Reason: `RBAC: allowed by ClusterRoleBinding "deployers" of ClusterRole "deployers" to Group "deployers"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			k.change(test.fault)
			wantSame(t, k.look(t, k.deployToken(t)), test.want)
		})
	}
}

// TestTwoClusters share an account: a token is for one of them.
func TestTwoClusters(t *testing.T) {
	k := newKubeCluster(t)
	k.state.Change(func(s *State) {
		stage := testCluster("stage")
		stage.Entries = s.Clusters["prod"].Entries
		s.Clusters["stage"] = stage
	})
	stage, err := NewAPIServer(k.state, nil, "stage", STSEndpoint{Address: k.sts.Addr(), CAPEM: k.ca.PEM()})
	must(t, err)
	defer func() { must(t, stage.Close()) }()
	credentials := k.assume(t, deployARN, denyAll)
	for name, test := range map[string]struct {
		api  *APIServer
		want bool
	}{"prod": {k.api, true}, "stage": {stage, false}} {
		_, err := test.api.auth.authenticate(t.Context(), k.mint(t, credentials, "prod"))
		if (err == nil) != test.want {
			t.Errorf("prod's token at %s: %v", name, err)
		}
	}
	var authorities [2]string
	k.state.Change(func(s *State) {
		authorities = [2]string{string(s.Clusters["prod"].CAPEM), string(s.Clusters["stage"].CAPEM)}
	})
	if authorities[0] == authorities[1] || k.api.Endpoint() == stage.Endpoint() {
		t.Error("the clusters share an authority or an endpoint")
	}
}

// TestAnHonestRunIsCounted: what a cold run of one hop and three rules costs, and nothing else.
func TestAnHonestRunIsCounted(t *testing.T) {
	k := newKubeCluster(t)
	token := k.deployToken(t)
	wantSame(t, k.do(t, "GET /readyz", "", "").status, http.StatusOK)
	_, err := k.review(t, token)
	must(t, err)
	client := k.client(t, token, authorizationv1.SchemeGroupVersion)
	var asking sync.WaitGroup
	for _, resource := range []string{"pods", "nodes", "secrets"} {
		asking.Go(func() {
			access := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: resource},
			}}
			if err := client.Post().Resource("selfsubjectaccessreviews").Body(&access).Do(t.Context()).Error(); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	counts := map[string]int{}
	k.state.Change(func(s *State) {
		for _, call := range s.Calls {
			counts[call.Operation]++
		}
	})
	wantSame(t, counts, map[string]int{"AssumeRole": 1, "PresignedGetCallerIdentity": 1, "TokenReview": 1, "Readyz": 1, "SelfSubjectReview": 1, "SelfSubjectAccessReview": 3})
}
