// Access entries and their policies as the EKS API tells them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

type (
	eksAccessEntry struct {
		ClusterName      string   `json:"clusterName"`
		PrincipalARN     string   `json:"principalArn"`
		AccessEntryARN   string   `json:"accessEntryArn"`
		KubernetesGroups []string `json:"kubernetesGroups"`
		Username         string   `json:"username"`
		Type             string   `json:"type"`
		CreatedAt        float64  `json:"createdAt,omitempty"` // seconds since the epoch
	}
	eksAssociatedPolicy struct {
		PolicyARN   string         `json:"policyArn"`
		AccessScope eksAccessScope `json:"accessScope"`
	}
	eksAccessScope struct {
		Type       string   `json:"type"` // cluster or namespace
		Namespaces []string `json:"namespaces"`
	}
)

// entries finds a cluster whose authentication mode knows access entries.
func (s *State) entries(caller awsCaller, r *http.Request) (*Cluster, *eksError) {
	cluster, fault := s.cluster(caller, r.PathValue("name"))
	if fault == nil && cluster.AuthMode != chain.AuthModeAPI && cluster.AuthMode != chain.AuthModeAPIAndConfigMap {
		return nil, &eksError{
			Status: http.StatusBadRequest, Code: "InvalidRequestException",
			Message: "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.",
		}
	}
	return cluster, fault
}

func (s *State) entry(caller awsCaller, r *http.Request) (*Cluster, *Entry, *eksError) {
	cluster, fault := s.entries(caller, r)
	if fault != nil {
		return nil, nil, fault
	}
	entry, ok := cluster.Entries[r.PathValue("principal")]
	if !ok {
		return nil, nil, &eksError{
			Status: http.StatusNotFound, Code: "ResourceNotFoundException",
			Message: "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.",
		}
	}
	return cluster, entry, nil
}

func (s *State) describeAccessEntry(caller awsCaller, r *http.Request) (any, *eksError) {
	cluster, entry, fault := s.entry(caller, r)
	if fault != nil {
		return nil, fault
	}
	account, kind, name := principalParts(entry.PrincipalARN)
	answer := eksAccessEntry{
		ClusterName: cluster.Name, PrincipalARN: entry.PrincipalARN, KubernetesGroups: append([]string{}, entry.Groups...),
		Username: cmp.Or(entry.Username, defaultUsername(entry.PrincipalARN)), Type: cmp.Or(entry.Type, "STANDARD"),
		AccessEntryARN: eksARN(cluster.Region, cluster.AccountID, strings.Join([]string{"access-entry", cluster.Name, kind, account, name, entry.RoleID}, "/")),
	}
	if !entry.Created.IsZero() {
		answer.CreatedAt = float64(entry.Created.UnixMilli()) / float64(time.Second/time.Millisecond)
	}
	return map[string]any{"accessEntry": answer}, nil
}

// principalParts takes a role's or user's ARN apart, without its path.
func principalParts(arn string) (account, kind, name string) {
	plain := chain.StripPath(arn)
	kind, name, _ = strings.Cut(plain[strings.LastIndex(plain, ":")+1:], "/")
	return chain.AccountOf(arn), kind, name
}

// defaultUsername is what EKS writes into an entry that was made without one (EKS user guide, "Create access entries").
func defaultUsername(arn string) string {
	account, kind, name := principalParts(arn)
	if kind != "role" {
		return arn
	}
	return "arn:" + chain.PartitionOf(arn) + ":sts::" + account + ":assumed-role/" + name + "/{{SessionName}}"
}

func (s *State) listAccessEntries(caller awsCaller, r *http.Request) (any, *eksError) {
	cluster, fault := s.entries(caller, r)
	if fault != nil {
		return nil, fault
	}
	policy := r.URL.Query().Get("associatedPolicyArn")
	var principals []string
	for arn, entry := range cluster.Entries {
		if policy == "" || slices.ContainsFunc(entry.Policies, func(p AssociatedPolicy) bool { return p.ARN == policy }) {
			principals = append(principals, arn)
		}
	}
	page, next, fault := pageOf(principals, r)
	if fault != nil {
		return nil, fault
	}
	return withNext(map[string]any{"accessEntries": page}, next), nil
}

func (s *State) listAssociatedAccessPolicies(caller awsCaller, r *http.Request) (any, *eksError) {
	cluster, entry, fault := s.entry(caller, r)
	if fault != nil {
		return nil, fault
	}
	policies := map[string]eksAssociatedPolicy{}
	var arns []string
	for _, p := range entry.Policies {
		scope := eksAccessScope{"cluster", []string{}}
		if len(p.Namespaces) > 0 {
			scope = eksAccessScope{"namespace", slices.Clone(p.Namespaces)}
		}
		policies[p.ARN] = eksAssociatedPolicy{p.ARN, scope}
		arns = append(arns, p.ARN)
	}
	page, next, fault := pageOf(arns, r)
	if fault != nil {
		return nil, fault
	}
	list := []eksAssociatedPolicy{}
	for _, arn := range page {
		list = append(list, policies[arn])
	}
	return withNext(map[string]any{"clusterName": cluster.Name, "principalArn": entry.PrincipalARN, "associatedAccessPolicies": list}, next), nil
}
