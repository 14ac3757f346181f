// Faults of the sources pod_identity and instance_profile: the exporter's own node, and what AWS hands out there.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	podTarget  = "pod-agent@prod"
	nodeTarget = "node@prod"
)

var sourceFaults = []Fault{
	failing(chain.StepCredentials, chain.ReasonNoCredentials, Fault{Name: "pod-identity-not-injected", Target: podTarget, Meaning: "the webhook was down when the pod was made", apply: func(s *Scene) error {
		s.Env[agentURLVariable], s.Env[agentTokenVariable] = "", ""
		return nil
	}}),
	failing(chain.StepCredentials, chain.ReasonFellBackToNodeRole, Fault{Name: "node-role-fallback", Target: podTarget, Marks: "✖✔····", Meaning: "the webhook was down, and the SDK's default chain signs as the node", apply: func(s *Scene) error {
		for _, name := range []string{agentURLVariable, agentTokenVariable, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
			s.Env[name] = ""
		}
		s.Env["AWS_EC2_METADATA_DISABLED"] = "false"
		s.Config = strings.Replace(s.Config, "source: pod_identity", "source: default", 1)
		return nil
	}}),
	failing(chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing, Fault{Name: "pod-identity-association-missing", Target: podTarget, Meaning: "the service account's association was removed", apply: state(func(s *State) {
		s.PodIdentity.Associations = nil
	})}),
	failing(chain.StepCredentials, chain.ReasonPodIdentityAssociationMissing, Fault{Name: "pod-identity-node-denied", Target: podTarget, Meaning: "the node's role may not call EKS Auth", apply: state(func(s *State) {
		s.PodIdentity.NodeDenied = true
	})}),
	failing(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable, Fault{Name: "pod-identity-agent-down", Target: podTarget, Meaning: "the agent crashes, since it cannot bind its IPv6 address", apply: func(s *Scene) error {
		address, err := Refused()
		s.Env[agentURLVariable] = "http://" + address + agentPath
		return err
	}}),
	failing(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable, Fault{Name: "pod-identity-agent-timeout", Target: podTarget, Meaning: "a network policy drops the packets to the agent", apply: func(s *Scene) error {
		hole, err := NewBlackhole()
		if hole, err = start(s, hole, err); err != nil {
			return err
		}
		s.Env[agentURLVariable] = "http://" + hole.Addr() + agentPath
		return nil
	}}),
	failing(chain.StepCredentials, chain.ReasonPodIdentityAgentUnreachable, Fault{Name: "pod-identity-agent-intercepted", Target: podTarget, Meaning: "a proxy answers in the agent's place", apply: state(func(s *State) {
		s.PodIdentity.Intercepted = true
	})}),
	failing(chain.StepCredentials, chain.ReasonWebIdentityTokenMissing, Fault{Name: "pod-token-missing", Target: podTarget, Meaning: "the pod's token is not mounted", apply: func(s *Scene) error {
		return os.Remove(filepath.Join(s.Dir, podTokenFile))
	}}),
	failing(chain.StepCredentials, chain.ReasonWebIdentityTokenUnreadable, Fault{Name: "pod-token-unreadable", Target: podTarget, Meaning: "something else is mounted where the token should be", apply: func(s *Scene) error {
		path := filepath.Join(s.Dir, podTokenFile)
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Mkdir(path, 0o700)
	}}),
	failing(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed, Fault{Name: "pod-token-audience", Target: podTarget, Meaning: "the token is IRSA's, for another audience", apply: func(s *Scene) error {
		return s.WritePodToken(TokenClaims{Audience: []string{identityAudience}})
	}}),
	failing(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed, Fault{Name: "pod-token-of-another-cluster", Target: podTarget, Meaning: "the token is of another cluster", apply: state(func(s *State) {
		s.PodIdentity.Cluster = "elsewhere"
	})}),
	failing(chain.StepCredentials, chain.ReasonIdentityTokenExpired, Fault{Name: "pod-token-expired", Target: podTarget, Meaning: "the kubelet no longer rotates the token, and EKS Auth says so", apply: func(s *Scene) error {
		s.State.Change(func(st *State) { st.PodIdentity.Trusting = true })
		return s.WritePodToken(TokenClaims{IssuedAt: time.Now().Add(-24 * time.Hour), Expires: time.Now().Add(-time.Minute)})
	}}),
	failing(chain.StepCredentials, chain.ReasonIdentityTokenExpired, Fault{Name: "pod-token-expired-agent", Target: podTarget, Meaning: "the kubelet no longer rotates the token, and the agent says so", apply: func(s *Scene) error {
		return s.WritePodToken(TokenClaims{IssuedAt: time.Now().Add(-24 * time.Hour), Expires: time.Now().Add(-time.Minute)})
	}}),
	unsure(chain.StepCredentials, chain.ReasonEKSAuthThrottled, Fault{Name: "eks-auth-throttled", Target: podTarget, Marks: "?·····", Meaning: "EKS Auth throttles the agent", apply: state(func(s *State) {
		s.Throttle[opAssumeForPod] = true
	})}),
	failing(chain.StepCredentials, chain.ReasonIMDSUnreachable, Fault{Name: "imds-hop-limit", Target: nodeTarget, Meaning: "the hop limit of the metadata's answer is 1, and a pod is two hops away", apply: state(func(s *State) {
		s.Instance.HopLimited = true
	})}),
	failing(chain.StepCredentials, chain.ReasonIMDSUnreachable, Fault{Name: "imds-off", Target: nodeTarget, Meaning: "instance metadata is turned off", apply: state(func(s *State) {
		s.Instance.MetadataOff = true
	})}),
	failing(chain.StepCredentials, chain.ReasonInstanceProfileMissing, Fault{Name: "instance-profile-missing", Target: nodeTarget, Meaning: "the instance has no profile", apply: state(func(s *State) {
		s.Instance.RoleARN = ""
	})}),
}

var sourceSTSFaults = []Fault{
	failing(chain.StepSTS, chain.ReasonAssumeRoleDenied, Fault{Name: "pod-role-denied", Target: podTarget, Meaning: "the associated role trusts IRSA's provider, not Pod Identity", apply: state(func(s *State) {
		s.Roles[sceneRole(podRole)].Trust = nil
	})}),
	failing(chain.StepSTS, chain.ReasonAssumeRoleDenied, Fault{Name: "pod-role-untagged", Target: podTarget, Meaning: "the associated role allows sts:AssumeRole without sts:TagSession", apply: state(func(s *State) {
		s.Roles[sceneRole(podRole)].Trust[0].Untagged = true
	})}),
	failing(chain.StepSTS, chain.ReasonAssumeRoleDenied, Fault{Name: "instance-role-untrusted", Target: nodeTarget, Meaning: "the instance's role does not trust EC2", apply: state(func(s *State) {
		s.Roles[sceneRole(nodeRole)].Trust = nil
	})}),
	failing(chain.StepSTS, chain.ReasonSTSError, Fault{Name: "eks-auth-off", Target: podTarget, Meaning: "the node has no way to EKS Auth", apply: state(func(s *State) { s.Off["eks-auth"] = true })}),
	failing(chain.StepSTS, chain.ReasonSTSError, Fault{Name: "eks-auth-error", Target: podTarget, Meaning: "EKS Auth has a fault of its own", apply: state(func(s *State) { s.Failing[opAssumeForPod] = true })}),
}
