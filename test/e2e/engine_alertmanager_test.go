// A real Alertmanager receives what the embedded engine sends: it groups, inhibits, and resolves.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eks-slo/eks-slo-exporter/internal/engine"
	"github.com/eks-slo/eks-slo-exporter/test/e2e/harness"
)

// The ticket comes first, so that at no moment it is there without the page: Alertmanager waits before it tells the first of a group.
const outageRules = `groups: [{name: g, interval: 100ms, rules: [
  {alert: Slow, expr: "broken > 0", labels: {severity: ticket}},
  {alert: Down, expr: "broken > 0", labels: {severity: page}, annotations: {summary: "{{ $labels.of }} is down"}}]}]`

const alertmanagerConfig = `route: {receiver: hook, group_by: [alertname], group_wait: 300ms, group_interval: 300ms, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: %q, send_resolved: true}]}]
inhibit_rules: [{source_matchers: [severity=page], target_matchers: [severity=ticket], equal: [of]}]
`

// notification is what Alertmanager's webhook gives.
type notification struct {
	Status      string            `json:"status"`
	GroupLabels map[string]string `json:"groupLabels"`
	Alerts      []struct {
		Status       string            `json:"status"`
		Labels       map[string]string `json:"labels"`
		GeneratorURL string            `json:"generatorURL"`
	} `json:"alerts"`
}

func (n notification) String() string {
	text := make([]string, 0, len(n.Alerts))
	for _, a := range n.Alerts {
		text = append(text, a.Status+" "+a.Labels["of"])
	}
	slices.Sort(text)
	return n.Status + " " + n.GroupLabels["alertname"] + ": " + strings.Join(text, ", ")
}

// startAlertmanager starts Debian's prometheus-alertmanager with a webhook.
func startAlertmanager(t *testing.T) (*url.URL, <-chan notification) {
	t.Helper()
	program, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		t.Fatalf("the package prometheus-alertmanager is needed: %v", err)
	}
	got := make(chan notification, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notification
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Errorf("a notification: %v", err)
			return
		}
		got <- n
	}))
	t.Cleanup(hook.Close)
	dir := t.TempDir()
	config := filepath.Join(dir, "alertmanager.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, alertmanagerConfig, hook.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	harness.Start(ctx, t, harness.Command{
		Name: "alertmanager", Path: program, Grace: 5 * time.Second,
		Args: []string{"--config.file=" + config, "--storage.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + address, "--cluster.listen-address="},
		Ready: func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/-/ready", nil)
			if err != nil {
				return err
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			defer func() { _ = answer.Body.Close() }()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("HTTP %d", answer.StatusCode)
			}
			return nil
		},
	})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return &url.URL{Scheme: "http", Host: address}, got
}

func TestOutageReachesAlertmanager(t *testing.T) {
	alertmanager, got := startAlertmanager(t)
	var broken atomic.Bool
	broken.Store(true)
	registry := prometheus.NewRegistry()
	for _, of := range []string{"a", "b"} {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "broken", ConstLabels: prometheus.Labels{"of": of}}, func() float64 {
			if broken.Load() {
				return 1
			}
			return 0
		}))
	}
	e, err := engine.Open(engine.Options{
		Dir: t.TempDir(), Interval: 50 * time.Millisecond, Gatherer: registry, Instance: "exporter.example:9817",
		Rules: fstest.MapFS{"rules.yaml": {Data: []byte(outageRules)}}, Alertmanagers: []*url.URL{alertmanager},
		ExternalURL: &url.URL{Scheme: "http", Host: "exporter.example:9817", Path: "/prometheus"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	e.Start()
	fired := notified(t, got)
	if want := "firing Down: firing a, firing b"; fired.String() != want {
		t.Errorf("first %s, want %s: one group, and no ticket beside a page", fired, want)
	}
	if link := fired.Alerts[0].GeneratorURL; !strings.HasPrefix(link, "http://exporter.example:9817/prometheus/graph?g0.expr=broken") {
		t.Errorf("the alert links to %s", link)
	}
	broken.Store(false)
	if resolved, want := notified(t, got).String(), "resolved Down: resolved a, resolved b"; resolved != want {
		t.Errorf("then %s, want %s", resolved, want)
	}
}

func notified(t *testing.T, got <-chan notification) notification {
	t.Helper()
	select {
	case n := <-got:
		return n
	case <-time.After(30 * time.Second):
		t.Fatal("no notification in 30 seconds")
		return notification{}
	}
}
