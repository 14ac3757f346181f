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
	deployRole   = "arn:aws:iam::111122223333:role/ci-deploy"
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
	"C08 no variables injected, and a chain that falls back":     {fault: "node-role-fallback", want: "failure credentials/fell_back_to_node_role", detail: "session i-0123456789abcdef0 is an instance id"},
	"C08 no variables injected, and a source that does not":      {fault: "pod-identity-not-injected", want: "failure credentials/no_credentials", detail: "AWS_CONTAINER_CREDENTIALS_FULL_URI is not set"},
	"C10 the agent relays that the token is over":                {fault: "pod-token-expired", want: "failure credentials/identity_token_expired", detail: "must be before the expiration date/time"},
	"C11 the agent cannot bind its address":                      {fault: "pod-identity-agent-down", want: "failure credentials/pod_identity_agent_unreachable", detail: "connection refused"},
	"C11 the agent's address is swallowed":                       {fault: "pod-identity-agent-timeout", want: "failure credentials/pod_identity_agent_unreachable", detail: "no answer in time"},
	"C11 a proxy answers for the agent":                          {fault: "pod-identity-agent-intercepted", want: "failure credentials/pod_identity_agent_unreachable", detail: "something that is not the agent"},
	"C13 session tags of Pod Identity at the second hop": {target: "pod-agent@prod", happen: func(_ *testing.T, s *sandbox.Scene) {
		s.State.Change(func(st *sandbox.State) {
			st.Roles[deployRole].Trust = []sandbox.Trust{{Principals: []string{"arn:aws:iam::111122223333:role/pod-agent"}, Untagged: true}}
		})
	}, adjust: func(t *chain.Target) { t.Identity.Hops = []chain.Hop{{RoleARN: deployRole}} }, want: "failure sts/assume_role_denied", detail: "hop 2 of 2, from Pod Identity"},
	"C16 the hop limit keeps the metadata from pods":                  {fault: "imds-hop-limit", want: "failure credentials/imds_unreachable", detail: "hop limit"},
	"C34 the same role is mapped twice, and declared":                 {fault: "aws-auth-duplicate", want: "failure access_entry/aws_auth_duplicate_entry", detail: "the last one counts, with the groups guests"},
	"C34 the same role is mapped twice, and only a denial shows it":   {fault: "aws-auth-duplicate", adjust: undeclared, want: "failure access_entry/aws_auth_duplicate_entry", detail: "may not list pods"},
	"C35 a section of aws-auth is no YAML":                            {fault: "aws-auth-damaged", want: "failure access_entry/aws_auth_unparseable", detail: "mapRoles does not parse"},
	"C35 placeholders were left in aws-auth":                          {fault: "aws-auth-placeholders", want: "failure access_entry/unexpected_username", detail: `"<user name>" looks like a placeholder`},
	"C35 a tool wiped the lines of aws-auth":                          {fault: "not-mapped-aws-auth", want: "failure access_entry/not_mapped", detail: "no line in aws-auth"},
	"C38 the entry hides the groups of aws-auth":                      {fault: "entry-shadows-aws-auth", want: "failure access_entry/access_entry_shadows_aws_auth", detail: "hides the aws-auth line that gives deployers"},
	"C38 the entry hides the groups of aws-auth, and a denial tells":  {fault: "entry-shadows-aws-auth-denied", want: "failure access_entry/access_entry_shadows_aws_auth", detail: "may not list apps/deployments in shop"},
	"C40 an entry cannot hold system:masters":                         {fault: "entry-invalid-group", want: "failure access_entry/access_entry_invalid_group", detail: "an access policy takes its place"},
	"C43 the authenticator is gone, and so is the observer":           {fault: "authenticator-down", want: "failure access_entry/authenticator_unavailable", detail: "the apiserver refuses both"},
	"C43 the authenticator is gone, and nobody else's mapping proves": {fault: "unauthorized", want: "failure access_entry/unauthorized_unexplained", detail: "has no access entry"},
	"C44 an entry that grants nothing":                                {fault: "entry-without-policy", want: "failure rbac/access_entry_without_policy", detail: "neither an access policy nor a group"},
	"C46 the review says yes, the write is refused":                   {fault: "rbac-escalation", want: "failure rbac/rbac_escalation_denied", detail: "permissions not currently held"},
	"C59 a webhook of admission cannot be reached":                    {fault: "admission-webhook-down", want: "failure rbac/admission_webhook_unavailable", detail: "mpod.elbv2.k8s.aws"},
	"C20 signed for one region, sent to the global STS":               {fault: "sts-region-scope", want: "failure sts/sts_region_scope_mismatch", detail: "scoped to a valid region"},
	"C25 the token has passed its fifteen minutes":                    {fault: "token-expired", want: "failure token/token_expired"},
	"C26 the session that signed the token has ended":                 {fault: "session-ended", want: "failure token/token_signing_credentials_expired"},
	"C29 the bearer header never arrives":                             {fault: "token-dropped", want: "failure token/token_not_sent", detail: "system:anonymous"},
	"C56 DescribeCluster is throttled":                                {fault: "eks-throttled", want: "unknown token/eks_api_throttled"},
	"an injected AWS_REGION changes nothing": {target: runnerTarget, happen: func(t *testing.T, s *sandbox.Scene) {
		if s.Env["AWS_REGION"] == "" || s.Env["AWS_REGION"] == sandbox.SceneRegion {
			t.Fatalf("AWS_REGION is %q, so nothing is shown", s.Env["AWS_REGION"])
		}
	}, want: "success"},
}

// undeclared takes away what the configuration says of the mapping.
func undeclared(t *chain.Target) { t.Expect = chain.Expect{} }

// clock moves AWS' clock and mints the token by it, as the cluster would.
func clock(offset time.Duration) func(*testing.T, *sandbox.Scene) {
	return func(t *testing.T, s *sandbox.Scene) {
		s.State.ShiftClock(offset)
		if err := s.WriteToken(sandbox.TokenClaims{IssuedAt: s.State.Now()}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCases(t *testing.T) { tryCases(t, cases) }

func tryCases(t *testing.T, rows map[string]caseRow) {
	t.Helper()
	for name, c := range rows {
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
