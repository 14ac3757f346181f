// Tests of reports: as text, as JSON and as a picture, and what they count as wrong.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql"

	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

func reportOf(t *testing.T, rules Rules, s *Scenario) *Report {
	t.Helper()
	r, err := Run(t.Context(), rules, access(t), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The text of plain Sloth's rules in an outage, and in one that nobody sees.
func TestText(t *testing.T) {
	var all bytes.Buffer
	for _, name := range []string{"outage-10m", "blind-outage", "one-failure"} {
		if err := reportOf(t, rulesOf(t, "sloth.yaml"), named(t, name)).Text(&all); err != nil {
			t.Fatal(err)
		}
		all.WriteString("\n")
	}
	golden(t, "text.golden", all.Bytes())
}

func TestTextOfTrouble(t *testing.T) {
	rules, err := ParseRules([]byte(`
groups:
- name: g
  rules:
  - {record: nan, expr: 'vector(0) / 0'}
  - {record: twice, expr: 'label_replace(eks_access_probes_total, "result", "", "", "")'}
  - {alert: Broken, expr: 'vector(1)', annotations: {text: '{{ range query "sum(" }}{{ end }}'}}
  - {alert: Waits, expr: 'vector(1)', for: 1h}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(t, rules, &Scenario{Name: "trouble", Duration: time.Minute})
	if r.NotFinite != 3 || r.Failed != 4 {
		t.Errorf("%d samples not finite, want 3; %d failed, want 3 evaluations and a template: %v", r.NotFinite, r.Failed, r.Errors)
	}
	var text bytes.Buffer
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"still firing", "pending at +0s", "recorded NaN or infinite: 3; evaluations: 12, of which 4 failed",
		"+30s  twice: vector cannot contain metrics with the same labelset", "gate: cannot tell, no budget is recorded",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

func TestJSON(t *testing.T) {
	r := reportOf(t, rulesOf(t, "sloth.yaml"), named(t, "outage-2m"))
	var written bytes.Buffer
	if err := r.JSON(&written); err != nil {
		t.Fatal(err)
	}
	var read Report
	decoder := json.NewDecoder(&written)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		t.Fatal(err)
	}
	if read.SLO != "eks-access-availability" || read.Objective != "99.9" || read.Period != "30d" || len(read.Alerts) != 1 || len(read.Recorded) == 0 {
		t.Errorf("read back: %+v", read)
	}
	if e := read.Alerts[0].Episodes[0]; e.FiringAt.Sub(read.Start) != 30*time.Second || !strings.Contains(e.Annotations["title"], "(page) eks-access availability") {
		t.Errorf("episode %+v", e)
	}
	if b := read.Budgets[0]; b.Bad != 4 || b.Total != 9600 || math.Abs(b.Left-(1-4/9.6)) > 1e-9 || b.Recorded == nil {
		t.Errorf("budget %+v", b)
	}
}

func TestGate(t *testing.T) {
	full, spent, nan := .5, 0.0, math.NaN()
	cases := map[string]struct {
		budgets []Budget
		want    string
	}{
		"nothing happened": {nil, "cannot tell"},
		"nothing recorded": {[]Budget{{}}, "cannot tell"},
		"no number":        {[]Budget{{Recorded: &nan}}, "cannot tell"},
		"left":             {[]Budget{{Recorded: &full}, {Recorded: &full}}, "allow"},
		"one of two spent": {[]Budget{{Recorded: &spent}, {Recorded: &full}}, "block"},
		"unknown wins":     {[]Budget{{Recorded: &spent}, {}}, "cannot tell"},
	}
	for name, c := range cases {
		if got := gate(c.budgets).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The picture is SVG, and names what a reader looks for.
func TestSVG(t *testing.T) {
	for _, name := range []string{"outage-10m", "brownout-2pc"} {
		r := reportOf(t, ours(t, 30*time.Second), named(t, name))
		var picture bytes.Buffer
		if err := r.SVG(&picture); err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(bytes.NewReader(picture.Bytes()))
		var texts []string
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := token.(xml.CharData); ok {
				texts = append(texts, string(text))
			}
		}
		all := strings.Join(texts, "\n")
		for _, want := range []string{name + ": eks-access-availability, 99.9 % over 30d", "what happens", "EKSAccessBudgetBurn (page)", "error budget left, per cent", "14.4", "+2h", "time since 2026-03-02 10:07 UTC"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not in the picture", name, want)
			}
		}
		if fires := r.after(r.Alerts[0].Episodes[0].FiringAt) + " to "; !strings.Contains(all, fires) {
			t.Errorf("%s: the time of the alert, %q, is not in the picture", name, fires)
		}
		if n := strings.Count(picture.String(), "<path"); n < 20 {
			t.Errorf("%s: %d paths", name, n)
		}
	}
}

// A report without recordings, alerts and events is a picture all the same.
func TestSVGOfNothing(t *testing.T) {
	var picture bytes.Buffer
	r := &Report{Scenario: "nothing", Start: DefaultStart, Shown: DefaultStart, To: DefaultStart.Add(time.Hour)}
	if err := r.SVG(&picture); err != nil || !strings.Contains(picture.String(), "nothing") {
		t.Errorf("error %v, picture %s", err, picture.String())
	}
}

func TestTimeTicks(t *testing.T) {
	cases := map[string]struct {
		from, to time.Duration
		want     string
	}{
		"an hour":  {-5 * time.Minute, time.Hour, "0 +10m +20m +30m +40m +50m +1h"},
		"a shift":  {-40 * time.Minute, 8 * time.Hour, "0 +1h +2h +3h +4h +5h +6h +7h +8h"},
		"a week":   {0, 7 * slo.Day, "0 +1d +2d +3d +4d +5d +6d +7d"},
		"a month":  {-2 * slo.Day, 30 * slo.Day, "0 +3d +6d +9d +12d +15d +18d +21d +24d +27d +30d"},
		"a moment": {0, 3 * time.Minute, "0 +1m +2m +3m"},
	}
	for name, c := range cases {
		var got []string
		for _, tick := range timeTicks(c.from.Seconds(), c.to.Seconds()) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, " "), c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 30 * time.Second: "30s", 10 * time.Minute: "10m", time.Hour: "1h", time.Hour + 30*time.Second: "1h0m30s", 25 * time.Hour: "1d1h", 30 * slo.Day: "30d", slo.Day + 90*time.Minute: "1d1h30m",
	} {
		if got := short(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

// Peaks and the last sample survive thinning.
func TestThinned(t *testing.T) {
	c := column{labels: metric("m", "a", "b")}
	for i := range int64(100_000) {
		f := 1.0
		if i == 50_001 {
			f = 99
		}
		c.points = append(c.points, promql.FPoint{T: i * 1000, F: f})
	}
	c.points = append(c.points, stale(100_000_000))
	got := thinned(c, 0, 100_000_000)
	if len(got.Times) > 2*pointsShown+2 || got.Times[len(got.Times)-1] != 99_999 {
		t.Errorf("%d points, the last at %d", len(got.Times), got.Times[len(got.Times)-1])
	}
	peak := 0.0
	for i, v := range got.Values {
		peak = max(peak, v)
		if i > 0 && got.Times[i] <= got.Times[i-1] {
			t.Fatalf("time goes from %d to %d", got.Times[i-1], got.Times[i])
		}
	}
	if peak != 99 {
		t.Errorf("the peak is %v", peak)
	}
}

func TestFlaps(t *testing.T) {
	at := func(minutes ...int) (e []*Episode) {
		for i := 0; i < len(minutes); i += 2 {
			e = append(e, &Episode{FiringAt: DefaultStart.Add(time.Duration(minutes[i]) * time.Minute), ResolvedAt: DefaultStart.Add(time.Duration(minutes[i+1]) * time.Minute)})
		}
		return e
	}
	cases := map[string]struct {
		episodes []*Episode
		want     int
	}{
		"once": {at(0, 10), 0}, "again soon": {at(0, 10, 20, 30), 1}, "again late": {at(0, 10, 100, 130), 0}, "thrice": {at(0, 10, 20, 30, 40, 50), 2},
		"pending between": {append(at(0, 10), &Episode{PendingAt: DefaultStart}), 0},
	}
	for name, c := range cases {
		if got := (Alert{Episodes: c.episodes}).Flaps(time.Hour); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if diff := cmp.Diff(2, Alert{Episodes: at(0, 1, 2, 3)}.Fired()); diff != "" {
		t.Error(diff)
	}
}
