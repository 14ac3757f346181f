// Tests of the whole exporter in one process: it starts on a free port, probes the scene, reloads, and leaves nothing behind.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// syncBuffer is a log that tests read while the exporter writes.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// exporter is a running App of a scene, with its log at level debug.
type exporter struct {
	*App
	t    *testing.T
	log  *syncBuffer
	file string
}

// startExporter runs the scene's exporter until the test ends. Its slots are a second apart.
func startExporter(t *testing.T, scene *sandbox.Scene) *exporter {
	t.Helper()
	scene.Config = strings.NewReplacer("interval: 5s, timeout: 3s", "interval: 1s, timeout: 1s", "    interval: 5s\n    timeout: 3s\n", "    interval: 1s\n    timeout: 1s\n", "timeout: 1s}", "timeout: 500ms}").Replace(scene.Config)
	scene.Setenv(t.Setenv)
	path, err := scene.WriteConfig()
	if err != nil {
		t.Fatal(err)
	}
	e := &exporter{t: t, log: &syncBuffer{}, file: path}
	options := DefaultOptions()
	options.ConfigFile, options.Resolver = path, scene.DNS.Resolver()
	options.Web.WebListenAddresses = &[]string{"127.0.0.1:0"}
	options.Logger = slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if e.App, err = New(options); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Errorf("stopping: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return e
}

// do asks a path and returns the status and the body.
func (e *exporter) do(method, path string) (int, string) {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), method, "http://"+e.Addr()+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (e *exporter) get(path string) string {
	e.t.Helper()
	status, body := e.do(http.MethodGet, path)
	if status != http.StatusOK {
		e.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	return body
}

// await polls until the condition holds, for as long as a slow machine may need.
func (e *exporter) await(what string, condition func() bool) {
	e.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			e.t.Fatalf("waited in vain for: %s\n%s", what, e.log)
		}
	}
}

// verdicts returns the latest verdict of each target, as the API tells it.
func (e *exporter) verdicts() map[string]string {
	var answer struct {
		Targets []struct {
			Target string
			Latest *struct {
				Result chain.Outcome
				Step   chain.Step
				Reason string
			}
		}
	}
	if err := json.Unmarshal([]byte(e.get("/api/v1/targets")), &answer); err != nil {
		e.t.Fatal(err)
	}
	all := map[string]string{}
	for _, target := range answer.Targets {
		if target.Latest != nil {
			all[target.Target] = strings.Trim(target.Latest.Result.String()+" "+target.Latest.Step.String()+"/"+target.Latest.Reason, " /")
		}
	}
	return all
}

func TestExporterFromStartToStop(t *testing.T) {
	scene := newScene(t)
	for _, name := range []string{"not-mapped", "unexpected-principal", "denied"} {
		fault, ok := sandbox.FaultNamed(name)
		if !ok {
			t.Fatalf("there is no fault %s", name)
		}
		if err := fault.Apply(scene); err != nil {
			t.Fatal(err)
		}
	}
	e := startExporter(t, scene)
	want := map[string]string{
		"ci-deploy@prod": "success", "ci-release@prod": "failure access_entry/not_mapped",
		"runner@prod": "failure credentials/unexpected_principal", "viewer@staging": "failure rbac/denied", "pod-agent@prod": "success", "node@prod": "success",
		"shop": "success", "web": "success",
	}
	e.await("an event of every target", func() bool { return len(e.verdicts()) == len(want) })
	for target, verdict := range want {
		if got := e.verdicts()[target]; got != verdict {
			t.Errorf("%s: got %q, want %q", target, got, verdict)
		}
	}
	metrics := e.get("/metrics")
	for _, line := range []string{
		`eks_access_up{cluster="prod",identity="ci-deploy"} 1`,
		`eks_access_failing{cluster="prod",identity="ci-release",reason="not_mapped",step="access_entry"} 1`,
		`eks_access_failing{cluster="prod",identity="runner",reason="unexpected_principal",step="credentials"} 1`,
		`eks_access_failing{cluster="staging",identity="viewer",reason="denied",step="rbac"} 1`,
		`eks_access_target_info{cluster="prod",env="prod",identity="ci-deploy",team="payments"} 1`,
		`alb_targets{state="healthy",target_group="shop"} 3`,
		`alb_target_info{binding="shop",cluster="prod",env="prod",namespace="shop",region="eu-west-1",target_group="shop",team="shop"} 1`,
		`eks_slo_exporter_config_last_reload_successful 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	page := e.get("/")
	for _, text := range []string{"3 failure, 5 success", "access_entry / not_mapped", "rbac / denied"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if status, _ := e.do(http.MethodGet, "/-/ready"); status != http.StatusOK {
		t.Errorf("ready is %d", status)
	}
}

func TestReload(t *testing.T) {
	scene := newScene(t)
	e := startExporter(t, scene)
	e.await("an event of every target", func() bool { return len(e.verdicts()) == 8 })

	t.Run("a broken file changes nothing and is told whole", func(t *testing.T) {
		write(t, e.file, strings.Replace(scene.Config, "identity: viewer", "identty: viewer", 1))
		status, body := e.do(http.MethodPost, "/-/reload")
		if status != http.StatusInternalServerError || !strings.Contains(body, `unknown key "identty"`) {
			t.Errorf("got %d %s", status, body)
		}
		if !strings.Contains(e.get("/metrics"), "eks_slo_exporter_config_last_reload_successful 0\n") {
			t.Error("the gauge does not tell the failed reload")
		}
		if got := len(e.verdicts()); got != 8 {
			t.Errorf("%d targets are left, want all 8", got)
		}
	})
	t.Run("a removed target's series vanish at once", func(t *testing.T) {
		before, _, _ := strings.Cut(scene.Config, "  - cluster: staging")
		write(t, e.file, before)
		if status, body := e.do(http.MethodPost, "/-/reload"); status != http.StatusOK {
			t.Fatalf("got %d %s", status, body)
		}
		metrics := e.get("/metrics")
		if strings.Contains(metrics, "staging") || strings.Contains(metrics, "viewer") {
			t.Errorf("series of the removed target are left:\n%s", grep(metrics, "staging"))
		}
		if !strings.Contains(metrics, "eks_slo_exporter_config_last_reload_successful 1\n") {
			t.Error("the gauge does not tell the good reload")
		}
		if _, known := e.verdicts()["viewer@staging"]; known {
			t.Error("the removed target is still in the API")
		}
	})
	t.Run("GET does not reload", func(t *testing.T) {
		if status, _ := e.do(http.MethodGet, "/-/reload"); status != http.StatusMethodNotAllowed {
			t.Errorf("got %d", status)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func grep(text, word string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

func TestStartErrorsLeaveNothingRunning(t *testing.T) {
	scene := newScene(t)
	scene.Setenv(t.Setenv)
	path, err := scene.WriteConfig()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		change func(*Options)
		want   string
	}{
		"no such file":  {func(o *Options) { o.ConfigFile = path + ".gone" }, "no such file"},
		"bad address":   {func(o *Options) { o.Web.WebListenAddresses = &[]string{"127.0.0.1:99999"} }, "listening on 127.0.0.1:99999"},
		"second is bad": {func(o *Options) { o.Web.WebListenAddresses = &[]string{"127.0.0.1:0", "127.0.0.1:99999"} }, "choose another with --web.listen-address"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := DefaultOptions()
			options.ConfigFile = path
			c.change(&options)
			a, err := New(options)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s in it", err, c.want)
			}
		})
	}
}

func TestOptionsValidate(t *testing.T) {
	cases := map[string]struct {
		change func(*Options)
		want   string
	}{
		"file":        {func(o *Options) { o.ConfigFile = "" }, "app: Options.ConfigFile is not set"},
		"web":         {func(o *Options) { o.Web = nil }, "app: Options.Web is not set"},
		"logger":      {func(o *Options) { o.Logger = nil }, "app: Options.Logger is not set"},
		"concurrency": {func(o *Options) { o.Concurrency = -1 }, "app: Options.Concurrency is -1, must not be negative"},
		"drain":       {func(o *Options) { o.DrainTimeout = 0 }, "app: Options.DrainTimeout is 0s, must be above 0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := DefaultOptions()
			options.ConfigFile = "x"
			c.change(&options)
			if _, err := New(options); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
