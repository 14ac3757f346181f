// Tests of the reason table: the closed lists, in their order, and what every row must hold.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// contract is the closed list of each step, in the order in which it is documented. These names are label values: changing one is a breaking change.
var contract = []struct {
	step    Step
	reasons string
}{
	{StepCredentials, `region_unset no_credentials profile_invalid instance_profile_missing pod_identity_association_missing web_identity_token_missing
		web_identity_token_unreadable web_identity_token_malformed identity_token_expired pod_identity_agent_unreachable imds_unreachable unexpected_principal fell_back_to_node_role`},
	{StepSTS, `sts_unreachable irsa_trust_denied irsa_audience_mismatch oidc_provider_missing oidc_thumbprint_mismatch assume_role_denied sts_wrong_partition
		sts_region_scope_mismatch session_token_region_invalid credentials_expired credentials_invalid signature_invalid clock_ahead clock_behind sts_region_disabled sts_error`},
	{StepToken, `token_malformed token_expired token_signing_credentials_expired token_not_sent cluster_id_mismatch cluster_account_mismatch cluster_not_found cluster_not_active`},
	{StepEndpoint, `endpoint_not_configured endpoint_stale dns_nxdomain dns_failure tcp_refused tcp_timeout proxy_denied tls_ca_mismatch tls_expired tls_name_mismatch tls_failure
		http_timeout apiserver_error apiserver_storage_initializing apiserver_flow_control`},
	{StepAccessEntry, `not_mapped access_entry_principal_recreated access_entry_shadows_aws_auth access_entry_invalid_group aws_auth_role_path aws_auth_assumed_role_arn
		aws_auth_unknown_key aws_auth_duplicate_entry aws_auth_unparseable username_template_unresolved unexpected_username unexpected_groups clock_skew_presigned
		authenticator_unavailable authenticator_throttled unauthorized_unexplained`},
	{StepRBAC, `denied access_entry_without_policy access_policy_scope access_policy_excludes_resource rbac_role_not_found rbac_escalation_denied excess_permission
		admission_denied admission_webhook_unavailable`},
	{StepRegistration, `target_group_missing target_group_not_attached target_az_not_enabled no_targets no_ready_endpoints binding_missing service_type_mismatch
		controller_access_denied tgb_network_reconcile_failed node_excluded target_group_shared readiness_gate_stale`},
	{StepHealth, `health_check_code_mismatch health_check_timeout health_check_failed initial_stuck below_min_healthy all_unhealthy_fail_open elb_internal_error`},
	{StepRequest, `dns_failure tcp_failure tls_failure timeout status_mismatch body_mismatch`},
	{StepNone, `observer_denied observer_unavailable not_measurable sts_throttled eks_auth_throttled eks_api_throttled elb_api_throttled read_failed overrun missed_slot`},
}

func TestReasonsAreTheContract(t *testing.T) {
	total := 0
	for _, c := range contract {
		var got []string
		for _, row := range ReasonsOf(c.step) {
			got = append(got, string(row.Reason))
		}
		if want := strings.Fields(c.reasons); !slices.Equal(got, want) {
			t.Errorf("step %q has the reasons\n%v\nwant\n%v", c.step, got, want)
		}
		total += len(got)
	}
	if got := len(Reasons()); got != total {
		t.Errorf("the table has %d rows, the steps have %d", got, total)
	}
}

func TestReasonsFollowTheChains(t *testing.T) {
	var got []Step
	for _, row := range Reasons() {
		if len(got) == 0 || got[len(got)-1] != row.Step {
			got = append(got, row.Step)
		}
	}
	want := append(append(KindAccess.Steps(), KindALB.Steps()...), StepNone)
	if !slices.Equal(got, want) {
		t.Errorf("the table's steps are %v, want %v", got, want)
	}
}

func TestReasonRows(t *testing.T) {
	label := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	seen := map[[2]string]bool{}
	for _, row := range Reasons() {
		name := row.Step.String() + "/" + string(row.Reason)
		key := [2]string{row.Step.String(), string(row.Reason)}
		if seen[key] || !label.MatchString(string(row.Reason)) {
			t.Errorf("%s: is there twice, or is no label value", name)
		}
		seen[key] = true
		for what, text := range map[string]string{"meaning": row.Meaning, "evidence": row.Evidence} {
			if !sentence.MatchString(text) {
				t.Errorf("%s: the %s is no sentence on one line, without placeholders: %q", name, what, text)
			}
		}
		if len(row.Meaning) > 240 || len(row.Evidence) > 260 {
			t.Errorf("%s: too long to be read at night (%d and %d bytes)", name, len(row.Meaning), len(row.Evidence))
		}
	}
}

var (
	sentence    = regexp.MustCompile(`^[A-Z][^{}\n]{20,}[.)]$`)
	opening     = regexp.MustCompile(`^[A-Z0-9]`)
	destructive = regexp.MustCompile(`(?i)\bdelete\b|delete-|\bremove-|deregister|terminate|destroy|detach|disassociate|revoke|\brm\b|\bdrain\b|--force|--overwrite|-replace`)
)

func TestReasonFixes(t *testing.T) {
	for _, row := range Reasons() {
		name := row.Step.String() + "/" + string(row.Reason)
		fix := strings.Split(row.Fix, "\n")
		if len(fix) > 4 {
			t.Errorf("%s: the fix has %d lines, at most 4 are read", name, len(fix))
		}
		for _, line := range fix {
			switch {
			case strings.TrimSpace(line) != line || line == "":
				t.Errorf("%s: a line of the fix is empty or has blanks around it: %q", name, line)
			case !isCommand(line) && !opening.MatchString(line):
				t.Errorf("%s: a line of the fix is neither a known command nor a sentence: %q", name, line)
			case isCommand(line) && destructive.MatchString(line):
				t.Errorf("%s: a command of the fix destroys something: %q", name, line)
			}
		}
	}
}

// An AWS command in a target's region names that region: the caller's default is another one at the worst moment.
func TestFixCommandsNameTheRegion(t *testing.T) {
	regional := regexp.MustCompile(`^aws (eks|elbv2|logs|cloudtrail|service-quotas) `)
	for _, row := range Reasons() {
		for line := range strings.SplitSeq(row.Fix, "\n") {
			if regional.MatchString(line) && !strings.Contains(line, "--region {region}") && !strings.Contains(line, "EXPORTER_CLUSTER") {
				t.Errorf("%v/%s: no region in %q", row.Step, row.Reason, line)
			}
		}
	}
}

func TestLookupReason(t *testing.T) {
	cases := map[string]struct {
		step   Step
		reason Reason
		in     Step
		ok     bool
	}{
		"its own step":            {StepAccessEntry, ReasonNotMapped, StepAccessEntry, true},
		"a name of two steps":     {StepRequest, ReasonDNSFailure, StepRequest, true},
		"the same at the other":   {StepEndpoint, ReasonDNSFailure, StepEndpoint, true},
		"unknown":                 {StepNone, ReasonOverrun, StepNone, true},
		"unknown, seen at a step": {StepToken, ReasonEKSAPIThrottled, StepNone, true},
		"another step's":          {StepRBAC, ReasonNotMapped, StepNone, false},
		"a step's without a step": {StepNone, ReasonNotMapped, StepNone, false},
		"no such name":            {StepRBAC, "no_such", StepNone, false},
		"empty":                   {StepNone, "", StepNone, false},
	}
	for name, c := range cases {
		row, ok := LookupReason(c.step, c.reason)
		if ok != c.ok || ok && (row.Step != c.in || row.Reason != c.reason) || !ok && row != (ReasonInfo{}) {
			t.Errorf("%s: got %v/%s, %v; want step %v, %v", name, row.Step, row.Reason, ok, c.in, c.ok)
		}
	}
}

func TestReasonsCannotBeChanged(t *testing.T) {
	Reasons()[0].Fix = "changed"
	ReasonsOf(StepCredentials)[0].Fix = "changed"
	if row, _ := LookupReason(StepCredentials, ReasonRegionUnset); row.Fix == "changed" {
		t.Error("a caller can change the table")
	}
}
