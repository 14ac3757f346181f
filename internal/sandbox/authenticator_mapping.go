// Whom a caller is to a cluster: its access entry first, then the aws-auth ConfigMap, as the authentication mode allows.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// errNotMapped is returned for a caller that STS vouched for and no mapping knows.
var errNotMapped error = &refusal{codeUnknownUser, "identity is not mapped"}

// mapping is a Kubernetes user; before render its texts may hold templates.
type mapping struct {
	username string
	groups   []string
}

// mapCaller applies the cluster's authentication mode. The caller holds the state's lock. Every error is a *refusal.
func (c *Cluster) mapCaller(caller identity, exactKeys bool) (mapping, error) {
	if c.AuthMode == chain.AuthModeAPI || c.AuthMode == chain.AuthModeAPIAndConfigMap {
		if entry := c.entryOf(caller.canonicalARN, caller.userID); entry != nil {
			return entry.mapping(caller).render(caller, c.Region)
		}
	}
	if c.AuthMode == chain.AuthModeAPI || c.AWSAuth == nil {
		return mapping{}, errNotMapped
	}
	auth := parseAWSAuth(c.AWSAuth, exactKeys)
	if m, found := auth.find(caller.canonicalARN); found {
		return m.render(caller, c.Region)
	}
	if slices.Contains(auth.accounts, caller.accountID) {
		return mapping{username: caller.canonicalARN, groups: []string{}}, nil
	}
	return mapping{}, errNotMapped
}

// entryOf finds the access entry of a principal. Entries hold ARNs with their path, STS shows none, so paths are ignored; and EKS remembers the principal's hidden id,
// so a role that was deleted and made anew is not the entry's any more. An entry without an id (its principal was never in this account) goes by the ARN alone.
func (c *Cluster) entryOf(canonicalARN, userID string) *Entry {
	for _, key := range slices.Sorted(maps.Keys(c.Entries)) {
		entry := c.Entries[key]
		if chain.SamePrincipal(entry.PrincipalARN, canonicalARN) && (entry.RoleID == "" || entry.RoleID == userID) {
			return entry
		}
	}
	return nil
}

// mapping is the entry's user, with the defaults of EKS for what it leaves out (EKS user guide, "Create access entries"). Access policies give no groups.
func (e *Entry) mapping(caller identity) mapping {
	m := mapping{username: e.Username, groups: e.Groups}
	isNode := e.Type != "" && e.Type != "STANDARD"
	if isNode && len(m.groups) == 0 {
		m.groups = []string{"system:nodes"}
	}
	switch {
	case m.username != "":
	case e.Type == "FARGATE_LINUX", e.Type == "HYBRID_LINUX":
		m.username = "system:node:{{SessionName}}"
	case isNode:
		m.username = "system:node:{{EC2PrivateDNSName}}"
	case caller.sessionName == "":
		m.username = e.PrincipalARN
	default:
		m.username = strings.TrimSuffix(caller.arn, caller.sessionName) + "{{SessionName}}"
	}
	return m
}

// instanceShape is what aws-iam-authenticator takes for an EC2 instance id (pkg/server).
var instanceShape = regexp.MustCompile(`^i-(\w{8}|\w{17})$`)

// render fills the templates in. {{EC2PrivateDNSName}} needs a session that is named after an instance; any other caller is refused, not tried elsewhere.
func (m mapping) render(caller identity, region string) (mapping, error) {
	values := []string{
		"{{AccountID}}", caller.accountID, "{{SessionName}}", strings.ReplaceAll(caller.sessionName, "@", "-"),
		"{{SessionNameRaw}}", caller.sessionName, "{{AccessKeyID}}", caller.accessKeyID,
	}
	if strings.Contains(m.username+strings.Join(m.groups, ""), "{{EC2PrivateDNSName}}") {
		if !instanceShape.MatchString(caller.sessionName) {
			return mapping{}, &refusal{codeUnknownUser, fmt.Sprintf("error rendering username template %q: SessionName did not contain an instance id", m.username)}
		}
		values = append(values, "{{EC2PrivateDNSName}}", privateDNSName(caller.sessionName, region))
	}
	replacer := strings.NewReplacer(values...)
	rendered := mapping{username: replacer.Replace(m.username), groups: make([]string, len(m.groups))}
	for i, group := range m.groups {
		rendered.groups[i] = replacer.Replace(group)
	}
	return rendered, nil
}

// privateDNSName is what EC2 would say of an instance; the last digits of its id stand for the address.
func privateDNSName(instanceID, region string) string {
	address, err := strconv.ParseUint(instanceID[len(instanceID)-6:], 16, 32)
	if err != nil {
		return instanceID + "." + region + ".compute.internal"
	}
	return fmt.Sprintf("ip-10-%d-%d-%d.%s.compute.internal", address>>16, address>>8&0xff, address&0xff, region)
}
