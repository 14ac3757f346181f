// Tests of the pages: what stands where, and that nothing foreign becomes markup.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// rows returns the cells of every table's body.
func rows(d document) [][]string {
	var all [][]string
	for _, tr := range d.all("tr") {
		if tr.Parent.Data != "tbody" {
			continue
		}
		var cells []string
		for cell := range tr.ChildNodes() {
			if cell.Data == "th" || cell.Data == "td" {
				cells = append(cells, text(cell))
			}
		}
		all = append(all, cells)
	}
	return all
}

func TestListShowsTheBrokenFirst(t *testing.T) {
	d := checkDocument(t, serve(t, options(demoStore())).get("/"))
	if diff := cmp.Diff([]string{"Failure", "Unknown: the probe could not tell", "No event yet", "Success"}, d.texts("h2")); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	const skipped = "· token: skipped· endpoint: skipped· access_entry: skipped· rbac: skipped"
	want := [][]string{
		{
			"ci-release@prod", "✖ failure access_entry / not_mapped" + notMapped.Detail[:200] + "…Fix of ci-release@prod",
			"✔ credentials: success✔ sts: success✔ token: success✔ endpoint: success✖ access_entry: failure· rbac: skipped", "2 min 2026-03-08 03:10:29 UTC", "10 s ago",
		},
		{"runner@prod", "✖ failure credentials / unexpected_principal" + wrongPrincipal.Detail + "Fix of runner@prod", "✖ credentials: failure✔ sts: success" + skipped, "2 min 2026-03-08 03:10:29 UTC", "10 s ago"},
		{
			"viewer@staging", "✖ failure rbac / denied" + denied.Detail + "Fix of viewer@staging",
			"✔ credentials: success✔ sts: success✔ token: success✔ endpoint: success✔ access_entry: success✖ rbac: failure", "2 min 2026-03-08 03:10:29 UTC", "10 s ago",
		},
		{"auditor@staging", "? unknown sts / sts_throttled" + throttled.Detail + "Fix of auditor@staging", "✔ credentials: success? sts: unknown" + skipped, "2 min 2026-03-08 03:10:29 UTC", "10 s ago"},
		{"fresh@prod", "… no event yet"},
		{"ci-deploy@prod", "✔ success", "✔ credentials: success✔ sts: success✔ token: success✔ endpoint: success✔ access_entry: success✔ rbac: success", "2 min 2026-03-08 03:09:44 UTC", "10 s ago"},
	}
	if diff := cmp.Diff(want, rows(d)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if title := d.texts("title")[0]; title != "Targets: 3 failure, 1 unknown, 1 without an event yet, 1 success · eks-slo-exporter" {
		t.Errorf("title %q", title)
	}
}

func TestListWithoutTargets(t *testing.T) {
	d := checkDocument(t, serve(t, options(results.NewStore())).get("/"))
	if h1, main := d.texts("h1")[0], d.texts("main")[0]; h1 != "No targets" || !strings.Contains(main, "No target is configured.") {
		t.Errorf("got %q, %q", h1, main)
	}
}

// A slot in which nothing ran blames no step, and no step is shown as good or bad.
func TestOverrunIsUnknownWithoutAStep(t *testing.T) {
	run := chain.UnknownRun("t7x2k2-00000001", auditor, now.Add(-time.Hour), chain.ReasonOverrun, "the run before it had not ended")
	s := serve(t, options(one(run)))
	d := checkDocument(t, s.get("/"))
	if verdict := rows(d)[0][1]; !strings.HasPrefix(verdict, "? unknown overrunthe run before it had not ended") {
		t.Errorf("verdict %q", verdict)
	}
	checkDocument(t, s.get("/targets/auditor@staging"))
}

func TestTargetPage(t *testing.T) {
	d := checkDocument(t, serve(t, options(demoStore())).get("/targets/ci-release@prod"))
	if title := d.texts("title")[0]; title != "✖ ci-release@prod · eks-slo-exporter" {
		t.Errorf("title %q", title)
	}
	if diff := cmp.Diff([]string{"What", "Why", "Ruled out", "Fix", "Last runs", "Steps", "Kept failures"}, d.texts("h2")); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
	main := d.texts("main")[0]
	row, _ := chain.LookupReason(chain.StepAccessEntry, chain.ReasonNotMapped)
	for _, part := range []string{
		"✖ failure access_entry / not_mapped For 2 min, since 2026-03-08 03:10:29 UTC. 9 failed since the last success. Last event 10 s ago, run t7x2k1-4be1a0c9.", "What " + row.Meaning, "Why " + notMapped.Detail,
		"the token is valid until 03:27:25the clock agrees", "✔2026-03-08 03:10:14 UTC success ✖2026-03-08 03:10:29 UTC failure access_entry / not_mapped",
	} {
		if !strings.Contains(main, part) {
			t.Errorf("the page lacks %q: %s", part, main)
		}
	}
	const command = "aws eks create-access-entry --region eu-west-1 --cluster-name prod --principal-arn arn:aws:iam::" + account + ":role/ci-release --kubernetes-groups deployers"
	if diff := cmp.Diff([]string{command}, d.texts("pre")); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	steps := rows(d)
	if len(steps) != 6+9 {
		t.Fatalf("%d rows: %q", len(steps), steps)
	}
	want := [][]string{
		{"access_entry", "✖ failure not_mapped", "6.2 ms", "authentication_modeAPIhttp_status401principalarn:aws:iam::" + account + ":role/ci-release"},
		{"rbac", "· skipped", "", ""},
		{"2026-03-08 03:12:29 UTC", "access_entry / not_mapped", notMapped.Detail[:200] + "…"},
	}
	if diff := cmp.Diff(want, steps[4:7]); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestPendingAndHealthyTargetPages(t *testing.T) {
	s := serve(t, options(demoStore()))
	if main := checkDocument(t, s.get("/targets/fresh@prod")).texts("main")[0]; main != "fresh@prod … no event yet" {
		t.Errorf("pending: %q", main)
	}
	d := checkDocument(t, s.get("/targets/ci-deploy@prod"))
	if diff := cmp.Diff([]string{"Last runs", "Steps"}, d.texts("h2")); diff != "" {
		t.Errorf("healthy headings (-want +got):\n%s", diff)
	}
}

var hostileTexts = map[string]string{
	"script":       `</td></table><script>alert(1)</script>`,
	"quotes":       `"'><img src=x onerror=alert(1)>` + "`${1}`",
	"scheme":       `javascript:alert(1)//`,
	"entities":     `&lt;b&gt;&#x3c;b&#62;`,
	"direction":    "safe\u202egnp.exe\u2066\u200f",
	"lines":        "one\r\ntwo\u2028three\x00\x1b[31m",
	"broken UTF-8": "a\xff\xfe\xc3(",
	"long":         strings.Repeat("W", 20_000),
	"path":         `a/../b?c#d%2F;e`,
	"template":     `{{.Name}}{{template "foot"}}`,
	"comment":      `<!-- --><![CDATA[ ]]>`,
}

// hostileRun is a failure in which every foreign text is the same.
func hostileRun(hostile string) chain.Run {
	target := newTarget("ci", "prod")
	target.Name, target.Cluster.Name, target.Identity.Name = "ci@"+hostile, hostile, hostile
	run := newRun(target, now.Add(-time.Minute), "✔✔✔✔✖·", chain.StepResult{
		Reason: chain.Reason(hostile), Detail: hostile, Facts: chain.Facts{chain.FactWhy: hostile, chain.Fact("x" + hostile): hostile, chain.FactRuledOut: hostile + "; " + hostile},
	})
	run.ID, run.Verdict.Fix = hostile, "aws "+hostile+"\n"+hostile
	return run
}

// The markup of a page does not depend on what foreign texts say: it is the same tree as with a harmless word.
func TestForeignTextIsNeverMarkup(t *testing.T) {
	plain := hostileRun("word")
	s := serve(t, options(one(plain)))
	wantList, wantTarget := parse(t, s.get("/")).shape(), parse(t, s.get("/targets/ci@word")).shape()
	for name, hostile := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			run := hostileRun(hostile)
			if strings.Count(run.Verdict.Fix, "\n") > 1 { // a line break in a fix is a line
				run.Verdict.Fix = plain.Verdict.Fix
			}
			s := serve(t, options(one(run)))
			list, page := s.get("/"), s.get("/targets/"+url.PathEscape(run.Target.Name))
			if diff := cmp.Diff(wantList, checkDocument(t, list).shape()); diff != "" {
				t.Errorf("the list (-want +got):\n%s", diff)
			}
			d := checkDocument(t, page)
			if diff := cmp.Diff(wantTarget, d.shape()); diff != "" {
				t.Errorf("the page (-want +got):\n%s", diff)
			}
			checkVisible(t, list)
			checkVisible(t, page)
			if h1, want := d.texts("h1")[0], strings.Join(strings.Fields(visible(run.Target.Name)), " "); h1 != want {
				t.Errorf("the name is shown as %q", h1)
			}
			for _, a := range parse(t, list).all("a") {
				if path := attribute(a, "href"); strings.HasPrefix(path, "/targets/") {
					if response, _ := s.do(http.MethodGet, path, nil); response.StatusCode != http.StatusOK {
						t.Errorf("the link %s leads to %s", path, response.Status)
					}
				}
			}
			if !utf8.ValidString(s.get("/api/v1/targets")) {
				t.Error("the JSON is no UTF-8")
			}
		})
	}
}

// checkVisible looks for characters that nobody sees.
func checkVisible(t *testing.T, page string) {
	t.Helper()
	unseen := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if at := strings.IndexFunc(page, unseen); at >= 0 || !utf8.ValidString(page) {
		t.Errorf("a character that nobody sees at byte %d", at)
	}
}

func TestFixLinesAreVisible(t *testing.T) {
	want := []fixLine{{`kubectl get \u202epods`, true}, {"aws-auth is a ConfigMap", false}}
	if got := newFix([]results.FixLine{{Text: "kubectl get \u202epods", Command: true}, {Text: "aws-auth is a ConfigMap"}}); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// fleet is 1,000 targets with long details, a third of them broken.
func fleet() *results.Store {
	store := results.NewStore()
	var targets []chain.Target
	for i := range 1000 {
		targets = append(targets, newTarget("identity-"+strconv.Itoa(i), "cluster-"+strconv.Itoa(i%20)))
	}
	store.Retain(targets)
	long := notMapped
	long.Detail = strings.Repeat("the token is good ", 55)
	for i, target := range targets {
		store.Record(newRun(target, now, []string{"✔✔✔✔✔✔", "✔✔✔✔✖·", "✔✔✔✔✔✔"}[i%3], long))
	}
	return store
}

func TestListOfAThousandStaysSmall(t *testing.T) {
	page := serve(t, options(fleet())).get("/")
	if got := len(rows(parse(t, page))); got != 1000 {
		t.Errorf("%d rows", got)
	}
	if perTarget := len(page) / 1000; perTarget > 2000 {
		t.Errorf("%d bytes a target; 2,000 are the stop", perTarget)
	}
}

func BenchmarkListOfAThousand(b *testing.B) {
	handler := newHandler(b, options(fleet()))
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "/", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		a := &answer{header: http.Header{}}
		handler.ServeHTTP(a, request)
		b.ReportMetric(float64(a.body.Len()), "page-bytes")
	}
}
