// Facts are the evidence of a step: a closed list of names, with values for people and for the fix.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"regexp"
	"slices"
	"strings"
)

// Fact names one piece of evidence.
type Fact string

// Facts maps names to values. Values are never secret. Those of groups, expected_groups and missing_groups are lists, joined by commas.
type Facts map[Fact]string

// The facts. Fixes refer to them as {name}.
const (
	FactTarget             Fact = "target" // its name
	FactCluster            Fact = "cluster"
	FactEKSName            Fact = "eks_name"
	FactRegion             Fact = "region"
	FactAccountID          Fact = "account_id"
	FactObserver           Fact = "observer"
	FactIdentity           Fact = "identity"
	FactProfile            Fact = "profile"
	FactProvider           Fact = "provider" // the credential provider that answered
	FactExpectedPrincipal  Fact = "expected_principal"
	FactPrincipal          Fact = "principal"  // IAM spelling of the caller
	FactCallerARN          Fact = "caller_arn" // as STS spells it
	FactSessionName        Fact = "session_name"
	FactRoleARN            Fact = "role_arn" // the role of the hop that decided
	FactRoleName           Fact = "role_name"
	FactHop                Fact = "hop"         // 1-based, such as "2 of 2"
	FactExternalID         Fact = "external_id" // whether one was sent, never its value
	FactTokenFile          Fact = "token_file"
	FactOIDCIssuer         Fact = "oidc_issuer"
	FactOIDCSubject        Fact = "oidc_subject"
	FactOIDCAudience       Fact = "oidc_audience"
	FactWebIdentityExpires Fact = "web_identity_expires" // claim exp of the web identity token
	FactTokenExpires       Fact = "token_expires"        // of the EKS token
	FactSessionExpires     Fact = "session_expires"
	FactSTSHost            Fact = "sts_host"
	FactErrorCode          Fact = "error_code" // the remote's own code
	FactErrorMessage       Fact = "error_message"
	FactRequestID          Fact = "request_id"
	FactClockSkew          Fact = "clock_skew" // positive: the local clock is ahead
	FactReused             Fact = "reused"     // the session that served, when no server was reached
	FactClusterRead        Fact = "cluster_read"
	FactClusterStatus      Fact = "cluster_status"
	FactActualAccountID    Fact = "actual_account_id"
	FactEndpoint           Fact = "endpoint"
	FactEndpointDescribed  Fact = "endpoint_described" // what DescribeCluster says
	FactHost               Fact = "host"
	FactAddress            Fact = "address" // the resolved IP and port
	FactProxy              Fact = "proxy"
	FactTLSIssuer          Fact = "tls_issuer"
	FactTLSSubject         Fact = "tls_subject"
	FactTLSNotAfter        Fact = "tls_not_after"
	FactDNSTime            Fact = "dns_ms"
	FactTCPTime            Fact = "tcp_ms"
	FactTLSTime            Fact = "tls_ms"
	FactHTTPTime           Fact = "http_ms"
	FactHTTPStatus         Fact = "http_status"
	FactUsername           Fact = "username"
	FactGroups             Fact = "groups"
	FactExpectedUsername   Fact = "expected_username" // of a step: as the session fills it; of a run: as configured, with its templates
	FactExpectedGroups     Fact = "expected_groups"
	FactMissingGroups      Fact = "missing_groups"
	FactAuthMode           Fact = "authentication_mode"
	FactReplay             Fact = "replay" // what STS said to the presigned URL
	FactRuledOut           Fact = "ruled_out"
	FactRule               Fact = "rule"
	FactVerb               Fact = "verb"
	FactGroup              Fact = "group"
	FactResource           Fact = "resource"
	FactNamespace          Fact = "namespace"
	FactWhy                Fact = "why" // the authorizer's own words
	FactRulesChecked       Fact = "rules_checked"
	FactTargetGroup        Fact = "target_group" // its name
	FactTargetGroupARN     Fact = "target_group_arn"
	FactLoadBalancerARN    Fact = "load_balancer_arn"
	FactZone               Fact = "zone"    // the Availability Zone of the target that decided
	FactBinding            Fact = "binding" // name of the TargetGroupBinding
	FactService            Fact = "service"
	FactNode               Fact = "node"
	FactURL                Fact = "url"      // of the request
	FactTLSName            Fact = "tls_name" // for which the certificate must be
	FactTargets            Fact = "targets"  // how many targets are in which state, with their codes
	FactMinHealthy         Fact = "min_healthy"
	FactTargetType         Fact = "target_type"
	FactHealthCheck        Fact = "health_check" // how the load balancer checks
	FactEndpoints          Fact = "endpoints"    // what the cluster says beside what AWS says
	FactMissing            Fact = "missing"      // ready endpoints, or nodes, that are not registered
	FactForeign            Fact = "foreign"      // targets that are not of this cluster
	FactLoadBalancerState  Fact = "load_balancer_state"
	FactZones              Fact = "zones" // those that the load balancer serves
	FactZonalShift         Fact = "zonal_shift"
	FactAnomaly            Fact = "anomaly"
	FactFailOpen           Fact = "fail_open"
	FactLastRead           Fact = "last_read" // the latest good reading, when this one failed
	FactAction             Fact = "action"    // the IAM action, or Kubernetes verb and resource, that was denied
	FactEvent              Fact = "event"     // of the binding
	FactPod                Fact = "pod"
	FactExpectedStatus     Fact = "expected_status"
	FactBody               Fact = "body" // the beginning of an answer's body
)

// FactNames lists every fact that a fix may name.
var FactNames = []Fact{
	FactTarget, FactCluster, FactEKSName, FactRegion, FactAccountID, FactObserver, FactIdentity, FactProfile, FactProvider, FactExpectedPrincipal, FactPrincipal, FactCallerARN,
	FactSessionName, FactRoleARN, FactRoleName, FactHop, FactExternalID, FactTokenFile, FactOIDCIssuer, FactOIDCSubject, FactOIDCAudience, FactWebIdentityExpires, FactTokenExpires,
	FactSessionExpires, FactSTSHost, FactErrorCode, FactErrorMessage, FactRequestID, FactClockSkew, FactReused, FactClusterRead, FactClusterStatus,
	FactActualAccountID, FactEndpoint, FactEndpointDescribed, FactHost, FactAddress, FactProxy, FactTLSIssuer, FactTLSSubject, FactTLSNotAfter, FactDNSTime,
	FactTCPTime, FactTLSTime, FactHTTPTime, FactHTTPStatus, FactUsername, FactGroups, FactExpectedUsername, FactExpectedGroups, FactMissingGroups, FactAuthMode,
	FactReplay, FactRuledOut, FactRule, FactVerb, FactGroup, FactResource, FactNamespace, FactWhy, FactRulesChecked, FactTargetGroup,
	FactTargetGroupARN, FactLoadBalancerARN, FactZone, FactBinding, FactService, FactNode, FactURL, FactTLSName,
	FactTargets, FactMinHealthy, FactTargetType, FactHealthCheck, FactEndpoints, FactMissing, FactForeign, FactLoadBalancerState, FactZones, FactZonalShift, FactAnomaly,
	FactFailOpen, FactLastRead, FactAction, FactEvent, FactPod, FactExpectedStatus, FactBody,
}

var listFacts = []Fact{FactGroups, FactExpectedGroups, FactMissingGroups}

var (
	placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)
	plainShell  = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
)

// Fix fills a reason's fix with the facts of a run. A value that a shell would read as more than a word is quoted, a list becomes one word an item, and an unknown value stays as <name>.
func Fix(step Step, reason Reason, facts Facts) string {
	row, ok := LookupReason(step, reason)
	if !ok {
		return ""
	}
	return placeholder.ReplaceAllStringFunc(row.Fix, func(match string) string {
		name := Fact(match[1 : len(match)-1])
		items := []string{facts[name]}
		if slices.Contains(listFacts, name) {
			items = strings.Split(facts[name], ",")
		}
		var words []string
		for _, item := range items {
			if item = Redact(item); item != "" {
				words = append(words, shellWord(item))
			}
		}
		if len(words) == 0 {
			return "<" + string(name) + ">"
		}
		return strings.Join(words, " ")
	})
}

// shellWord quotes a value, where needed, so that a POSIX shell reads it as one word.
func shellWord(value string) string {
	if plainShell.MatchString(value) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// Merge returns a copy of f with the facts of each other laid over it.
func (f Facts) Merge(others ...Facts) Facts {
	all := Facts{}
	for _, facts := range append([]Facts{f}, others...) {
		for k, v := range facts {
			if v != "" {
				all[k] = v
			}
		}
	}
	return all
}
