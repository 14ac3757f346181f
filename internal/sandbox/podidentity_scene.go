// The exporter's node in the scene: an instance with a role, and a Pod Identity agent with an association of the exporter's service account.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"time"
)

const (
	podRole  = "pod-agent"
	nodeRole = "node"

	podTokenFile       = "pod-token" // in the scene's folder
	agentURLVariable   = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
	agentTokenVariable = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
)

// node makes the two roles, and what AWS knows of the node. The exporter's pod belongs to prod.
func (s *Scene) node(st *State) {
	for name, service := range map[string]string{podRole: podPrincipal, nodeRole: ec2Principal} {
		st.Roles[sceneRole(name)] = &Role{ARN: sceneRole(name), RoleID: "AROASCENE" + name, MaxSession: 6 * time.Hour, Trust: []Trust{{Principals: []string{service}}}}
	}
	st.PodIdentity = PodIdentity{Cluster: "prod", Associations: map[string]string{"monitoring/eks-slo-exporter": sceneRole(podRole)}}
	st.Instance = Instance{ID: "i-0123456789abcdef0", RoleARN: sceneRole(nodeRole)}
}

func (s *Scene) nodeServers() error {
	agent, err := NewPodIdentityAgent(s.State)
	if s.Agent, err = start(s, agent, err); err != nil {
		return err
	}
	imds, err := NewIMDS(s.State)
	s.IMDS, err = start(s, imds, err)
	return err
}

// WritePodToken projects the token that the exporter's pod shows to the Pod Identity agent; the claims' zero fields are the good ones.
func (s *Scene) WritePodToken(claims TokenClaims) error {
	claims.Namespace, claims.ServiceAccount, claims.Pod = "monitoring", "eks-slo-exporter", "eks-slo-exporter-0"
	if claims.Audience == nil {
		claims.Audience = []string{podAudience}
	}
	return os.WriteFile(filepath.Join(s.Dir, podTokenFile), []byte(s.OIDC.Mint(claims)), 0o600)
}
