// The package's documentation.
//
// SPDX-License-Identifier: Apache-2.0

// Package query asks a Prometheus-compatible API what the generated rules have recorded, and makes slo.Status of it.
//
// New makes a client for a Prometheus, Thanos, Mimir or Amazon Managed Prometheus; with HandlerTransport the same client asks an API in this process. A Reader asks by it. Whatever goes wrong is
// an *Error with a Kind, so that nobody takes what is not known for something good.
package query
