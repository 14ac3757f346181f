// Pins what the real-component suite builds: the etcd server.
//
// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package etcd pins the etcd server that the real-component suite builds; it is never imported.
package etcd

import _ "go.etcd.io/etcd/server/v3"
