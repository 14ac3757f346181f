// Faults of the steps credentials, sts and token: the AWS side of the chain.
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

var credentialsFaults = []Fault{
	failing(chain.StepCredentials, chain.ReasonNoCredentials, Fault{Name: "no-credentials", Target: runnerTarget, Meaning: "the runner's key is not in its environment", apply: func(s *Scene) error {
		s.Env["AWS_ACCESS_KEY_ID"], s.Env["AWS_SECRET_ACCESS_KEY"] = "", ""
		return nil
	}}),
	failing(chain.StepCredentials, chain.ReasonWebIdentityTokenMissing, Fault{Name: "token-file-missing", Target: deployTarget, Meaning: "the projected token is not mounted", apply: func(s *Scene) error {
		return os.Remove(filepath.Join(s.Dir, "token"))
	}}),
	failing(chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed, Fault{Name: "token-file-malformed", Target: deployTarget, Meaning: "the token file is empty", apply: func(s *Scene) error {
		return os.WriteFile(filepath.Join(s.Dir, "token"), nil, 0o600)
	}}),
	failing(chain.StepCredentials, chain.ReasonIdentityTokenExpired, Fault{Name: "identity-token-expired", Target: deployTarget, Meaning: "the kubelet no longer rotates the token", apply: func(s *Scene) error {
		return s.WriteToken(TokenClaims{IssuedAt: time.Now().Add(-25 * time.Hour), Expires: time.Now().Add(-time.Hour)})
	}}),
	failing(chain.StepCredentials, chain.ReasonUnexpectedPrincipal, Fault{Name: "unexpected-principal", Target: runnerTarget, Marks: "✖✔····", Meaning: "somebody else's keys are in the runner's environment", apply: func(s *Scene) error {
		s.Env["AWS_ACCESS_KEY_ID"], s.Env["AWS_SECRET_ACCESS_KEY"] = aliceKeyID, s.State.Users[aliceKeyID].SecretKey
		return nil
	}}),
}

var stsFaults = []Fault{
	failing(chain.StepSTS, chain.ReasonAssumeRoleDenied, Fault{Name: "assume-role-denied", Target: deployTarget, Meaning: "the role's trust policy no longer names the exporter", apply: state(func(s *State) {
		s.Roles[sceneRole("ci-deploy")].Trust = nil
	})}),
	failing(chain.StepSTS, chain.ReasonAssumeRoleDenied, Fault{Name: "external-id-changed", Target: deployTarget, Meaning: "the role wants another external id", apply: state(func(s *State) {
		s.Roles[sceneRole("ci-deploy")].Trust[0].ExternalID = "another"
	})}),
	failing(chain.StepSTS, chain.ReasonIRSATrustDenied, Fault{Name: "irsa-trust-denied", Target: deployTarget, Meaning: "the trust policy names another service account", apply: state(func(s *State) {
		s.Roles[exporterRole].Trust[0].Subject = "system:serviceaccount:monitoring:eks-slo-*"
	})}),
	failing(chain.StepSTS, chain.ReasonOIDCProviderMissing, Fault{Name: "oidc-provider-missing", Target: deployTarget, Meaning: "the account has no identity provider for the cluster's issuer", apply: state(func(s *State) {
		s.Providers[issuerURL].Removed = true
	})}),
	failing(chain.StepSTS, chain.ReasonOIDCThumbprintMismatch, Fault{Name: "oidc-thumbprint", Target: deployTarget, Meaning: "the issuer's certificate was rotated", apply: state(func(s *State) {
		s.Providers[issuerURL].Stale = true
	})}),
	failing(chain.StepSTS, chain.ReasonSTSUnreachable, Fault{Name: "sts-off", Target: deployTarget, Meaning: "STS drops every connection", apply: state(func(s *State) { s.Off["sts"] = true })}),
	failing(chain.StepSTS, chain.ReasonSTSUnreachable, Fault{Name: "sts-timeout", Target: deployTarget, Meaning: "the route to STS drops the packets", apply: func(s *Scene) error {
		hole, err := NewBlackhole()
		if hole, err = start(s, hole, err); err != nil {
			return err
		}
		s.Env["AWS_ENDPOINT_URL_STS"] = "https://" + hole.Addr()
		return nil
	}}),
	failing(chain.StepSTS, chain.ReasonSTSRegionDisabled, Fault{Name: "sts-region-disabled", Target: deployTarget, Meaning: "STS is not activated in the region", apply: state(func(s *State) {
		s.Disabled[SceneRegion] = true
	})}),
	failing(chain.StepSTS, chain.ReasonCredentialsInvalid, Fault{Name: "key-deleted", Target: runnerTarget, Meaning: "the runner's key was deleted", apply: state(func(s *State) { delete(s.Users, runnerKeyID) })}),
	failing(chain.StepSTS, chain.ReasonSignatureInvalid, Fault{Name: "key-mistyped", Target: runnerTarget, Meaning: "the runner's secret key is mistyped", apply: func(s *Scene) error {
		s.Env["AWS_SECRET_ACCESS_KEY"] += "x"
		return nil
	}}),
	failing(chain.StepSTS, chain.ReasonClockAhead, Fault{Name: "clock-ahead", Target: deployTarget, Meaning: "the prober's clock is 20 minutes fast", apply: func(s *Scene) error {
		return s.shiftClock(-20 * time.Minute)
	}}),
	failing(chain.StepSTS, chain.ReasonClockBehind, Fault{Name: "clock-behind", Target: deployTarget, Meaning: "the prober's clock is 20 minutes slow", apply: func(s *Scene) error {
		return s.shiftClock(20 * time.Minute)
	}}),
	unsure(chain.StepSTS, chain.ReasonSTSThrottled, Fault{Name: "sts-throttled", Target: deployTarget, Marks: "✔?····", Meaning: "STS throttles AssumeRole", apply: state(func(s *State) { s.Throttle["AssumeRole"] = true })}),
}

var tokenFaults = []Fault{
	failing(chain.StepToken, chain.ReasonClusterNotFound, Fault{Name: "cluster-not-found", Target: deployTarget, Meaning: "the configuration names a cluster that does not exist", apply: func(s *Scene) error {
		s.Config = strings.Replace(s.Config, "{name: prod, ", "{name: prod, eks_name: prod-eu, ", 1)
		return nil
	}}),
	failing(chain.StepToken, chain.ReasonClusterNotActive, Fault{Name: "cluster-not-active", Target: deployTarget, Meaning: "the cluster is being deleted", apply: cluster("prod", func(c *Cluster) { c.Status = "DELETING" })}),
	failing(chain.StepToken, chain.ReasonClusterAccountMismatch, Fault{Name: "cluster-account-mismatch", Target: deployTarget, Meaning: "the observer reads another account's cluster of that name", apply: func(s *Scene) error {
		s.Config = strings.Replace(s.Config, `account_id: "111122223333"`, `account_id: "444455556666"`, 1)
		return nil
	}}),
	failing(chain.StepToken, chain.ReasonClusterIDMismatch, Fault{Name: "cluster-name-wrong", Target: deployTarget, Marks: "✔✔✖✔··", Meaning: "endpoint and CA are the cluster's, the name is not", apply: func(s *Scene) error {
		return s.override("eks_name: prod-old, ", "prod-ca.pem")
	}}),
	unsure(chain.StepToken, chain.ReasonEKSAPIThrottled, Fault{Name: "eks-throttled", Target: deployTarget, Marks: "✔✔?···", Meaning: "EKS throttles the first DescribeCluster", apply: state(func(s *State) { s.Throttle["DescribeCluster"] = true })}),
	unsure(chain.StepToken, chain.ReasonObserverDenied, Fault{Name: "observer-denied", Target: deployTarget, Marks: "✔✔?···", Meaning: "the observer may not read EKS", apply: state(func(s *State) { s.Roles[exporterRole].ReadsEKS = false })}),
	unsure(chain.StepToken, chain.ReasonObserverUnavailable, Fault{Name: "eks-off", Target: deployTarget, Marks: "✔✔?···", Meaning: "the EKS API drops every connection", apply: state(func(s *State) { s.Off["eks"] = true })}),
}

// shiftClock moves AWS' clock away from the local one; the kubelet's token follows AWS' clock.
func (s *Scene) shiftClock(offset time.Duration) error {
	s.State.ShiftClock(offset)
	return s.WriteToken(TokenClaims{IssuedAt: s.State.Now()})
}

// override configures prod's endpoint and CA, with more keys before them.
func (s *Scene) override(keys, caFile string) error {
	s.Config = strings.Replace(s.Config, "{name: prod, ", "{name: prod, "+keys+"endpoint: \""+s.Prod.Endpoint()+"\", ca_file: \""+filepath.ToSlash(filepath.Join(s.Dir, caFile))+"\", ", 1)
	return nil
}
