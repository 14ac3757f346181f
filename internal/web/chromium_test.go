// Tests of the pages in a real browser: what a person sees, in light and dark, on a desk and on a phone.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/results"
)

// Scripts that look at a page. Each returns what is wrong, as a list of texts; [] is right.
const (
	// overflowing are the elements that stick out of the window to the right.
	overflowing = `[...document.querySelectorAll("body *")].filter(e => !e.closest(".unseen, thead") && e.getBoundingClientRect().right > innerWidth + 0.5)
		.map(e => e.tagName + " " + e.className).concat(document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth + " wide"] : [])`
	// pale are the texts whose contrast with what is behind them is below 4.5 (WCAG 2.2, success criterion 1.4.3).
	pale = `(() => {
		const rgb = c => c.match(/[\d.]+/g).map(Number);
		const light = c => rgb(c).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c; } return "rgb(255, 255, 255)"; };
		const owns = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
		return [...document.querySelectorAll("body *")].filter(owns).map(e => {
			const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
			return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.trim().slice(0, 40)];
		}).filter(([ratio]) => ratio < 4.5).map(([ratio, text]) => text + ": " + ratio.toFixed(2));
	})()`
	// nameless are the steps of a ladder whose name is not in sight.
	nameless = `[...document.querySelectorAll(".ladder li")].filter(e => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().height < 12 || !/[a-z]/.test(e.innerText)).map(e => e.textContent)`
)

// schemes are what a user may prefer, with the background that each gives.
var schemes = map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}

var windows = map[string]struct{ width, height int }{"desk": {1280, 900}, "phone": {390, 800}, "small phone": {320, 640}}

// look opens a page in every window and scheme.
func (b *browser) look(name, url string) {
	b.Helper()
	for scheme := range schemes {
		for window := range windows {
			b.lookAt(name, url, window, scheme)
		}
	}
}

// lookAt opens a page, keeps a picture of it, and looks at it with every script.
func (b *browser) lookAt(name, url, window, scheme string) {
	b.Helper()
	b.window(windows[window].width, windows[window].height, scheme)
	b.open(url)
	seen := name + ", " + window + ", " + scheme
	b.screenshot(seen)
	for what, script := range map[string]string{"sticks out": overflowing, "is pale": pale, "has no name": nameless} {
		var wrong []string
		if b.eval(script, &wrong); len(wrong) > 0 {
			b.Errorf("%s: %s: %q", seen, what, wrong)
		}
	}
	var background string
	if b.eval(`getComputedStyle(document.body).backgroundColor`, &background); background != schemes[scheme] {
		b.Errorf("%s: the background is %s, want %s", seen, background, schemes[scheme])
	}
}

func (b *browser) checkNoProblems() {
	b.Helper()
	if len(b.problems) > 0 {
		b.Errorf("chromium complains: %q", b.problems)
	}
}

func TestPagesInChromium(t *testing.T) {
	b := startBrowser(t)
	s := serve(t, options(demoStore()))
	b.look("list", s.URL)
	b.look("not mapped", s.URL+"/targets/ci-release@prod")
	b.look("wrong principal", s.URL+"/targets/runner@prod")
	b.look("unknown", s.URL+"/targets/auditor@staging")
	b.look("pending", s.URL+"/targets/fresh@prod")
	b.look("success", s.URL+"/targets/ci-deploy@prod")
	groups := serve(t, options(groupStore()))
	b.look("groups", groups.URL)
	b.look("group, unhealthy", groups.URL+"/targets/shop")
	b.look("group, read long ago", groups.URL+"/targets/stale")
	b.checkNoProblems()
}

func TestListInChromium(t *testing.T) {
	b := startBrowser(t)
	s := serve(t, options(demoStore()))
	want := []string{"ci-release@prod", "runner@prod", "viewer@staging", "auditor@staging", "fresh@prod", "ci-deploy@prod"}
	for window, size := range windows {
		b.window(size.width, size.height, "light")
		b.open(s.URL)
		var names []string
		b.eval(`[...document.querySelectorAll("tbody th")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map(e => e.innerText)`, &names)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: targets from top to bottom (-want +got):\n%s", window, diff)
		}
		// On a phone rows are cards, and still rows to a screen reader.
		if got := b.roles(); got["rowheader"] != len(want) || got["table"] != 4 || got["columnheader"] != 4*5 {
			t.Errorf("%s: roles %v", window, got)
		}
	}
	b.open(s.URL)
	b.eval(`document.querySelector("tbody td a").click()`, nil)
	b.await(func(m message) bool { return m.Method == "Page.loadEventFired" })
	var landed []any
	b.eval(`[location.pathname + location.hash, document.querySelector("#fix").getBoundingClientRect().top < innerHeight]`, &landed)
	if diff := cmp.Diff([]any{"/targets/ci-release@prod#fix", true}, landed); diff != "" {
		t.Errorf("the link to the fix (-want +got):\n%s", diff)
	}
	b.checkNoProblems()
}

func TestHostilePagesInChromium(t *testing.T) {
	b := startBrowser(t)
	store := results.NewStore()
	var targets []chain.Target
	var runs []chain.Run
	for _, hostile := range hostileTexts {
		hostile = hostile[:min(len(hostile), 400)] // Chromium makes no picture of a page above 16,384 pixels
		access, alb := hostileRun(hostile), hostileGroup(hostile)
		targets, runs = append(targets, access.Target, alb.Target), append(runs, access, alb)
	}
	store.Retain(targets)
	s := serve(t, options(store))
	for i, run := range runs {
		store.Record(run)
		b.lookAt("hostile "+strconv.Itoa(i), s.URL+"/targets/"+url.PathEscape(run.Target.Name), "desk", "light")
		b.lookAt("hostile "+strconv.Itoa(i), s.URL+"/targets/"+url.PathEscape(run.Target.Name), "phone", "dark")
	}
	b.look("hostile list", s.URL)
	b.checkNoProblems()
}

// The looks above can find something: here is a page that has all of it.
func TestChromiumSeesWhatIsWrong(t *testing.T) {
	b := startBrowser(t)
	bad := httptest.NewServer(secure(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<body bgcolor="#777777"><font color="#888888">pale</font><table width="3000"><tr><td>wide</table><ol class="ladder"><li>·</ol><script>alert(1)</script>`)
	})))
	t.Cleanup(bad.Close)
	b.window(390, 800, "light")
	b.open(bad.URL)
	for what, script := range map[string]string{"overflowing": overflowing, "pale": pale, "nameless": nameless} {
		var wrong []string
		if b.eval(script, &wrong); len(wrong) == 0 {
			t.Errorf("%s finds nothing", what)
		}
	}
	if !slices.ContainsFunc(b.problems, func(p string) bool { return strings.Contains(p, "Content Security Policy") }) {
		t.Errorf("the refused script is not among the problems: %q", b.problems)
	}
}

// A page that is read anew stays where its reader is.
func TestReloadKeepsThePlaceInChromium(t *testing.T) {
	b := startBrowser(t)
	store := demoStore()
	handler := newHandler(t, options(store))
	quick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{header: w.Header()}
		handler.ServeHTTP(a, r)
		_, _ = io.WriteString(w, strings.Replace(a.body.String(), `content="30"`, `content="1"`, 1))
	}))
	t.Cleanup(quick.Close)
	b.window(390, 800, "light")
	b.open(quick.URL)
	b.eval(`scrollTo(0, 700)`, nil)
	store.Record(newRun(deploy, now.Add(-time.Second), "✔✔✔✔✔✔", chain.StepResult{}))
	b.await(func(m message) bool { return m.Method == "Page.loadEventFired" })
	var seen []any
	b.eval(`[scrollY, document.querySelector("#success + table tbody td:last-child").innerText]`, &seen)
	want := []any{700.0, "0 s ago"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("after reading anew (-want +got):\n%s", diff)
	}
}
