// The families table is the contract of /metrics: registration, docs/metrics.md and the tests derive from it.
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import "slices"

// Type is a family's type in the exposition format.
type Type string

// The types that are used.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram" // native, with classic buckets
)

// Stability says what an upgrade may do to a family.
type Stability string

// The stabilities.
const (
	Stable   Stability = "stable"   // name, labels and meaning change in a major version only
	Evolving Stability = "evolving" // may change in any version, with a line in the changelog
)

// Family is one row of the table.
type Family struct {
	Name      string
	Type      Type
	Help      string
	Labels    []string
	Buckets   []float64 // the classic buckets of a histogram
	Stability Stability
}

// family names a row, in the order of the contract.
type family int

const (
	accessSlots family = iota
	accessProbes
	accessFailures
	accessFailureReasons
	accessUnknownReasons
	accessStepResults
	accessFailing
	accessUp
	accessStepDuration
	accessChainDuration
	accessLastProbe
	accessLastSuccess
	accessClockSkew
	accessCredentialsExpiry
	accessTargetInfo
	albSlots
	albProbes
	albFailures
	albFailureReasons
	albUnknownReasons
	albStepResults
	albGroupStepResults
	albFailing
	albTargets
	albObservations
	albFailOpen
	albRequestDuration
	albLastRead
	albCertificateExpiry
	albTargetInfo
	gateOpen
	gateDecisions
	gateExceptions
	selfBuildInfo
	selfReloadSuccessful
	selfReloadTimestamp
	selfProbesInFlight
	selfProbeLateness
	selfProbeOverruns
	selfAWSRequests
	selfAWSBudgetWait
	selfAWSBudgetStretch
	selfDiscoveredTargets
	selfDiscoverySuccess
	familyCount
)

// families is the ONE table, of every kind.
var families = table(accessFamilies, albFamilies, gateFamilies, selfFamilies)

func table(kinds ...map[family]Family) (all [familyCount]Family) {
	for _, kind := range kinds {
		for id, row := range kind {
			all[id] = row
		}
	}
	return all
}

func with(labels []string, more ...string) []string { return slices.Concat(labels, more) }

// Families returns the table, in the order of the documentation.
func Families() []Family { return slices.Clone(families[:]) }
