// Alertmanagers are fixed targets of Prometheus' notifier, one configuration each.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	commonconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/notifier"
)

// mostAnswer is how much of an Alertmanager's answer is read.
const mostAnswer = 1 << 20

// newNotifier makes a notifier whose requests end with ctx, even those of its last drain.
func newNotifier(ctx context.Context, registerer *few, logger *slog.Logger) *notifier.Manager {
	return notifier.NewManager(&notifier.Options{
		QueueCapacity: queueCapacity, DrainOnShutdown: true, Registerer: registerer,
		Do: func(one context.Context, client *http.Client, request *http.Request) (*http.Response, error) {
			one, cancel := context.WithCancel(one)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			answer, err := client.Do(request.WithContext(one)) //nolint:gosec // the address is the configuration's
			if err != nil {
				return nil, err //nolint:wrapcheck // the notifier tells it
			}
			_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)) // only the status counts; read to the end, the connection can be used again
			err = answer.Body.Close()
			answer.Body = http.NoBody
			return answer, err
		},
	}, model.UTF8Validation, logger)
}

// applyAlertmanagers hands the notifier its targets; it takes them up once it runs.
func (e *Engine) applyAlertmanagers(urls []*url.URL) error {
	conf := config.DefaultConfig
	groups := map[string][]*targetgroup.Group{}
	for i, u := range urls {
		if u == nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("taking up Alertmanager %d: want an http or https URL with a host", i+1)
		}
		conf.AlertingConfig.AlertmanagerConfigs = append(conf.AlertingConfig.AlertmanagerConfigs, alertmanager(u))
	}
	for name := range conf.AlertingConfig.AlertmanagerConfigs.ToMap() {
		groups[name] = nil
	}
	for i, u := range urls {
		groups[fmt.Sprintf("config-%d", i)] = []*targetgroup.Group{{Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(u.Host)}}}}
	}
	if err := e.notifier.ApplyConfig(&conf); err != nil {
		return fmt.Errorf("taking up %d Alertmanagers: %w", len(urls), err)
	}
	select {
	case <-e.targets: // nobody took up the ones before
	default:
	}
	e.targets <- groups
	return nil
}

func alertmanager(u *url.URL) *config.AlertmanagerConfig {
	c := config.DefaultAlertmanagerConfig
	c.Scheme, c.PathPrefix = u.Scheme, u.Path
	if u.User != nil {
		password, _ := u.User.Password()
		c.HTTPClientConfig.BasicAuth = &commonconfig.BasicAuth{Username: u.User.Username(), Password: commonconfig.Secret(password)}
	}
	return &c
}
