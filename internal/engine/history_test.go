// History that was written as blocks is what the engine answers from, and goes on into live samples.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
)

func counter(i int) labels.Labels {
	return labels.FromStrings("__name__", "c_total", "series", fmt.Sprint(i))
}

// fill writes so many counters that grow by one each minute, series by series.
func fill(t testing.TB, dir string, series int, length, step time.Duration) {
	t.Helper()
	err := WriteHistory(dir, start.Add(-length), start, func(add Add) error {
		for i := range series {
			l := counter(i)
			for at := start.Add(-length); at.Before(start); at = at.Add(step) {
				if err := add(l, at, at.Sub(start.Add(-length)).Minutes()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHistoryGoesOnIntoLife(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 2, 30*24*time.Hour, 15*time.Minute)
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "g"}, func() float64 { return 1 }))
	e := open(t, options(dir, r))
	e.collector.collect(start)
	want(t, e, "sum by (series) (increase(c_total[29d]))", start.Add(-time.Second), map[string]string{`{"series":"0"}`: "41760", `{"series":"1"}`: "41760"})
	want(t, e, "sum(count_over_time(c_total[31d]))", start, map[string]string{"{}": "5760"})
	want(t, e, "sum(g)", start, map[string]string{"{}": "1"})
}

func TestHistoryThatIsWrong(t *testing.T) {
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		write func(Add) error
		want  string
	}{
		"too early": {func(add Add) error { return add(counter(1), start.Add(-2*time.Hour), 1) }, "want 2027-01-15"},
		"too late":  {func(add Add) error { return add(counter(1), start, 1) }, "want 2027-01-15"},
		"own":       {func(Add) error { return gone }, ": gone"},
		"order": {func(add Add) error {
			return errors.Join(add(counter(1), start.Add(-time.Minute), 1), add(counter(1), start.Add(-2*time.Minute), 1))
		}, "holds 1 of 2 samples: the others were not in the order of time"},
	} {
		err := WriteHistory(t.TempDir(), start.Add(-time.Hour), start, c.write)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", name, err, c.want)
		}
	}
}
