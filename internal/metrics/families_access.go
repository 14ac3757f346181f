// The families of the access chain: one identity on one cluster.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

// latencyObjective is the threshold of the latency SLO of access, which must be a classic bucket of its histogram.
const latencyObjective = 5

var (
	stepBuckets  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	chainBuckets = []float64{.1, .25, .5, 1, 1.5, 2, 3, latencyObjective, 7.5, 10, 15, 30}
)

var (
	byTarget  = []string{"cluster", "identity"}
	byCluster = []string{"cluster"}
)

var accessFamilies = map[family]Family{
	accessSlots: {"eks_access_slots_total", Counter,
		"Slots of the schedule that ended in an event.", byTarget, nil, Stable},
	accessProbes: {"eks_access_probes_total", Counter,
		"Events by result: success, failure or unknown (the prober could not tell). They add up to eks_access_slots_total.", with(byTarget, "result"), nil, Stable},
	accessFailures: {"eks_access_failures_total", Counter,
		"Failures by the one step that is blamed. They add up to eks_access_probes_total of the result failure.", with(byTarget, "step"), nil, Stable},
	accessFailureReasons: {"eks_access_failure_reasons_total", Counter,
		"Failures by step and reason. They add up to eks_access_failures_total by cluster, with what targets counted that were removed since.",
		with(byCluster, "step", "reason"), nil, Stable},
	accessUnknownReasons: {"eks_access_unknown_reasons_total", Counter,
		"Unknown events by reason: why the prober could not tell. They add up to eks_access_probes_total of the result unknown by cluster, as failure reasons do.",
		with(byCluster, "reason"), nil, Stable},
	accessStepResults: {"eks_access_step_results_total", Counter,
		"What each step showed: success, failure or unknown. Skipped steps are not counted.", with(byCluster, "step", "result"), nil, Stable},
	accessFailing: {"eks_access_failing", Gauge,
		"1 while the latest verdict is a failure, with the blamed step and its reason; no series otherwise.", with(byTarget, "step", "reason"), nil, Stable},
	accessUp: {"eks_access_up", Gauge,
		"Whether the identity gets into the cluster by the latest verdict: 1 success, 0 failure; no series while it is unknown.", byTarget, nil, Stable},
	accessStepDuration: {"eks_access_step_duration_seconds", Histogram,
		"How long a step took that showed success or failure.", with(byCluster, "step"), stepBuckets, Stable},
	accessChainDuration: {"eks_access_chain_duration_seconds", Histogram,
		"How long the whole chain took in runs that succeeded: a failure has its own objective, and a fast one is not good latency.", byCluster, chainBuckets, Stable},
	accessLastProbe: {"eks_access_last_probe_timestamp_seconds", Gauge,
		"When the latest run ended in which at least one step was exercised; no series before the first.", byTarget, nil, Stable},
	accessLastSuccess: {"eks_access_last_success_timestamp_seconds", Gauge,
		"When the latest successful run ended; no series before the first.", byTarget, nil, Stable},
	accessClockSkew: {"eks_access_clock_skew_seconds", Gauge,
		"The local clock less the peer's, by the Date header of its latest answer: positive when the local clock is ahead. The peer is an AWS service and region, or a cluster.",
		[]string{"peer"}, nil, Stable},
	accessCredentialsExpiry: {"eks_access_credentials_expiry_timestamp_seconds", Gauge,
		"When the latest session of the identity ends; no series for credentials without an end.", []string{"identity"}, nil, Stable},
	accessTargetInfo: {"eks_access_target_info", Gauge,
		"1 for every target, with the labels configured on its cluster and identity, for joins. Every configured label name is on every series, empty where it is not set.",
		byTarget, nil, Stable},
}
