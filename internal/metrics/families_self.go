// The families of the exporter itself: what it is, what it costs, and what keeps it waiting.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

var (
	latenessBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30}
	waitBuckets     = []float64{.001, .01, .1, .5, 1, 2.5, 5, 10}
)

var selfFamilies = map[family]Family{
	selfBuildInfo: {"eks_slo_exporter_build_info", Gauge,
		"1, with what the exporter was built from.", []string{"branch", "goarch", "goos", "goversion", "revision", "tags", "version"}, nil, Stable},
	selfReloadSuccessful: {"eks_slo_exporter_config_last_reload_successful", Gauge,
		"1 when the latest attempt to load the configuration succeeded, else 0: the last good one is in use.", nil, nil, Stable},
	selfReloadTimestamp: {"eks_slo_exporter_config_last_reload_success_timestamp_seconds", Gauge,
		"When the configuration was last loaded with success; 0 before the first time.", nil, nil, Stable},
	selfProbesInFlight: {"eks_slo_exporter_probes_in_flight", Gauge,
		"Runs that have begun and not returned.", nil, nil, Evolving},
	selfProbeLateness: {"eks_slo_exporter_probe_lateness_seconds", Histogram,
		"How long after its slot a run began.", nil, latenessBuckets, Evolving},
	selfProbeOverruns: {"eks_slo_exporter_probe_overruns_total", Counter,
		"Runs that had not returned by their next slot.", nil, nil, Evolving},
	selfAWSRequests: {"eks_slo_exporter_aws_requests_total", Counter,
		"Calls to AWS by how they ended: ok, AWS's error code, http_STATUS for an answer without one, and timeout, canceled or none without an answer. " +
			"Past 500 series further ones are counted as the code other.",
		[]string{"service", "operation", "code"}, nil, Evolving},
	selfAWSBudgetWait: {"eks_slo_exporter_aws_budget_wait_seconds", Histogram,
		"How long a read waited for its turn in the AWS API budget.", nil, waitBuckets, Evolving},
	selfAWSBudgetStretch: {"eks_slo_exporter_aws_budget_stretch", Gauge,
		"How many times longer than their own interval the intervals of stable target groups are, so that an AWS API budget suffices for all: 1 when nothing is stretched. By the pool whose budget it is.",
		[]string{"account", "region", "service"}, nil, Evolving},
	selfDiscoveredTargets: {"eks_slo_exporter_discovered_targets", Gauge,
		"Targets that the latest successful discovery found; no series before the first.", []string{"discovery"}, nil, Evolving},
	selfDiscoverySuccess: {"eks_slo_exporter_discovery_last_success_timestamp_seconds", Gauge,
		"When a discovery last succeeded; 0 before the first time. What it found stays while it fails.", []string{"discovery"}, nil, Evolving},
}
