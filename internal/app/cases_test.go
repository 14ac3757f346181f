// Public failure reports, retold as scenes: each must get the verdict that its reporter would have needed.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// caseRow is one report: what happened, and what the product must say.
type caseRow struct {
	fault  string // of the sandbox's list, when one tells the story
	happen func(*testing.T, *sandbox.Scene)
	target string // when happen tells it
	adjust func(*chain.Target)
	want   string // "result step/reason"
	detail string // a part of the detail that the reporter would look for
}

const (
	deploy       = "ci-deploy@prod"
	runnerTarget = "runner@prod"
)

var cases = map[string]caseRow{
	"C01 a wildcard under an exact-match operator": {fault: "irsa-trust-denied", want: "failure sts/irsa_trust_denied", detail: "does not say which condition of the trust policy failed"},
	"C02 the OIDC provider's ARN has its host labels swapped": {target: deploy, happen: func(_ *testing.T, s *sandbox.Scene) {
		s.State.Change(func(st *sandbox.State) {
			st.Roles["arn:aws:iam::111122223333:role/eks-slo-exporter"].Trust[0].Issuer = "eu-west-1.oidc.eks.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
		})
	}, want: "failure sts/irsa_trust_denied", detail: "does not say which condition"},
	"C07 no region anywhere":                                     {target: deploy, adjust: func(t *chain.Target) { t.Cluster.Region = "" }, want: "failure credentials/region_unset", detail: "AWS_REGION is not used"},
	"C10 the projected token is no longer rotated":               {fault: "identity-token-expired", want: "failure credentials/identity_token_expired", detail: "expired at"},
	"C13 the role chain breaks at its second hop":                {fault: "assume-role-denied", want: "failure sts/assume_role_denied", detail: "hop 2 of 2"},
	"C14 a missing external id, whatever the text names":         {fault: "external-id-changed", want: "failure sts/assume_role_denied", detail: "need not be the cause"},
	"C17 static keys in the environment are another user's":      {fault: "unexpected-principal", want: "failure credentials/unexpected_principal", detail: "arn:aws:iam::111122223333:user/alice"},
	"C19 the private subnet has no way to STS":                   {fault: "sts-timeout", want: "failure sts/sts_unreachable"},
	"C22 the local clock is slow":                                {target: deploy, happen: clock(17 * time.Minute), want: "failure sts/clock_behind", detail: "17m0s behind"},
	"C23 the local clock is fast":                                {target: deploy, happen: clock(-6 * time.Minute), want: "failure sts/clock_ahead", detail: "6m0s ahead"},
	"C37 the creator of the cluster has no entry":                {fault: "not-mapped", want: "failure access_entry/not_mapped", detail: "no access entry for arn:aws:iam::111122223333:role/ci-release"},
	"C49 the cluster's security group does not admit the prober": {fault: "tcp-timeout", want: "failure endpoint/tcp_timeout", detail: "security group"},
	"C50 the public endpoint's allow-list omits the prober":      {fault: "tcp-timeout", want: "failure endpoint/tcp_timeout", detail: "allow-list of the public endpoint"},
	"C52 a private zone swallows the name":                       {fault: "dns-nxdomain", want: "failure endpoint/dns_nxdomain", detail: "knows no address for the name"},
	"C53 the configured endpoint is of a cluster that is gone":   {fault: "endpoint-stale", want: "failure endpoint/endpoint_stale", detail: "EKS says that prod is at"},
	"C55 the 403 is the proxy's":                                 {fault: "proxy-denied", want: "failure endpoint/proxy_denied", detail: "answered CONNECT"},
	"C58 the 429 is a start, not overload":                       {fault: "storage-initializing", want: "failure endpoint/apiserver_storage_initializing"},
	"C31 the role's path is kept in aws-auth":                    {fault: "aws-auth-role-path", want: "failure access_entry/aws_auth_role_path", detail: "role/team/viewer"},
	"C32 an assumed-role ARN in aws-auth":                        {fault: "aws-auth-assumed-role", want: "failure access_entry/aws_auth_assumed_role_arn"},
	"C41 the mapping needs an instance id":                       {fault: "username-template", want: "failure access_entry/username_template_unresolved"},
	"C47 the binding names a role that does not exist":           {fault: "role-not-found", want: "failure rbac/rbac_role_not_found", detail: "deploier"},
	"C04 no OIDC provider for the issuer":                        {fault: "oidc-provider-missing", want: "failure sts/oidc_provider_missing"},
	"C05 the issuer's thumbprint no longer matches":              {fault: "oidc-thumbprint", want: "failure sts/oidc_thumbprint_mismatch"},
	"an injected AWS_REGION changes nothing": {target: runnerTarget, happen: func(t *testing.T, s *sandbox.Scene) {
		if s.Env["AWS_REGION"] == "" || s.Env["AWS_REGION"] == sandbox.SceneRegion {
			t.Fatalf("AWS_REGION is %q, so nothing is shown", s.Env["AWS_REGION"])
		}
	}, want: "success"},
}

// clock moves AWS' clock and mints the token by it, as the cluster would.
func clock(offset time.Duration) func(*testing.T, *sandbox.Scene) {
	return func(t *testing.T, s *sandbox.Scene) {
		s.State.ShiftClock(offset)
		if err := s.WriteToken(sandbox.TokenClaims{IssuedAt: s.State.Now()}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCases(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			scene := newScene(t)
			target := c.target
			if c.fault != "" {
				fault, ok := sandbox.FaultNamed(c.fault)
				if !ok {
					t.Fatalf("there is no fault %s", c.fault)
				}
				if err := fault.Apply(scene); err != nil {
					t.Fatal(err)
				}
				target = fault.Target
			}
			if c.happen != nil {
				c.happen(t, scene)
			}
			run := probeAdjusted(t, scene, target, c.adjust)
			v := run.Verdict
			if got := strings.Trim(v.Outcome.String()+" "+v.Step.String()+"/"+string(v.Reason), " /"); got != c.want || !strings.Contains(v.Detail, c.detail) {
				t.Errorf("got  %s: %s\nwant %s: …%s…", got, v.Detail, c.want, c.detail)
			}
		})
	}
}
