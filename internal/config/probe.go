// The schedule of probes: defaults for all targets, and what one target sets for itself.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

const (
	defaultInterval = 15 * time.Second
	defaultTimeout  = 10 * time.Second
	shortestProbe   = time.Second
)

func (d *decoder) probe(root diag.Fields) Probe {
	defaults := Probe{defaultInterval, defaultTimeout}
	if !root.Has("probe") {
		return defaults
	}
	return d.schedule(d.Mapping(root.Node("probe"), "probe", "interval", "timeout"), defaults)
}

// schedule reads interval and timeout. When they are wrong the defaults come back, so that one mistake in probe is not a mistake of every target.
func (d *decoder) schedule(f diag.Fields, defaults Probe) Probe {
	interval, ownInterval := f.Duration("interval", defaults.Interval)
	timeout, ownTimeout := f.Duration("timeout", defaults.Timeout)
	if !ownInterval && !ownTimeout {
		return defaults
	}
	const why = "a probe takes several round trips to AWS and to the cluster"
	long := d.atLeast(f, "interval", interval, limit{shortestProbe, why})
	if !d.atLeast(f, "timeout", timeout, limit{shortestProbe, why}) || !long {
		return defaults
	}
	if timeout > interval {
		key := "timeout"
		if !ownTimeout {
			key = "interval"
		}
		d.Report(f.At(key), timeoutAboveInterval, written(timeout), written(interval), written(defaults.Interval), written(defaults.Timeout))
		return defaults
	}
	return Probe{interval, timeout}
}

// limit is a bound of a duration, and why it is one.
type limit struct {
	value time.Duration
	why   string
}

func (d *decoder) atLeast(f diag.Fields, key string, value time.Duration, least limit) bool {
	if value < least.value {
		d.Report(f.At(key), durationTooShort, key, written(value), written(least.value), least.why)
	}
	return value >= least.value
}

func (d *decoder) atMost(f diag.Fields, key string, value time.Duration, most limit) bool {
	if value > most.value {
		d.Report(f.At(key), durationTooLong, key, written(value), written(most.value), most.why)
	}
	return value <= most.value
}

// written spells a duration as the configuration does.
func written(d time.Duration) string { return model.Duration(d).String() }
