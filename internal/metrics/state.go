// The state is every count and gauge as plain data: what runs change, and what a scrape copies.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// stepCount is the number of steps of all chains, StepNone included.
const stepCount = chain.StepRequest + 1

type targetKey struct{ cluster, identity string }

type targetState struct {
	success, unknown       uint64
	failures               [stepCount]uint64
	verdict                chain.Verdict // the latest
	lastProbe, lastSuccess time.Time
	labels                 map[string]string // as configured; never written to
}

func (t targetState) failed() (sum uint64) {
	for _, n := range t.failures {
		sum += n
	}
	return sum
}

type failureKey struct {
	step   chain.Step
	reason chain.Reason
}

type stepKey struct {
	step   chain.Step
	result chain.Outcome
}

type clusterState struct {
	failures map[failureKey]uint64
	unknowns map[chain.Reason]uint64
	steps    map[stepKey]uint64
}

type request struct{ service, operation, code string }

// requestLimit bounds the series of AWS requests, whose codes are AWS's own.
const requestLimit = 500

type state struct {
	targets    map[targetKey]targetState
	clusters   map[string]clusterState
	identities map[string]bool // of targets
	regions    map[string]bool
	skew       map[string]time.Duration
	expiry     map[string]time.Time
	requests   map[request]uint64
	inFlight   int
	overruns   uint64
	reloaded   bool
	reloadedAt time.Time
}

func newState() state {
	s := state{skew: map[string]time.Duration{}, expiry: map[string]time.Time{}, requests: map[request]uint64{}}
	for service, operations := range map[string][]string{
		"sts": {"AssumeRole", "AssumeRoleWithWebIdentity", "GetCallerIdentity"},
		"eks": {"DescribeCluster", "DescribeAccessEntry", "ListAccessEntries", "ListAssociatedAccessPolicies"},
	} {
		for _, operation := range operations {
			s.requests[request{service, operation, "ok"}] = 0
		}
	}
	return s
}

// clone copies what later events change.
func (s state) clone() state {
	s.targets, s.skew, s.expiry, s.requests = maps.Clone(s.targets), maps.Clone(s.skew), maps.Clone(s.expiry), maps.Clone(s.requests)
	s.clusters = maps.Clone(s.clusters)
	for name, c := range s.clusters {
		s.clusters[name] = clusterState{maps.Clone(c.failures), maps.Clone(c.unknowns), maps.Clone(c.steps)}
	}
	return s
}

// setTargets returns the clusters that have no target any more.
func (s *state) setTargets(targets []chain.Target) (gone []string) {
	before, clustersBefore := s.targets, s.clusters
	s.targets, s.clusters, s.identities, s.regions = map[targetKey]targetState{}, map[string]clusterState{}, map[string]bool{}, map[string]bool{}
	for _, target := range targets {
		if target.Kind != chain.KindAccess {
			continue
		}
		key := keyOf(target)
		known := before[key]
		known.labels = infoLabels(target)
		s.targets[key] = known
		if _, ok := s.clusters[key.cluster]; !ok {
			s.clusters[key.cluster] = newCluster()
		}
		s.identities[key.identity], s.regions[clean(target.Cluster.Region)] = true, true
	}
	for name, known := range clustersBefore {
		if _, ok := s.clusters[name]; ok {
			s.clusters[name] = known
		} else {
			gone = append(gone, name)
		}
	}
	maps.DeleteFunc(s.skew, func(peer string, _ time.Duration) bool { return !s.knowsPeer(peer) })
	maps.DeleteFunc(s.expiry, func(identity string, _ time.Time) bool { return !s.identities[identity] })
	return gone
}

// knowsPeer reports whether a peer is a cluster of a target, or an AWS service in the region of one.
func (s *state) knowsPeer(peer string) bool {
	_, region, dotted := strings.Cut(peer, ".")
	_, cluster := s.clusters[peer]
	return cluster || (dotted && s.regions[region])
}

func keyOf(target chain.Target) targetKey {
	return targetKey{clean(target.Cluster.Name), clean(target.Identity.Name)}
}

// newCluster has every reason and every result of every step at 0.
func newCluster() clusterState {
	c := clusterState{map[failureKey]uint64{}, map[chain.Reason]uint64{}, map[stepKey]uint64{}}
	for _, step := range chain.KindAccess.Steps() {
		for _, row := range chain.ReasonsOf(step) {
			c.failures[failureKey{step, row.Reason}] = 0
		}
		for _, result := range chain.Results {
			c.steps[stepKey{step, result}] = 0
		}
	}
	for _, row := range chain.ReasonsOf(chain.StepNone) {
		if row.Reason != chain.ReasonELBAPIThrottled { // the access chain reads no load balancer
			c.unknowns[row.Reason] = 0
		}
	}
	return c
}

// infoLabels joins what is configured on the cluster and on the identity. The configuration refuses names that would clash or are no label names; here they are left out.
func infoLabels(target chain.Target) map[string]string {
	labels := map[string]string{}
	for _, configured := range []map[string]string{target.Cluster.Labels, target.Identity.Labels} {
		for name, value := range configured {
			if model.LegacyValidation.IsValidLabelName(name) && !strings.HasPrefix(name, model.ReservedLabelPrefix) && name != "cluster" && name != "identity" {
				labels[name] = clean(value)
			}
		}
	}
	return labels
}

// record counts a run; false: its target is not known.
func (s *state) record(run chain.Run) bool {
	key := keyOf(run.Target)
	target, ok := s.targets[key]
	if !ok {
		return false
	}
	cluster, verdict, end := s.clusters[key.cluster], run.Verdict, run.Started.Add(run.Duration)
	switch verdict.Outcome {
	case chain.OutcomeSuccess:
		target.success++
		target.lastSuccess = end
	case chain.OutcomeFailure:
		target.failures[verdict.Step]++
		cluster.failures[failureKey{verdict.Step, verdict.Reason}]++
	case chain.OutcomeUnknown, chain.OutcomeSkipped:
		target.unknown++
		cluster.unknowns[verdict.Reason]++
	}
	for _, step := range run.Steps {
		if step.Outcome != chain.OutcomeSkipped {
			cluster.steps[stepKey{step.Step, step.Outcome}]++
			target.lastProbe = end
		}
	}
	target.verdict = verdict
	s.targets[key] = target
	return true
}

func (s *state) countRequest(r request) {
	if _, ok := s.requests[r]; !ok && len(s.requests) >= requestLimit {
		r.code = "other"
	}
	s.requests[r]++
}
