// The evidence of a reading: what ELB says of the group, and what the cluster says beside it.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// facts are the evidence of the step registration.
func (v *groupView) facts() chain.Facts {
	facts := chain.Facts{
		chain.FactTargetGroup: v.group.Name, chain.FactTargetGroupARN: v.group.ARN, chain.FactTargetType: v.group.TargetType, chain.FactHealthCheck: checkText(v.group.Check),
		chain.FactTargets: summarize(healthOf(v.members)), chain.FactZones: strings.Join(v.servedZones(), ","), chain.FactZonalShift: v.overrides(), chain.FactAnomaly: v.anomalies(),
		chain.FactMissing: enumerate(v.absentIDs()), chain.FactForeign: enumerate(v.foreign()), chain.FactService: v.binding.Service, chain.FactEndpoints: v.endpointsText(),
		chain.FactEvent: cmp.Or(v.trouble.Text, v.trouble.Other),
	}
	var states []string
	for _, b := range v.group.LoadBalancers {
		states = append(states, strings.TrimSpace(b.Name+" "+b.State))
		facts[chain.FactLoadBalancerARN] = cmp.Or(facts[chain.FactLoadBalancerARN], b.ARN)
	}
	return facts.Merge(chain.Facts{chain.FactLoadBalancerState: enumerate(states)})
}

func healthOf(members []member) []chain.TargetHealth {
	var all []chain.TargetHealth
	for _, m := range members {
		all = append(all, m.TargetHealth)
	}
	return all
}

// checkText is such as "HTTP:traffic-port/healthz every 15s, timeout 5s, healthy after 2, unhealthy after 2, expects 200-299"; "" when it is not known.
func checkText(c chain.HealthCheck) string {
	switch {
	case c.Protocol == "":
		return ""
	case !c.Enabled:
		return "disabled"
	}
	text := fmt.Sprintf("%s:%s%s every %s, timeout %s, healthy after %d, unhealthy after %d", c.Protocol, c.Port, c.Path, c.Interval, c.Timeout, c.HealthyThreshold, c.UnhealthyThreshold)
	if c.Matcher != "" {
		text += ", expects " + c.Matcher
	}
	return text
}

// noOverride is the state of a target that no administrator takes out of service.
const noOverride = "no_override"

// overrides tells targets that a zonal shift, say, takes out of service, whatever their health.
func (v *groupView) overrides() string {
	by := map[string]int{}
	for _, m := range v.members {
		if m.Override != "" && m.Override != noOverride {
			by[m.Override]++
		}
	}
	return joinCodes(chain.CountCodes(by))
}

// anomalies tells targets that the load balancer finds unlike the others.
func (v *groupView) anomalies() string {
	var odd []string
	mitigated := 0
	for _, m := range v.members {
		if m.Anomalous {
			odd = append(odd, m.ID)
		}
		if m.Mitigated {
			mitigated++
		}
	}
	if len(odd) == 0 && mitigated == 0 {
		return ""
	}
	return fmt.Sprintf("%d anomalous (%s), %d sent less", len(odd), enumerate(odd), mitigated)
}

// endpointsText is what the cluster says beside what ELB says; "" when it was not read.
func (v *groupView) endpointsText() string {
	if !v.attributed {
		return ""
	}
	if v.group.TargetType == chain.TargetTypeInstance {
		nodes, excluded := v.readyNodes()
		return fmt.Sprintf("%d of %s ready, %d more excluded", len(nodes), counted(len(v.backends.Nodes), "node"), len(excluded))
	}
	ready, waiting, terminating := 0, 0, 0
	for _, e := range v.backends.Endpoints {
		switch {
		case e.Terminating:
			terminating++
		case e.Ready:
			ready++
		default:
			waiting++
		}
	}
	return fmt.Sprintf("%d ready, %d not ready, %d terminating", ready, waiting, terminating)
}
