// Reasons are a closed set per step: labels, docs/reasons.md and tests derive from this one table. Changing a name is a breaking change.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"slices"
	"strings"
)

// Reason says why a step failed or could not tell. Some names serve more than one step (dns_failure: endpoint and request).
type Reason string

// The reasons of the credentials step.
const (
	ReasonRegionUnset                   Reason = "region_unset"
	ReasonNoCredentials                 Reason = "no_credentials"
	ReasonProfileInvalid                Reason = "profile_invalid"
	ReasonInstanceProfileMissing        Reason = "instance_profile_missing"
	ReasonPodIdentityAssociationMissing Reason = "pod_identity_association_missing"
	ReasonWebIdentityTokenMissing       Reason = "web_identity_token_missing"
	ReasonWebIdentityTokenUnreadable    Reason = "web_identity_token_unreadable"
	ReasonWebIdentityTokenMalformed     Reason = "web_identity_token_malformed"
	ReasonIdentityTokenExpired          Reason = "identity_token_expired"
	ReasonPodIdentityAgentUnreachable   Reason = "pod_identity_agent_unreachable"
	ReasonIMDSUnreachable               Reason = "imds_unreachable"
	ReasonUnexpectedPrincipal           Reason = "unexpected_principal"
	ReasonFellBackToNodeRole            Reason = "fell_back_to_node_role"
)

// The reasons of the sts step.
const (
	ReasonSTSUnreachable            Reason = "sts_unreachable"
	ReasonIRSATrustDenied           Reason = "irsa_trust_denied"
	ReasonIRSAAudienceMismatch      Reason = "irsa_audience_mismatch"
	ReasonOIDCProviderMissing       Reason = "oidc_provider_missing"
	ReasonOIDCThumbprintMismatch    Reason = "oidc_thumbprint_mismatch"
	ReasonAssumeRoleDenied          Reason = "assume_role_denied"
	ReasonSTSWrongPartition         Reason = "sts_wrong_partition"
	ReasonSTSRegionScopeMismatch    Reason = "sts_region_scope_mismatch"
	ReasonSessionTokenRegionInvalid Reason = "session_token_region_invalid"
	ReasonCredentialsExpired        Reason = "credentials_expired"
	ReasonCredentialsInvalid        Reason = "credentials_invalid"
	ReasonSignatureInvalid          Reason = "signature_invalid"
	ReasonClockAhead                Reason = "clock_ahead"
	ReasonClockBehind               Reason = "clock_behind"
	ReasonSTSRegionDisabled         Reason = "sts_region_disabled"
	ReasonSTSError                  Reason = "sts_error"
)

// The reasons of the token step.
const (
	ReasonTokenMalformed                 Reason = "token_malformed"
	ReasonTokenExpired                   Reason = "token_expired"
	ReasonTokenSigningCredentialsExpired Reason = "token_signing_credentials_expired"
	ReasonTokenNotSent                   Reason = "token_not_sent"
	ReasonClusterIDMismatch              Reason = "cluster_id_mismatch"
	ReasonClusterAccountMismatch         Reason = "cluster_account_mismatch"
	ReasonClusterNotFound                Reason = "cluster_not_found"
	ReasonClusterNotActive               Reason = "cluster_not_active"
)

// The reasons of the endpoint step.
const (
	ReasonEndpointNotConfigured        Reason = "endpoint_not_configured"
	ReasonEndpointStale                Reason = "endpoint_stale"
	ReasonDNSNXDomain                  Reason = "dns_nxdomain"
	ReasonDNSFailure                   Reason = "dns_failure"
	ReasonTCPRefused                   Reason = "tcp_refused"
	ReasonTCPTimeout                   Reason = "tcp_timeout"
	ReasonProxyDenied                  Reason = "proxy_denied"
	ReasonTLSCAMismatch                Reason = "tls_ca_mismatch"
	ReasonTLSExpired                   Reason = "tls_expired"
	ReasonTLSNameMismatch              Reason = "tls_name_mismatch"
	ReasonTLSFailure                   Reason = "tls_failure"
	ReasonHTTPTimeout                  Reason = "http_timeout"
	ReasonAPIServerError               Reason = "apiserver_error"
	ReasonAPIServerStorageInitializing Reason = "apiserver_storage_initializing"
	ReasonAPIServerFlowControl         Reason = "apiserver_flow_control"
)

// The reasons of the access_entry step.
const (
	ReasonNotMapped                     Reason = "not_mapped"
	ReasonAccessEntryPrincipalRecreated Reason = "access_entry_principal_recreated"
	ReasonAccessEntryShadowsAWSAuth     Reason = "access_entry_shadows_aws_auth"
	ReasonAccessEntryInvalidGroup       Reason = "access_entry_invalid_group"
	ReasonAWSAuthRolePath               Reason = "aws_auth_role_path"
	ReasonAWSAuthAssumedRoleARN         Reason = "aws_auth_assumed_role_arn"
	ReasonAWSAuthUnknownKey             Reason = "aws_auth_unknown_key"
	ReasonAWSAuthDuplicateEntry         Reason = "aws_auth_duplicate_entry"
	ReasonAWSAuthUnparseable            Reason = "aws_auth_unparseable"
	ReasonUsernameTemplateUnresolved    Reason = "username_template_unresolved"
	ReasonUnexpectedUsername            Reason = "unexpected_username"
	ReasonUnexpectedGroups              Reason = "unexpected_groups"
	ReasonClockSkewPresigned            Reason = "clock_skew_presigned"
	ReasonAuthenticatorUnavailable      Reason = "authenticator_unavailable"
	ReasonAuthenticatorThrottled        Reason = "authenticator_throttled"
	ReasonUnauthorizedUnexplained       Reason = "unauthorized_unexplained"
)

// The reasons of the rbac step.
const (
	ReasonDenied                       Reason = "denied"
	ReasonAccessEntryWithoutPolicy     Reason = "access_entry_without_policy"
	ReasonAccessPolicyScope            Reason = "access_policy_scope"
	ReasonAccessPolicyExcludesResource Reason = "access_policy_excludes_resource"
	ReasonRBACRoleNotFound             Reason = "rbac_role_not_found"
	ReasonRBACEscalationDenied         Reason = "rbac_escalation_denied"
	ReasonExcessPermission             Reason = "excess_permission"
	ReasonAdmissionDenied              Reason = "admission_denied"
	ReasonAdmissionWebhookUnavailable  Reason = "admission_webhook_unavailable"
)

// The reasons of the registration step.
const (
	ReasonTargetGroupMissing        Reason = "target_group_missing"
	ReasonTargetGroupNotAttached    Reason = "target_group_not_attached"
	ReasonTargetAZNotEnabled        Reason = "target_az_not_enabled"
	ReasonNoTargets                 Reason = "no_targets"
	ReasonNoReadyEndpoints          Reason = "no_ready_endpoints"
	ReasonBindingMissing            Reason = "binding_missing"
	ReasonServiceTypeMismatch       Reason = "service_type_mismatch"
	ReasonControllerAccessDenied    Reason = "controller_access_denied"
	ReasonTGBNetworkReconcileFailed Reason = "tgb_network_reconcile_failed"
	ReasonNodeExcluded              Reason = "node_excluded"
	ReasonTargetGroupShared         Reason = "target_group_shared"
	ReasonReadinessGateStale        Reason = "readiness_gate_stale"
)

// The reasons of the health step.
const (
	ReasonHealthCheckCodeMismatch Reason = "health_check_code_mismatch"
	ReasonHealthCheckTimeout      Reason = "health_check_timeout"
	ReasonHealthCheckFailed       Reason = "health_check_failed"
	ReasonInitialStuck            Reason = "initial_stuck"
	ReasonBelowMinHealthy         Reason = "below_min_healthy"
	ReasonAllUnhealthyFailOpen    Reason = "all_unhealthy_fail_open"
	ReasonELBInternalError        Reason = "elb_internal_error"
)

// The reasons of the request step, beside dns_failure and tls_failure.
const (
	ReasonTCPFailure     Reason = "tcp_failure"
	ReasonTimeout        Reason = "timeout"
	ReasonStatusMismatch Reason = "status_mismatch"
	ReasonBodyMismatch   Reason = "body_mismatch"
)

// The reasons of unknown: the prober's own troubles. They belong to no step.
const (
	ReasonObserverDenied      Reason = "observer_denied"
	ReasonObserverUnavailable Reason = "observer_unavailable"
	ReasonNotMeasurable       Reason = "not_measurable"
	ReasonSTSThrottled        Reason = "sts_throttled"
	ReasonEKSAuthThrottled    Reason = "eks_auth_throttled"
	ReasonEKSAPIThrottled     Reason = "eks_api_throttled"
	ReasonELBAPIThrottled     Reason = "elb_api_throttled"
	ReasonReadFailed          Reason = "read_failed"
	ReasonOverrun             Reason = "overrun"
	ReasonMissedSlot          Reason = "missed_slot"
)

// ReasonInfo is one row of the table.
type ReasonInfo struct {
	Step     Step // StepNone: a reason of unknown
	Reason   Reason
	Meaning  string // what is broken
	Evidence string // what the verdict rests on
	Fix      string // what mends it, one command or sentence a line; {name} stands for a Fact of the run, CAPITALS for what only the reader knows
}

// lines joins the lines of a fix.
func lines(each ...string) string { return strings.Join(each, "\n") }

// reasonTable is the ONE table, in the order of the chains; each step's rows live in reason_STEP.go.
var reasonTable = slices.Concat(
	credentialsReasons, stsReasons, tokenReasons, endpointReasons, accessEntryReasons, rbacReasons,
	registrationReasons, healthReasons, requestReasons, unknownReasons,
)

// Reasons returns every row, in the order of the chains.
func Reasons() []ReasonInfo { return slices.Clone(reasonTable) }

// ReasonsOf returns the rows of one step; of StepNone, the reasons of unknown.
func ReasonsOf(step Step) []ReasonInfo {
	var rows []ReasonInfo
	for _, row := range reasonTable {
		if row.Step == step {
			rows = append(rows, row)
		}
	}
	return rows
}

// LookupReason finds the row of a step's reason, else the row of unknown with that name.
func LookupReason(step Step, reason Reason) (ReasonInfo, bool) {
	for _, at := range []Step{step, StepNone} {
		for _, row := range reasonTable {
			if row.Step == at && row.Reason == reason {
				return row, true
			}
		}
	}
	return ReasonInfo{}, false
}
