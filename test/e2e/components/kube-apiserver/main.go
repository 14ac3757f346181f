// Command kube-apiserver is Kubernetes' own API server, built from its published modules for the real-component suite.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
