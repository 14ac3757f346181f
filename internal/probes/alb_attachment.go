// Whether a load balancer serves the group, and the zones of its targets. ELB has one code for both, so structure decides.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// zoneAll is the zone of addresses outside the VPC: every zone of the load balancer reaches them.
const zoneAll = "all"

// notAttached: no listener forwards to the group. A target that is checked shows the contrary, since the group may have been read up to a minute before it.
func notAttached(v *groupView) *chain.Error {
	if len(v.group.LoadBalancers) > 0 || slices.ContainsFunc(v.members, func(m member) bool {
		return m.State.Bad() || m.State == chain.TargetHealthy || m.State == chain.TargetInitial
	}) {
		return nil
	}
	return misregistered(chain.ReasonTargetGroupNotAttached, nil, "no listener of any load balancer forwards to the target group %s, which has %s", v.group.Name, counted(len(v.members), "target"))
}

// serving are the group's load balancers that route.
func (v *groupView) serving() []chain.LoadBalancer {
	return slices.DeleteFunc(slices.Clone(v.group.LoadBalancers), func(b chain.LoadBalancer) bool {
		return b.State != chain.LoadBalancerActive && b.State != chain.LoadBalancerActiveImpaired
	})
}

// servedZones are the zones of all load balancers that route.
func (v *groupView) servedZones() []string {
	var zones []string
	for _, b := range v.serving() {
		zones = append(zones, b.Zones...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// zoneNotEnabled: targets are unused although the group is attached. ELB knows two causes of that, and the other one is ruled out.
func zoneNotEnabled(v *groupView) *chain.Error {
	served := v.servedZones()
	if len(served) == 0 || !v.ownKnown() || v.bindingUnread() {
		return nil
	}
	var off, zones []string
	unknown := 0
	for _, m := range v.own() {
		switch {
		case m.State != chain.TargetUnused || m.Code != chain.CodeNotInUse || m.knownZone == zoneAll || slices.Contains(served, m.knownZone):
			continue
		case m.knownZone == "" && !v.attachedBefore(m):
			continue
		case m.knownZone == "":
			unknown++
		case !slices.Contains(zones, m.knownZone):
			zones = append(zones, m.knownZone)
		}
		off = append(off, m.ID)
	}
	if len(off) == 0 {
		return nil
	}
	return zoneError(v, off, zones, unknown)
}

// attachedBefore reports whether the group is known to have been attached no earlier than its target was found unused, so that a zone is the only cause left. What is behind the binding might tell the
// zone itself, so it must have been read.
func (v *groupView) attachedBefore(m member) bool {
	read := v.group.Read
	return v.unread == nil && (!read.Before(v.started) || !read.Before(m.Since))
}

func zoneError(v *groupView, off, zones []string, unknown int) *chain.Error {
	balancer := v.serving()[0]
	slices.Sort(zones)
	where := "in " + strings.Join(zones, ", ") + ", which"
	switch {
	case len(zones) == 0:
		where = "in a zone that is not told and that, since the group is attached,"
	case unknown > 0:
		where = fmt.Sprintf("in %s, and %d where it is not told, which", strings.Join(zones, ", "), unknown)
	}
	zone := ""
	if len(zones) > 0 {
		zone = zones[0]
	}
	return misregistered(chain.ReasonTargetAZNotEnabled, chain.Facts{chain.FactZone: zone, chain.FactLoadBalancerARN: balancer.ARN},
		"%d of %s unused (%s), %s the load balancer %s does not serve; it serves %s", len(off), counted(len(v.own()), "target"), enumerate(off), where,
		cmp.Or(balancer.Name, balancer.ARN), strings.Join(v.servedZones(), ", "))
}
