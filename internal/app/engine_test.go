// Tests of the embedded engine inside the exporter: it answers queries, survives what is wrong with it, and takes new rules at a reload.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// startWithQuery runs the scene's exporter with more sections in its configuration, in which DIR stands for the scene's folder.
func startWithQuery(t *testing.T, sections string) (e *exporter, dir string) {
	t.Helper()
	dir = t.TempDir()
	scene, err := sandbox.NewScene(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := scene.Close(); err != nil {
			t.Error(err)
		}
	})
	scene.FewTargets()
	scene.Config += strings.ReplaceAll(sections, "DIR", filepath.ToSlash(dir))
	return startExporter(t, scene), dir
}

// value asks the embedded engine, and returns the first sample of an instant query; "" when there is none.
func (e *exporter) value(query string) string {
	e.t.Helper()
	code, body := e.do("GET", "/prometheus/api/v1/query?query="+url.QueryEscape(query))
	var answer struct {
		Status string
		Data   struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || code != 200 || answer.Status != "success" {
		e.t.Fatalf("query %s: %d %s", query, code, body)
	}
	if len(answer.Data.Result) == 0 {
		return ""
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	return text
}

func TestEmbeddedEngine(t *testing.T) {
	e, dir := startWithQuery(t, "query: {embedded: {path: DIR/tsdb}}\ngates:\n  - {name: release, slos: {cluster: prod}, exempt: [security]}\n")
	e.await("a sample of the engine's own collection", func() bool { return e.value(`eks_slo_exporter_build_info{job="eks-slo-exporter"}`) == "1" })
	if code, body := e.do("GET", "/prometheus/api/v1/rules"); code != 200 || !strings.Contains(body, "sloth-slo-eks-access-availability") || !strings.Contains(body, "EKSAccessBudgetBurn") {
		t.Errorf("rules: %d %.300s", code, body)
	}
	if code, body := e.do("POST", "/prometheus/api/v1/admin/tsdb/snapshot"); code < 400 {
		t.Errorf("administration is open: %d %s", code, body)
	}
	for path, want := range map[string]int{"/api/v1/gates/release": 503, "/api/v1/gates/release?change=security": 200, "/api/v1/gates/none": 404} { // minutes of data are no month
		if code, body := e.do("POST", path); code != want {
			t.Errorf("POST %s: %d %s", path, code, body)
		}
	}
	if metrics := e.get("/metrics"); !strings.Contains(metrics, `eks_slo_gate_decisions_total{decision="unknown",gate="release"} 1`) ||
		!strings.Contains(metrics, `eks_slo_gate_exceptions_total{gate="release",kind="exempt"} 1`) || strings.Contains(metrics, "eks_slo_gate_open{") {
		t.Error("the gate's series are not what was asked")
	}
	rules := filepath.Join(dir, "own.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := os.ReadFile(e.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.file, append(config, []byte("rules: ["+filepath.ToSlash(rules)+"]\n")...), 0o600); err != nil {
		t.Fatal(err)
	}
	write("groups:\n  - name: own\n    rules:\n      - {record: own, expr: vector(}\n")
	if code, body := e.do("POST", "/-/reload"); code != 500 || !strings.Contains(body, "own.yaml") {
		t.Errorf("reload with a rule that does not parse: %d %s", code, body)
	}
	if _, body := e.do("GET", "/prometheus/api/v1/rules"); !strings.Contains(body, "EKSAccessBudgetBurn") {
		t.Errorf("the last good rules are gone: %.300s", body)
	}
	write("groups:\n  - name: own\n    rules:\n      - {record: own, expr: vector(1)}\n")
	if code, body := e.do("POST", "/-/reload"); code != 200 {
		t.Errorf("reload: %d %s", code, body)
	}
	if _, body := e.do("GET", "/prometheus/api/v1/rules"); !strings.Contains(body, `"own"`) || strings.Contains(body, "EKSAccessBudgetBurn") {
		t.Errorf("the new rules are not in place: %.300s", body)
	}
}

func TestBudgetsWithoutAnythingToRead(t *testing.T) {
	e, _ := startWithQuery(t, "")
	if code, body := e.do("GET", "/api/v1/slos"); code != 503 || !strings.Contains(body, "the configuration has no section query") {
		t.Errorf("budgets: %d %s", code, body)
	}
	if code, _ := e.do("POST", "/api/v1/gates/release"); code != 404 {
		t.Errorf("a gate that is not there: %d", code)
	}
}

func TestUnusableEngineLeavesTheExporterProbing(t *testing.T) {
	e, _ := startWithQuery(t, "query: {embedded: {path: DIR/ca.pem/data}}\n") // below a file
	e.await("a probe", func() bool {
		_, body := e.do("GET", "/metrics")
		return strings.Contains(body, `eks_access_up{cluster="prod",identity="ci-deploy"} 1`)
	})
	if log := e.log.String(); !strings.Contains(log, "no embedded engine: probes and metrics go on") {
		t.Errorf("the log does not tell:\n%s", log)
	}
	if code, body := e.do("GET", "/prometheus/api/v1/query?query=1"); code != 404 || !strings.Contains(body, "no embedded engine") {
		t.Errorf("a query without an engine: %d %s", code, body)
	}
}

func TestRuleFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x.yaml", "a/y.yaml", "a/notes.txt", "[c]/w.yaml", "b/x.yaml", "c/z.rules"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		names []string
		want  string // file names, or a part of the error
	}{
		"a folder":             {[]string{"a"}, "x.yaml y.yaml"},
		"a folder in brackets": {[]string{"[c]"}, "w.yaml"},
		"a file of any ending": {[]string{"c/z.rules", "a/y.yaml"}, "y.yaml z.rules"},
		"one name twice":       {[]string{"a", "b"}, "have one name"},
		"one file twice":       {[]string{"a", "a/x.yaml"}, "x.yaml y.yaml"},
		"nothing":              {[]string{"d"}, "looking for rule files"},
	} {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for _, each := range c.names {
				paths = append(paths, filepath.Join(dir, each))
			}
			got := ""
			files, err := ruleFiles(paths)
			if err != nil {
				got = err.Error()
			} else {
				names, _ := files.(ruleFS).Glob("*.yaml")
				got = strings.Join(names, " ")
			}
			if !strings.Contains(got, c.want) || err == nil && got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
