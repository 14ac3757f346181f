// Access policies of an EKS access entry, and where they apply.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"slices"
	"strings"
)

// AccessPolicy is an access policy that is associated with an access entry.
type AccessPolicy struct {
	ARN        string   // arn:aws:eks::aws:cluster-access-policy/NAME
	Namespaces []string // its scope; empty: the cluster
}

// Name is the last part of the ARN, such as AmazonEKSViewPolicy.
func (p AccessPolicy) Name() string { return p.ARN[strings.LastIndex(p.ARN, "/")+1:] }

// Covers reports whether a namespace is in the scope. A trailing * stands for any rest (EKS user guide, "Associate access policies"); the whole cluster, "", is in the scope of the cluster alone.
func (p AccessPolicy) Covers(namespace string) bool {
	return len(p.Namespaces) == 0 || namespace != "" && slices.ContainsFunc(p.Namespaces, func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return pattern == namespace || wild && strings.HasPrefix(namespace, prefix)
	})
}

// Scope says where the policy applies, for people.
func (p AccessPolicy) Scope() string {
	if len(p.Namespaces) == 0 {
		return "the cluster"
	}
	return strings.Join(p.Namespaces, ", ")
}
