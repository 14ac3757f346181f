// Where a target's health checks have led it by a moment: counted, not replayed, so that a target of many days costs no more than a new one.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// checkedState is where health checks led a target.
type checkedState struct {
	state     chain.TargetState
	code      string
	status    int       // of a mismatch
	since     time.Time // when the state began; zero: initial
	good, bad int       // the last checks of the same outcome, in a row
}

// checkSeries is a number of checks in a row that were all answered alike.
type checkSeries struct {
	answer CheckAnswer
	first  time.Time // when the first result was known
	n      int
}

// checked goes through the answers of a target. The check number k, from 1, is made k intervals after registration is done; silence is known only when its timeout is over.
// A new target of an application load balancer needs one good check (Application Load Balancers, "Health checks for your target groups"); all other changes need the thresholds.
func (v GroupView) checked(t *RegisteredTarget) checkedState {
	state := checkedState{state: chain.TargetInitial, code: chain.CodeInitialHealthChecking}
	answers := append([]CheckAnswer{{}}, t.Answers...)
	for i, answer := range answers {
		until := v.now.Add(1) // the check at this very moment counts
		if i+1 < len(answers) && answers[i+1].Since.Before(until) {
			until = answers[i+1].Since
		}
		if series := v.series(t, answer, until); series.n > 0 {
			state = v.after(state, series)
		}
	}
	return state
}

// series counts the checks that meet an answer before another moment, and whose result is known by now.
func (v GroupView) series(t *RegisteredTarget, answer CheckAnswer, until time.Time) checkSeries {
	start, interval, latency := v.checking(t), v.interval(), time.Duration(0)
	if answer.Kind == CheckSilence {
		latency = cmp.Or(v.Check.Timeout, defaultTimeout)
	}
	if known := v.now.Add(1 - latency); known.Before(until) {
		until = known
	}
	from := max(1, upTo(answer.Since.Sub(start), interval)) // the number of the first check
	to := upTo(until.Sub(start), interval)                  // and of the one after the last
	return checkSeries{answer, start.Add(time.Duration(from)*interval + latency), to - from}
}

// upTo is the least whole number of intervals that is not less than d.
func upTo(d, interval time.Duration) int {
	n := d / interval
	if d > n*interval {
		n++
	}
	return int(n)
}

func (v GroupView) interval() time.Duration { return cmp.Or(v.Check.Interval, defaultInterval) }

// after is the state that a series leads to.
func (v GroupView) after(s checkedState, series checkSeries) checkedState {
	if series.answer.passes(v.Check) {
		needed := cmp.Or(v.Check.HealthyThreshold, defaultHealthyThreshold)
		if s.state == chain.TargetInitial && !v.network() {
			needed = 1
		}
		if s.state != chain.TargetHealthy && s.good+series.n >= needed {
			s.state, s.code, s.status, s.since = chain.TargetHealthy, "", 0, v.known(series, needed-s.good)
		}
		s.good, s.bad = s.good+series.n, 0
		return s
	}
	needed := cmp.Or(v.Check.UnhealthyThreshold, defaultUnhealthyThreshold)
	if s.state != chain.TargetUnhealthy && s.bad+series.n >= needed {
		s.state, s.since = chain.TargetUnhealthy, v.known(series, needed-s.bad)
	}
	if s.state == chain.TargetUnhealthy {
		s.code, s.status = series.answer.failure(), series.answer.Status
	}
	s.good, s.bad = 0, s.bad+series.n
	return s
}

// known is when the result of the nth check of a series, from 1, was known.
func (v GroupView) known(series checkSeries, n int) time.Time {
	return series.first.Add(time.Duration(n-1) * v.interval())
}
