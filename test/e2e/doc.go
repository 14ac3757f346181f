// The suite against real components; its files are tests.
//
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs eks-slo-exporter against a real etcd, kube-apiserver and aws-iam-authenticator, with the sandbox in the place of AWS.
package e2e
