// Pins what the real-component suite builds: the aws-iam-authenticator.
//
// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package authenticator pins the aws-iam-authenticator that the real-component suite builds; it is never imported.
package authenticator

import _ "sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator"
