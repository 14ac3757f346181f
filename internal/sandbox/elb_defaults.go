// What target groups and load balancers have when nobody says otherwise.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"maps"
	"strconv"
	"time"
)

// The health check's defaults (Application Load Balancers, "Health checks for your target groups").
const (
	defaultInterval           = 30 * time.Second
	defaultTimeout            = 5 * time.Second
	defaultHealthyThreshold   = 5
	defaultUnhealthyThreshold = 2
	defaultMatcher            = "200"
	trafficPort               = "traffic-port" // health checks go where requests go
)

// groupDefaults are the attributes of a target group (ELBv2 API, TargetGroupAttribute).
var groupDefaults = map[string]string{
	"deregistration_delay.timeout_seconds":                                "300",
	"load_balancing.algorithm.type":                                       "round_robin",
	"load_balancing.cross_zone.enabled":                                   "use_load_balancer_configuration",
	"slow_start.duration_seconds":                                         "0",
	"stickiness.enabled":                                                  "false",
	"target_group_health.dns_failover.minimum_healthy_targets.count":      "1",
	"target_group_health.dns_failover.minimum_healthy_targets.percentage": "off",
	minHealthyCount:   "1",
	minHealthyPercent: "off",
}

// The attributes of a group that say below how many healthy targets a load balancer routes to all.
const (
	minHealthyCount   = "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count"
	minHealthyPercent = "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage"
)

// balancerDefaults are the attributes of an application load balancer, as far as they matter to its targets (ELBv2 API, LoadBalancerAttribute).
var balancerDefaults = map[string]string{
	"deletion_protection.enabled":       "false",
	"load_balancing.cross_zone.enabled": "true",
	"routing.http2.enabled":             "true",
	"zonal_shift.config.enabled":        "false",
}

// idle is for how long the load balancer waits for the answer of a target.
func (l *LoadBalancer) idle() time.Duration { return cmp.Or(l.IdleTimeout, time.Minute) }

// attributes are all of the load balancer's.
func (l *LoadBalancer) attributes() map[string]string {
	all := withDefaults(balancerDefaults, l.Attributes)
	all["idle_timeout.timeout_seconds"] = strconv.Itoa(int(l.idle().Seconds()))
	return all
}

// withDefaults lays values over defaults.
func withDefaults(defaults, values map[string]string) map[string]string {
	all := maps.Clone(defaults)
	maps.Copy(all, values)
	return all
}

// attribute is the group's, or its default.
func (g *TargetGroup) attribute(key string) string {
	return cmp.Or(g.Attributes[key], groupDefaults[key])
}

// seconds reads an attribute that is a number of seconds; what is none is 0.
func (g *TargetGroup) seconds(key string) time.Duration {
	return time.Duration(number(g.attribute(key))) * time.Second
}

// number reads an attribute that is a number; off, and what is none, is 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
