// The package that turns SLO specifications into Prometheus rules.
//
// SPDX-License-Identifier: Apache-2.0

// Package sloth reads Sloth prometheus/v1 specifications strictly, has github.com/slok/sloth generate their rules, and makes these rules exact.
//
// Read tells every mistake in a file. Generate keeps the names and labels of Sloth's recordings and alerts and replaces their expressions:
//
//   - Events are counted per series by the counters' own values at full hours, never extrapolated, so that none is lost or counted twice between two windows, in lost scrapes, or in a
//     gap of less than an hour (events.go, windows.go).
//   - No division has a denominator of 0, and a missing error series is no error: nothing records NaN, and no traffic records nothing (ratios.go).
//   - An alert needs at least slo.MinFailures failures in its long window, thresholds are exact decimals, and what is not measured has alerts of its own (alerts.go, coverage.go).
//
// The names of what is recorded beside Sloth's own are in names.go.
package sloth
