// The search for secrets: in logs, metrics, pages, JSON and reports of every fault.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// Every fault is run at level debug, and all that anybody can read of it is searched for secrets.
func TestNothingSecretLeaks(t *testing.T) {
	for _, fault := range sandbox.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			scene := newScene(t)
			if err := fault.Apply(scene); err != nil {
				t.Fatal(err)
			}
			said := allThatIsSaid(t, scene, fault.Target)
			secrets := append(scene.Secrets(), "k8s-aws-v1.", "X-Amz-Signature", "X-Amz-Security-Token", "SecretAccessKey", "SessionToken")
			for where, text := range said {
				for _, secret := range secrets {
					if secret != "" && strings.Contains(text, secret) {
						t.Errorf("%s shows %.12s…:\n%s", where, secret, grep(text, secret))
					}
				}
			}
		})
	}
}

// allThatIsSaid runs the target once, through the exporter's own recorder and handler, and returns every text that comes out.
func allThatIsSaid(t *testing.T, scene *sandbox.Scene, name string) map[string]string {
	t.Helper()
	scene.Setenv(t.Setenv)
	path, err := scene.WriteConfig()
	if err != nil {
		t.Fatal(err)
	}
	log := &syncBuffer{}
	options := DefaultOptions()
	options.ConfigFile, options.Resolver = path, scene.DNS.Resolver()
	options.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.probing.governor.Store(p.governor)
	a.recorder.retain(p.targets)
	run, err := p.prober.Run(t.Context(), targetNamed(t, p.targets, name), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a.recorder.Record(run)
	report, err := json.Marshal(results.NewReport(run))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{"report": string(report)}
	for _, page := range []string{"/", "/metrics", "/api/v1/targets", "/targets/" + url.PathEscape(name)} {
		w := httptest.NewRecorder()
		a.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, page, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), string(run.Verdict.Reason)) {
			t.Errorf("GET %s: %d, without the verdict's reason %s", page, w.Code, run.Verdict.Reason)
		}
		said[page] = w.Body.String()
	}
	oneEvent(t, said["/metrics"], run)
	said["log"] = log.String()
	return said
}

// oneEvent checks that the slot ended in exactly one event, whose verdict is counted once.
func oneEvent(t *testing.T, metrics string, run chain.Run) {
	t.Helper()
	chainOf, before, after := "eks_access", fmt.Sprintf(`cluster=%q,identity=%q,`, run.Target.Cluster.Name, run.Target.Identity.Name), ""
	if run.Target.Kind == chain.KindALB {
		chainOf, before, after = "alb", "", fmt.Sprintf(`,target_group=%q`, run.Target.Name)
	}
	want := []string{chainOf + "_slots_total{" + strings.Trim(before+after, ",") + "} 1"}
	for _, result := range chain.Results {
		n := 0
		if result == run.Verdict.Outcome {
			n = 1
		}
		want = append(want, fmt.Sprintf(`%s_probes_total{%sresult=%q%s} %d`, chainOf, before, result, after, n))
	}
	for _, line := range want {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", line, grep(metrics, chainOf+"_probes_total"))
		}
	}
}

// The search itself finds a leak: a log line with a run's session token would be red.
func TestLeakSearchFindsALeak(t *testing.T) {
	scene := newScene(t)
	probeOnce(t, scene, "ci-deploy@prod")
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	scene.State.Change(func(s *sandbox.State) {
		for _, session := range s.Sessions {
			logger.Info("leak", "token", session.SessionToken, "at", time.Time{})
		}
	})
	found := 0
	for _, secret := range scene.Secrets() {
		if strings.Contains(log.String(), secret) {
			found++
		}
	}
	if found < 2 {
		t.Errorf("of two sessions' tokens %d were found", found)
	}
}
