// The schedule of probes: defaults for all targets, and what one target sets for itself.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"time"

	"github.com/prometheus/common/model"
)

const (
	defaultInterval = 15 * time.Second
	defaultTimeout  = 10 * time.Second
	shortestProbe   = time.Second
)

func (d *decoder) probe(root fields) Probe {
	defaults := Probe{defaultInterval, defaultTimeout}
	if !root.has("probe") {
		return defaults
	}
	return d.schedule(d.mapping(root.values["probe"], "probe", "interval", "timeout"), defaults)
}

// schedule reads interval and timeout. When they are wrong the defaults come back, so that one mistake in probe is not a mistake of every target.
func (d *decoder) schedule(f fields, defaults Probe) Probe {
	interval, ownInterval := f.duration("interval", defaults.Interval)
	timeout, ownTimeout := f.duration("timeout", defaults.Timeout)
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
		d.report(f.at(key), timeoutAboveInterval, written(timeout), written(interval), written(defaults.Interval), written(defaults.Timeout))
		return defaults
	}
	return Probe{interval, timeout}
}

// limit is a bound of a duration, and why it is one.
type limit struct {
	value time.Duration
	why   string
}

func (d *decoder) atLeast(f fields, key string, value time.Duration, least limit) bool {
	if value < least.value {
		d.report(f.at(key), durationTooShort, key, written(value), written(least.value), least.why)
	}
	return value >= least.value
}

func (d *decoder) atMost(f fields, key string, value time.Duration, most limit) bool {
	if value > most.value {
		d.report(f.at(key), durationTooLong, key, written(value), written(most.value), most.why)
	}
	return value <= most.value
}

// written spells a duration as the configuration does.
func written(d time.Duration) string { return model.Duration(d).String() }
