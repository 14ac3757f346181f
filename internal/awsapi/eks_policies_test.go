// The read of access policies against a real EKS API on loopback.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const policyPrefix = "arn:aws:eks::aws:cluster-access-policy/"

// More than a page: every page is a read, and none is lost.
func TestAccessPolicies(t *testing.T) {
	w := newWorld(t)
	w.cluster(deployARN)
	want := []chain.AccessPolicy{{ARN: policyPrefix + "AmazonEKSEditPolicy", Namespaces: []string{"dev-*", "shop"}}, {ARN: policyPrefix + "AmazonEKSViewPolicy"}}
	for i := range 150 {
		want = append(want, chain.AccessPolicy{ARN: fmt.Sprintf("%sP%03d", policyPrefix, i)})
	}
	w.state.Change(func(s *sandbox.State) {
		for _, p := range want {
			entry := s.Clusters["prod"].Entries[deployARN]
			entry.Policies = append(entry.Policies, sandbox.AssociatedPolicy{ARN: p.ARN, Namespaces: p.Namespaces})
		}
	})
	got, err := w.client.AccessPolicies(t.Context(), w.target("prod"), deployARN)
	must(t, err)
	slices.SortFunc(got, func(a, b chain.AccessPolicy) int { return cmp.Compare(a.ARN, b.ARN) })
	wantSame(t, got, want)
	wantSame(t, w.state.Count("ListAssociatedAccessPolicies"), 2)
}

func TestAccessPoliciesUnread(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sandbox.State)
		reason chain.Reason
	}{
		"throttled":  {func(s *sandbox.State) { s.Throttle["ListAssociatedAccessPolicies"] = true }, chain.ReasonEKSAPIThrottled},
		"denied":     {func(s *sandbox.State) { s.Roles[readerARN].ReadsEKS = false }, chain.ReasonObserverDenied},
		"CONFIG_MAP": {func(s *sandbox.State) { s.Clusters["prod"].AuthMode = chain.AuthModeConfigMap }, chain.ReasonNotMeasurable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cluster(deployARN)
			w.state.Change(c.change)
			_, err := w.client.AccessPolicies(t.Context(), w.target("prod"), deployARN)
			wantVerdict(t, err, unknown(c.reason))
		})
	}
}
