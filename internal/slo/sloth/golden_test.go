// What is written for the example, word for word, and what holds for every generated file.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"bytes"
	"io/fs"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	alertwindowsv1 "github.com/slok/sloth/pkg/prometheus/alertwindows/v1"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

func TestGoldenFiles(t *testing.T) {
	rules := generated(t, "testdata/access.yaml", Options{})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"rules": func(b *bytes.Buffer) error { return WriteRules(b, rules) },
		"prometheusrule": func(b *bytes.Buffer) error {
			return WritePrometheusRule(b, rules, Meta{Name: "access", Namespace: "monitoring", Labels: map[string]string{"release": "prometheus"}})
		},
		"tests":    func(b *bytes.Buffer) error { return WriteTests(b, rules, "access.rules.yaml") },
		"exporter": func(b *bytes.Buffer) error { return WriteRules(b, ExporterRules()) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			checkGolden(t, "testdata/golden/"+name+".yaml", b.String())
		})
	}
}

func TestRulesAreValidForEveryPeriod(t *testing.T) {
	for _, file := range specFiles {
		for _, period := range slo.Periods() {
			t.Run(file+" "+period, func(t *testing.T) {
				var b bytes.Buffer
				rules := generated(t, file, Options{Period: period})
				if err := WriteRules(&b, rules); err != nil {
					t.Fatal(err)
				}
				groups, errs := rulefmt.Parse(b.Bytes(), false, model.UTF8Validation)
				for _, err := range errs {
					t.Error(err)
				}
				if len(groups.Groups) == 0 || !strings.Contains(b.String(), "record: "+ratioOver(rules.Windows.Period)+"\n") {
					t.Errorf("the period %s is not recorded", period)
				}
			})
		}
	}
}

func TestFilesHoldWhatWasGenerated(t *testing.T) {
	rules := generated(t, "testdata/shapes.yaml", Options{})
	rules.Groups[0].Rules[0].Labels = map[string]string{"a": "yes", "b": "1", "c": "it's", "d": "x: y", "e": " é\t\n", "f": "1e3", "g": "12:30", "no": "", "i": "#", "j": "{{ $labels.x }}", "k": "30d", "l": "-", "m": "0x1f"}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"rule file":      func(b *bytes.Buffer) error { return WriteRules(b, rules) },
		"PrometheusRule": func(b *bytes.Buffer) error { return WritePrometheusRule(b, rules, Meta{Name: "x"}) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Groups []rulefmt.RuleGroup
				Spec   struct{ Groups []rulefmt.RuleGroup }
			}
			if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rules.Groups, append(got.Groups, got.Spec.Groups...), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("read again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGenerateIsStable(t *testing.T) {
	var first string
	for range 5 {
		var b bytes.Buffer
		rules := generated(t, "testdata/shapes.yaml", Options{})
		if err := WriteRules(&b, rules); err != nil {
			t.Fatal(err)
		}
		if err := WriteTests(&b, rules, "r.yaml"); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = b.String()
		}
		if diff := cmp.Diff(first, b.String()); diff != "" {
			t.Fatalf("generated again it differs:\n%s", diff)
		}
	}
}

func TestUnknownPeriodIsRefused(t *testing.T) {
	_, err := Generate(t.Context(), read(t, "testdata/access.yaml"), Options{Period: "14d"})
	if err == nil || !strings.Contains(err.Error(), "28d") {
		t.Errorf("got %v, want an error that names the periods there are", err)
	}
}

// TestWindowsFiles holds the files that Sloth reads against the windows that the alerts are written from.
func TestWindowsFiles(t *testing.T) {
	files, err := fs.Glob(windowsFiles, "windows/*.yaml")
	if err != nil || len(files) != len(slo.Periods()) {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		data, err := windowsFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w alertwindowsv1.AlertWindows
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Fatal(err)
		}
		want, err := slo.WindowsFor(time.Duration(w.Spec.SLOPeriod))
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range []alertwindowsv1.Window{w.Spec.Page.Quick, w.Spec.Page.Slow, w.Spec.Ticket.Quick, w.Spec.Ticket.Slow} {
			tier := want.Tiers[i]
			spent, _ := new(big.Rat).Mul(tier.Spent(want.Period), big.NewRat(100, 1)).Float64()
			if time.Duration(got.LongWindow) != tier.Long || time.Duration(got.ShortWindow) != tier.Short || got.ErrorBudgetPercent != spent {
				t.Errorf("%s: %s is %+v, want %v %% over %s and %s", file, tier, got, spent, tier.Long, tier.Short)
			}
		}
	}
}

func TestSpecIsReadInFull(t *testing.T) {
	spec := read(t, "testdata/access.yaml")
	s := spec.SLOs[0]
	got := map[string]any{
		"id": s.ID(), "objective": s.Objective.String(), "groups": s.Groups(), "labels": s.Labels, "cadence": s.Probes.Cadence, "fixed": s.Probes.FixedCadence,
		"alert": s.Alerting.Name, "page": s.Alerting.PageAlert.Labels, "by": []string{s.Probes.FailuresBy[0].Label, s.Probes.FailuresBy[1].Label}, "error": s.Error.calls[0].selector,
	}
	want := map[string]any{
		"id": "eks-access-availability", "objective": "99.9", "groups": []string{"cluster", "identity"}, "labels": map[string]string{"team": "platform"}, "cadence": 15 * time.Second, "fixed": true,
		"alert": "EKSAccessBudgetBurn", "page": map[string]string{"severity": "page"}, "by": []string{"step", "reason"}, "error": `eks_access_probes_total{result="failure"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

func BenchmarkGenerateOne(b *testing.B) {
	spec := read(b, "testdata/access.yaml")
	b.ReportAllocs()
	for b.Loop() {
		benchmarkGenerate(b, spec)
	}
}

func BenchmarkGenerateHundred(b *testing.B) {
	spec := read(b, "testdata/access.yaml")
	one := spec.SLOs[0]
	for i := range 99 {
		another := one
		another.Name = "availability-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		spec.SLOs = append(spec.SLOs, another)
	}
	b.ReportAllocs()
	for b.Loop() {
		benchmarkGenerate(b, spec)
	}
}

func benchmarkGenerate(b *testing.B, spec *Spec) {
	rules, err := Generate(b.Context(), spec, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	if err := WriteRules(&file, rules); err != nil {
		b.Fatal(err)
	}
}
