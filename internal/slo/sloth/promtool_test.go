// The unit tests that are written for promtool, in the engine of the library; and with -promtool in the real one too.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"
)

var withPromtool = flag.Bool("promtool", false, "also run the unit tests with the promtool on the PATH (Debian: apt-get install prometheus)")

// specFiles are specifications of every shape.
var specFiles = []string{"testdata/access.yaml", "testdata/shapes.yaml"}

func TestUnitTestsPass(t *testing.T) {
	for _, file := range specFiles {
		rules := generated(t, file, Options{})
		tests := writtenTests(t, rules)
		if want := len(rules.SLOs)*6 + 1; len(tests.Tests) < want {
			t.Errorf("%s: %d tests, want at least %d", file, len(tests.Tests), want)
		}
		for _, test := range tests.Tests {
			t.Run(test.Name, func(t *testing.T) {
				t.Parallel()
				runUnitTest(t, rulesOf(rules, test.Name), test)
			})
		}
	}
	t.Run("exporter", func(t *testing.T) {
		rules := ExporterRules()
		for _, test := range writtenTests(t, rules).Tests {
			runUnitTest(t, rules, test)
		}
	})
}

// rulesOf are the rules of the one SLO that a test is of: the others would be evaluated for nothing.
func rulesOf(rules *Rules, test string) *Rules {
	id, _, _ := strings.Cut(test, ":")
	return &Rules{File: rules.File, Windows: rules.Windows, Groups: slices.DeleteFunc(slices.Clone(rules.Groups), func(g rulefmt.RuleGroup) bool { return !strings.HasSuffix(g.Name, id) })}
}

// writtenTests are the tests as they are written.
func writtenTests(t *testing.T, rules *Rules) unitTests {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTests(&b, rules, "rules.yaml"); err != nil {
		t.Fatal(err)
	}
	var tests unitTests
	if err := yaml.Unmarshal(b.Bytes(), &tests); err != nil {
		t.Fatal(err)
	}
	return tests
}

// runUnitTest is what promtool does with a test.
func runUnitTest(t *testing.T, rules *Rules, test unitTest) {
	t.Helper()
	w := newWorldOf(t, rules)
	w.now = time.Unix(0, 0).UTC()
	ends := w.feed(t, test)
	for at := time.Duration(0); at <= ends; at += testEvaluation {
		w.now = time.Unix(0, 0).Add(at)
		for _, group := range w.groups {
			w.evaluate(group)
		}
	}
	for _, line := range w.health {
		t.Error(line)
	}
	for _, check := range test.Exprs {
		w.now = time.Unix(0, 0).Add(parsed(t, check.At) + time.Second)
		var got []sample
		for _, s := range w.query(check.Expr) {
			got = append(got, sample{s.Metric.String(), s.F})
		}
		if !slices.Equal(got, check.Samples) {
			t.Errorf("%s at %s is %v, want %v", check.Expr, check.At, got, check.Samples)
		}
	}
}

// feed stores the series of a test, and says when the last check is.
func (w *world) feed(t *testing.T, test unitTest) time.Duration {
	t.Helper()
	type point struct {
		at     int64
		series labels.Labels
		value  float64
	}
	var points []point
	for _, in := range test.Series {
		series, values, err := parser.ParseSeriesDesc(in.Series + " " + in.Values)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if !v.Omitted {
				points = append(points, point{int64(i) * parsed(t, test.Interval).Milliseconds(), series, v.Value})
			}
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return int(a.at - b.at) })
	app := w.store.Appender(t.Context())
	for _, p := range points {
		if _, err := app.Append(0, p.series, p.at, p.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	var ends time.Duration
	for _, check := range test.Exprs {
		ends = max(ends, parsed(t, check.At))
	}
	return ends
}

func parsed(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := model.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(d)
}

// TestPromtool runs the real promtool on every file that is written: `go test -promtool ./internal/slo/sloth`.
func TestPromtool(t *testing.T) {
	if !*withPromtool {
		return // TestUnitTestsPass has run the same tests in the engine of the library
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatalf("no promtool on the PATH: %v; on Debian, apt-get install --no-install-recommends prometheus", err)
	}
	all := map[string]*Rules{"exporter": ExporterRules()}
	for _, file := range specFiles {
		for _, period := range []string{"7d", "28d", "30d", "90d"} {
			all[filepath.Base(file)+"_"+period] = generated(t, file, Options{Period: period})
		}
	}
	for name, rules := range all {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var file, tests bytes.Buffer
			if err := WriteRules(&file, rules); err != nil {
				t.Fatal(err)
			}
			if err := WriteTests(&tests, rules, "rules.yaml"); err != nil {
				t.Fatal(err)
			}
			if name == "access.yaml_30d" {
				tests = *wholeWindows(t, rules)
			}
			for name, b := range map[string][]byte{"rules.yaml": file.Bytes(), "tests.yaml": tests.Bytes()} {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "tests.yaml"}} {
				command := exec.CommandContext(t.Context(), promtool, args...)
				command.Dir = dir
				started := time.Now()
				if out, err := command.CombinedOutput(); err != nil {
					t.Errorf("promtool %v: %v\n%s", args, err, out)
				}
				t.Log(fmt.Sprint(args), time.Since(started))
			}
		})
	}
}

// wholeWindows are the written tests and one that is too long to be written for every SLO: at a full hour, a window of hours has no hour more than it should. Prometheus 2 counts both ends of
// a range.
func wholeWindows(t *testing.T, rules *Rules) *bytes.Buffer {
	t.Helper()
	tests := writtenTests(t, rules)
	tester, at := newTester(rules.SLOs[0], rules.Windows), 9*time.Hour
	tests.Tests = append(tests.Tests, tester.test("counts windows of whole hours", tester.series(nil, phase{slotGood, at}), at,
		one(tester.own("slo:events:increase2h"), at, 480), one(tester.own("slo:events:increase6h"), at, 1440), one(tester.own("slo:events:period"), at, 2160)))
	var b bytes.Buffer
	if err := writeYAML(&b, "", tests); err != nil {
		t.Fatal(err)
	}
	return &b
}
