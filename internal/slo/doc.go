// The package of everything that can be known of an SLO without a metric: exact budgets, the windows of its alerts, and what they can tell of probes.
//
// SPDX-License-Identifier: Apache-2.0

// Package slo computes error budgets and burn-rate alerts on integer events and exact fractions, never in floating point: 99.9 % leaves exactly 1/1000.
//
// An event is one probe (one slot of the schedule that ended in success or failure). The arithmetic of burn rates is that of the SRE workbook, "Alerting on SLOs"
// (https://sre.google/workbook/alerting-on-slos/); what is added is that probes come at a known cadence, so that a burn rate is a number of failures.
package slo
