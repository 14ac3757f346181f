// Asking a running exporter: where it is, how to sign in, and what its JSON says.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/alecthomas/kingpin/v2"
	commonconfig "github.com/prometheus/common/config"

	"github.com/eks-slo/eks-slo-exporter/internal/app"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
)

const (
	askTimeout = 30 * time.Second // the exporter itself may ask a Prometheus, once more after an error
	askLimit   = 64 << 20         // of an answer
)

// asking are the flags that say who answers of budgets and gates: a running exporter, or the Prometheus of a configuration.
type asking struct {
	url      *url.URL
	httpFile *string
	file     *string
}

func (a *asking) addFlags(cmd *kingpin.CmdClause) {
	cmd.Flag("exporter.url", "The running exporter that is asked.").Default("http://localhost" + app.DefaultAddress).URLVar(&a.url)
	a.httpFile = cmd.Flag("http.config.file", "How to sign in to the exporter: a file with Prometheus' HTTP client options, as promtool and amtool have it.").ExistingFile()
	a.file = cmd.Flag("config.file", "Do not ask an exporter, but judge here by the gates of this configuration and the Prometheus that its query section names.").String()
}

// budgets are those of the configuration file; nil: an exporter is asked.
func (a *asking) budgets() (*app.Budgets, error) {
	if *a.file == "" {
		return nil, nil
	}
	cfg, err := config.Load(*a.file)
	if err != nil {
		return nil, configHint(err, *a.file)
	}
	if cfg.Query.Prometheus == nil {
		return nil, fmt.Errorf("asking by %s: it names no Prometheus in section query; the embedded engine belongs to the exporter that runs it: leave --config.file out, and name that exporter with --exporter.url", *a.file)
	}
	return app.NewBudgets(cfg.Query, cfg.Gates, nil) //nolint:wrapcheck // it says what it was doing
}

// get asks the exporter for a path and reads its JSON into answer, whatever the status code.
func (a *asking) get(ctx context.Context, path string, query url.Values, answer any) (code int, err error) {
	where := a.url.JoinPath(path)
	where.RawQuery = query.Encode()
	shown := where.Redacted()
	client, err := a.client()
	if err != nil {
		return 0, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), nil)
	if err != nil {
		return 0, fmt.Errorf("asking the exporter: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("asking the exporter: %w; does it run there? name it with --exporter.url", err)
	}
	defer response.Body.Close()
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "application/json" {
		return response.StatusCode, fmt.Errorf("asking the exporter at %s: status %d with %q, where JSON was expected; is this the address of an eks-slo-exporter of this version?", shown, response.StatusCode, kind)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, askLimit)).Decode(answer); err != nil {
		return response.StatusCode, fmt.Errorf("reading the answer of %s: %w", shown, err)
	}
	return response.StatusCode, nil
}

func (a *asking) client() (*http.Client, error) {
	options := commonconfig.DefaultHTTPClientConfig
	if *a.httpFile != "" {
		loaded, _, err := commonconfig.LoadHTTPConfigFile(*a.httpFile)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", *a.httpFile, err)
		}
		options = *loaded
	}
	client, err := commonconfig.NewClientFromConfig(options, program)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask the exporter: %w", err)
	}
	client.Timeout = askTimeout
	return client, nil
}
