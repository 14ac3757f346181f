// Failing open: with too few healthy targets, a load balancer sends to all of them, also to those that fail their checks.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// noneHealthy reports whether a group has bad targets and no healthy one. It is about all of its targets, whosever they are, since the load balancer knows no clusters.
func noneHealthy(members []member) bool {
	bad := false
	for _, m := range members {
		if m.State == chain.TargetHealthy {
			return false
		}
		bad = bad || m.State.Bad()
	}
	return bad
}

// failsOpen says where the load balancer sends to targets that fail their checks; "" when it does nowhere. The group's attributes are read only when some do, and when they cannot be, the default
// holds: a single healthy target is enough.
func (r *albRun) failsOpen(ctx context.Context) string {
	v := &r.view
	switch {
	case noneHealthy(v.members):
		return "in the whole group: no target is healthy"
	case !slices.ContainsFunc(v.members, func(m member) bool { return m.State.Bad() }):
		return ""
	}
	ctx, cancel := quarters(ctx, 1, "reading the group's attributes")
	defer cancel()
	reader := r.target
	reader.Group.Observer = throughRole(reader.Group.Observer, v.binding)
	attributes, err := r.prober.ELB.Attributes(ctx, reader, v.group.ARN)
	if err != nil {
		attributes = chain.GroupAttributes{MinHealthyCount: 1}
	}
	return strings.Join(v.openZones(attributes), "; ")
}

// tally counts the targets that a load balancer node may choose from.
type tally struct{ all, healthy, bad int }

// openZones holds the healthy targets against the thresholds of unhealthy_state_routing (ELB guide, "Target group health"): over the whole group where a load balancer's nodes send across zones, as
// those of an application load balancer do by default; else by zone, as far as the zones are known.
func (v *groupView) openZones(attributes chain.GroupAttributes) []string {
	byZone := v.behindNetworkLoadBalancer() &&
		!slices.ContainsFunc(v.members, func(m member) bool { return m.knownZone == "" || m.knownZone == zoneAll })
	tallies := map[string]tally{}
	for _, m := range v.members {
		if m.leaves() || m.State == chain.TargetUnused {
			continue
		}
		zone := "the whole group"
		if byZone {
			zone = m.knownZone
		}
		t := tallies[zone]
		t.all++
		if m.State == chain.TargetHealthy {
			t.healthy++
		}
		if m.State.Bad() {
			t.bad++
		}
		tallies[zone] = t
	}
	var open []string
	for _, zone := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[zone]
		if t.bad > 0 && (t.healthy < attributes.MinHealthyCount || t.healthy*100 < t.all*attributes.MinHealthyPercent) {
			open = append(open, fmt.Sprintf("in %s: %d of %s healthy", zone, t.healthy, counted(t.all, "target")))
		}
	}
	return open
}
