// The state is every count and gauge as plain data: what runs change, and what a scrape copies.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

type targetKey struct{ cluster, identity string }

type targetState struct {
	events
	lastProbe, lastSuccess time.Time
	labels                 map[string]string // as configured; never written to
}

type request struct{ service, operation, code string }

// requestLimit bounds the series of AWS requests, whose codes are AWS's own.
const requestLimit = 500

type state struct {
	targets     map[targetKey]targetState // access
	clusters    map[string]causes         // access
	groups      map[string]groupState     // alb, by the target's name
	regions     map[string]causes         // alb
	identities  map[string]bool           // of access targets
	peers       map[string]bool           // the clusters of all targets
	clocks      map[string]bool           // the regions of all targets
	skew        map[string]time.Duration
	expiry      map[string]time.Time
	requests    map[request]uint64
	discoveries map[string]discovery
	gates       map[string]gateState
	inFlight    int
	overruns    uint64
	reloaded    bool
	reloadedAt  time.Time
}

func newState() state {
	s := state{skew: map[string]time.Duration{}, expiry: map[string]time.Time{}, requests: map[request]uint64{}}
	for service, operations := range map[string][]string{
		"sts":                  {"AssumeRole", "AssumeRoleWithWebIdentity", "GetCallerIdentity"},
		"eks":                  {"DescribeCluster", "DescribeAccessEntry", "ListAccessEntries", "ListAssociatedAccessPolicies"},
		"elasticloadbalancing": {"DescribeTargetHealth", "DescribeTargetGroups", "DescribeTargetGroupAttributes", "DescribeLoadBalancers", "DescribeTags"},
	} {
		for _, operation := range operations {
			s.requests[request{service, operation, "ok"}] = 0
		}
	}
	return s
}

// clone copies what later events change.
func (s state) clone() state {
	s.targets, s.groups, s.skew, s.expiry, s.requests = maps.Clone(s.targets), maps.Clone(s.groups), maps.Clone(s.skew), maps.Clone(s.expiry), maps.Clone(s.requests)
	s.clusters, s.regions, s.discoveries, s.gates = cloneAll(s.clusters, causes.clone), cloneAll(s.regions, causes.clone), maps.Clone(s.discoveries), cloneAll(s.gates, gateState.clone)
	return s
}

// setTargets takes the access targets, and returns the clusters that have none any more.
func (s *state) setTargets(targets []chain.Target) (gone []string) {
	before, clustersBefore := s.targets, s.clusters
	s.targets, s.clusters, s.identities = map[targetKey]targetState{}, map[string]causes{}, map[string]bool{}
	for _, target := range targets {
		if target.Kind != chain.KindAccess {
			continue
		}
		key := keyOf(target)
		known := before[key]
		known.labels = infoLabels(families[accessTargetInfo].Labels, target.Cluster.Labels, target.Identity.Labels)
		s.targets[key], s.identities[key.identity] = known, true
		if _, ok := s.clusters[key.cluster]; !ok {
			s.clusters[key.cluster] = newCauses(chain.KindAccess)
		}
	}
	for name, known := range clustersBefore {
		if _, ok := s.clusters[name]; ok {
			s.clusters[name] = known
		} else {
			gone = append(gone, name)
		}
	}
	maps.DeleteFunc(s.expiry, func(identity string, _ time.Time) bool { return !s.identities[identity] })
	return gone
}

// setPeers takes where the clocks are that targets of either kind meet: in their clusters, and in AWS in their regions.
func (s *state) setPeers(targets []chain.Target) {
	s.peers, s.clocks = map[string]bool{}, map[string]bool{}
	for _, target := range targets {
		s.peers[clean(target.Cluster.Name)] = true
		s.clocks[clean(target.Cluster.Region)], s.clocks[clean(target.Group.Region)] = true, true
	}
	delete(s.peers, "") // of an alb target without a cluster
	delete(s.clocks, "")
	maps.DeleteFunc(s.skew, func(peer string, _ time.Duration) bool { return !s.knowsPeer(peer) })
}

// knowsPeer reports whether a peer is a cluster of a target, or an AWS service in the region of one.
func (s *state) knowsPeer(peer string) bool {
	_, region, _ := strings.Cut(peer, ".")
	return s.peers[peer] || s.clocks[region]
}

func keyOf(target chain.Target) targetKey {
	return targetKey{clean(target.Cluster.Name), clean(target.Identity.Name)}
}

// infoLabels joins what is configured, later labels over earlier ones. The configuration refuses names that would clash or are no label names; here they are left out.
func infoLabels(reserved []string, configured ...map[string]string) map[string]string {
	labels := map[string]string{}
	for _, some := range configured {
		for name, value := range some {
			if model.LegacyValidation.IsValidLabelName(name) && !strings.HasPrefix(name, model.ReservedLabelPrefix) && !slices.Contains(reserved, name) {
				labels[name] = clean(value)
			}
		}
	}
	return labels
}

// record counts a run of an access target; false: its target is not known.
func (s *state) record(run chain.Run) bool {
	key := keyOf(run.Target)
	target, ok := s.targets[key]
	if !ok {
		return false
	}
	end := run.Started.Add(run.Duration)
	target.count(run.Verdict)
	s.clusters[key.cluster].count(run)
	if run.Verdict.Outcome == chain.OutcomeSuccess {
		target.lastSuccess = end
	}
	if slices.ContainsFunc(run.Steps, func(s chain.StepResult) bool { return s.Outcome != chain.OutcomeSkipped }) {
		target.lastProbe = end
	}
	s.targets[key] = target
	return true
}

func (s *state) countRequest(r request) {
	if _, ok := s.requests[r]; !ok && len(s.requests) >= requestLimit {
		r.code = "other"
	}
	s.requests[r]++
}
