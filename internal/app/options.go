// Options are what an App is made of; everything else comes from the configuration file.
//
// SPDX-License-Identifier: Apache-2.0

// Package app is the only wiring: it joins configuration, probes, scheduler, results, metrics and web into one exporter that starts, reloads and stops.
package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	toolkit "github.com/prometheus/exporter-toolkit/web"
)

// Options configure an App.
type Options struct {
	ConfigFile   string
	Web          *toolkit.FlagConfig // listen addresses, TLS and basic auth, as every Prometheus exporter has them
	Logger       *slog.Logger
	Resolver     *net.Resolver // for the apiservers' names; nil is the system's
	Concurrency  int           // runs in flight at once; 0: as many as there are targets
	DrainTimeout time.Duration // how long Stop waits for requests and runs
	Version      string
}

// DefaultOptions returns options that listen on :9943, without a configuration file.
func DefaultOptions() Options {
	systemd, file := false, ""
	return Options{
		Web:          &toolkit.FlagConfig{WebListenAddresses: &[]string{DefaultAddress}, WebSystemdSocket: &systemd, WebConfigFile: &file},
		Logger:       slog.New(slog.DiscardHandler),
		DrainTimeout: 10 * time.Second,
		Version:      "unknown",
	}
}

// DefaultAddress is where the exporter listens unless told otherwise.
const DefaultAddress = ":9943"

func (o Options) validate() error {
	switch {
	case o.ConfigFile == "":
		return errors.New("app: Options.ConfigFile is not set")
	case o.Web == nil || o.Web.WebSystemdSocket == nil || o.Web.WebListenAddresses == nil || o.Web.WebConfigFile == nil:
		return errors.New("app: Options.Web is not set")
	case len(*o.Web.WebListenAddresses) == 0 && !*o.Web.WebSystemdSocket:
		return errors.New("app: Options.Web names no address to listen on")
	case o.Logger == nil:
		return errors.New("app: Options.Logger is not set")
	case o.Concurrency < 0:
		return fmt.Errorf("app: Options.Concurrency is %d, must not be negative", o.Concurrency)
	case o.DrainTimeout <= 0:
		return fmt.Errorf("app: Options.DrainTimeout is %s, must be above 0", o.DrainTimeout)
	}
	return nil
}
