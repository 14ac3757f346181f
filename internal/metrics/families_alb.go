// The families of the alb chain: one target group, with or without a request through its load balancer.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

// requestObjective is the threshold of the latency SLO of requests, which must be a classic bucket of their histogram.
const requestObjective = 1

var requestBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, requestObjective, 2.5, 5, 10, 30}

var (
	byGroup  = []string{"target_group"}
	byRegion = []string{"region"}
)

var albFamilies = map[family]Family{
	albSlots: {"alb_slots_total", Counter,
		"Slots of the schedule that ended in an event.", byGroup, nil, Stable},
	albProbes: {"alb_probes_total", Counter,
		"Events by result: success, failure or unknown (the prober could not tell). They add up to alb_slots_total.", with(byGroup, "result"), nil, Stable},
	albFailures: {"alb_failures_total", Counter,
		"Failures by the one step that is blamed. They add up to alb_probes_total of the result failure.", with(byGroup, "step"), nil, Stable},
	albFailureReasons: {"alb_failure_reasons_total", Counter,
		"Failures by step and reason. They add up to alb_failures_total by region, with what targets counted that were removed since.", with(byRegion, "step", "reason"), nil, Stable},
	albUnknownReasons: {"alb_unknown_reasons_total", Counter,
		"Unknown events by reason: why the prober could not tell. They add up to alb_probes_total of the result unknown by region, as failure reasons do.",
		with(byRegion, "reason"), nil, Stable},
	albStepResults: {"alb_step_results_total", Counter,
		"What each step showed: success, failure or unknown. Skipped steps are not counted.", with(byRegion, "step", "result"), nil, Stable},
	albGroupStepResults: {"alb_group_step_results_total", Counter,
		"What each step showed of one target group: success, failure or unknown. Skipped steps are not counted. They add up to alb_step_results_total by region, " +
			"with what targets counted that were removed since.",
		with(byGroup, "step", "result"), nil, Stable},
	albFailing: {"alb_failing", Gauge,
		"1 while the latest verdict is a failure, with the blamed step and its reason; no series otherwise.", with(byGroup, "step", "reason"), nil, Stable},
	albTargets: {"alb_targets", Gauge,
		"Targets of the group by their state at the latest successful reading, those of another cluster left out. Every state of the ELB API is there, also at 0. " +
			"It stays while reads fail (see alb_last_read_timestamp_seconds); no series before the first reading, nor once ELB says that there is no such group.",
		with(byGroup, "state"), nil, Stable},
	albObservations: {"alb_target_observations_total", Counter,
		"Targets seen at each successful reading, by result: good (healthy) or bad (unhealthy, unhealthy.draining). Those in other states, and of another cluster, are neither.",
		with(byGroup, "result"), nil, Stable},
	albFailOpen: {"alb_fail_open", Gauge,
		"1 while too few targets are healthy, so that the load balancer routes to all of them, at the latest successful reading, else 0. Users may still be served: it is no outage by itself.",
		byGroup, nil, Stable},
	albRequestDuration: {"alb_request_duration_seconds", Histogram,
		"How long the request through the load balancer took when it was answered as declared: a failure has its own objective, and a fast one is not good latency.",
		byGroup, requestBuckets, Stable},
	albLastRead: {"alb_last_read_timestamp_seconds", Gauge,
		"When the target group was last read with success; its gauges are as old as that.", byGroup, nil, Stable},
	albCertificateExpiry: {"alb_request_certificate_expiry_timestamp_seconds", Gauge,
		"When the certificate ends that the latest request was shown; no series without TLS.", byGroup, nil, Evolving},
	albTargetInfo: {"alb_target_info", Gauge,
		"1 for every target, with where it is, the TargetGroupBinding that fills it, and the labels configured on it and its cluster, for joins. " +
			"Every configured label name is on every series, empty where it is not set.",
		with(byGroup, "region", "cluster", "namespace", "binding"), nil, Stable},
}
