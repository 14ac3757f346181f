// The request part of a target group: a real HTTP request through its load balancer, and what the answer must be.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

const (
	defaultRequestTimeout  = 5 * time.Second
	shortestRequestTimeout = 100 * time.Millisecond
)

// Bounds of texts that are parsed, in characters.
const (
	longestURL     = 2048
	longestPattern = 1024
)

// What host and sni look like.
var (
	hostShape = regexp.MustCompile(`^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$`)
	sniShape  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$`)
)

// request reads the key request; nil when it is not given. within is the timeout of the target's run.
func (d *decoder) request(f diag.Fields, within time.Duration) *chain.Request {
	n := f.Node("request")
	if n == nil {
		return nil
	}
	q := d.Mapping(n, "request", "url", "expect_status", "expect_body", "host", "sni", "ca_file", "ip_family", "timeout")
	q.Require("url", "what users ask for through the load balancer, such as https://shop.example.com/healthz")
	request := &chain.Request{
		URL: d.requestURL(q), ExpectStatus: d.statuses(q), ExpectBody: d.bodyPattern(q),
		Host: d.host(q, "host", hostShape, "a host name, with a port when it is not the scheme's own"), SNI: d.host(q, "sni", sniShape, "a host name without a port"),
		IPFamily: diag.Choice(q, "ip_family", []chain.IPFamily{chain.IPFamily4, chain.IPFamily6}, chain.IPFamilyAny),
		Timeout:  d.requestTimeout(q, within),
	}
	if q.Optional("ca_file") != "" {
		request.CAFile = d.caFile(q, requestCA)
	}
	d.checkTLSKeys(q, request.URL)
	return request
}

// requestURL reads the URL; "" when it is not given or wrong.
func (d *decoder) requestURL(f diag.Fields) string {
	text := d.bounded(f, "url", longestURL)
	if text == "" {
		return ""
	}
	u, wrong := parseURL(text, "http", "https")
	switch {
	case wrong != "":
	case hasSecretQuery(u):
		wrong = "its query holds what looks like a secret"
	case !isHostName(u.Hostname()):
		wrong = "its host is no host name"
	}
	if wrong != "" {
		d.Report(f.At("url"), badURL, wrong)
		return ""
	}
	return text
}

// hasSecretQuery reports whether a URL's query holds a secret, however its names are written: the URL is shown in fixes and pages.
func hasSecretQuery(u *url.URL) bool {
	if secretEntry.MatchString("?"+u.RawQuery) || hasSecretShape(strings.TrimSpace(u.RawQuery)) {
		return true
	}
	for key, values := range u.Query() {
		if secretEntry.MatchString("?"+key+"=") || slices.ContainsFunc(values, func(value string) bool { return hasSecretShape(strings.TrimSpace(value)) }) {
			return true
		}
	}
	return false
}

// isHostName reports whether a host that is not in ASCII can be written as DNS knows it (RFC 5891); no request could be made to another.
func isHostName(host string) bool {
	if !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return true
	}
	_, err := idna.Lookup.ToASCII(host)
	return err == nil
}

// bounded reads a text of at most so many characters; "" when it is not given or longer.
func (d *decoder) bounded(f diag.Fields, key string, most int) string {
	text := f.Text(key)
	if n := utf8.RuneCountInString(text); n > most {
		d.Report(f.At(key), textTooLong, key, n, most)
		return ""
	}
	return text
}

// checkTLSKeys reports keys that only TLS has where the URL is one of plain HTTP.
func (d *decoder) checkTLSKeys(f diag.Fields, text string) {
	if !strings.HasPrefix(strings.ToLower(text), "http:") {
		return
	}
	for _, key := range []string{"sni", "ca_file"} {
		if f.Optional(key) != "" {
			d.Report(f.AtKey(key), httpsOnly, key, key)
		}
	}
}

func (d *decoder) host(f diag.Fields, key string, shape *regexp.Regexp, hint string) string {
	text := f.Optional(key)
	if text != "" && !shape.MatchString(text) {
		d.Report(f.At(key), badHost, key, text, hint)
	}
	return text
}

// statuses reads the status codes that are right, none of them twice; 200 when they are not given.
func (d *decoder) statuses(f diag.Fields) []int {
	if !f.Has("expect_status") {
		return []int{200}
	}
	items := f.List("expect_status")
	if n := f.Node("expect_status"); n.Kind == yaml.SequenceNode && len(items) == 0 {
		d.Report(d.At(n), diag.NoValue, "expect_status")
	}
	var all []int
	first := map[int]diag.Place{}
	for i, item := range items {
		status, ok := d.WholeNumber(item, fmt.Sprintf("expect_status[%d]", i), 100, 599)
		if !ok {
			continue
		}
		if earlier, twice := first[status]; twice {
			d.Report(d.At(item), diag.ListedTwice, "expect_status", strconv.Itoa(status), earlier.Line, earlier.Column)
			continue
		}
		first[status] = d.At(item)
		all = append(all, status)
	}
	return all
}

// bodyPattern reads the regular expression that the body must match; a mistake is shown at its place.
func (d *decoder) bodyPattern(f diag.Fields) string {
	text, n := d.bounded(f, "expect_body", longestPattern), f.Node("expect_body")
	if d.wrong[n] {
		return ""
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		d.wrong[n] = true
		at := f.At("expect_body")
		if offset := patternError(text, wrong); offset > 0 {
			at = d.word(n, offset)
		}
		d.Report(at, badRegexp, strings.TrimSuffix(wrong.Code.String()+": "+wrong.Expr, ": "))
		return text
	}
	if steps := stepsOf(parsed); steps > mostSteps {
		d.wrong[n] = true
		d.Report(f.At("expect_body"), slowRegexp, steps, mostSteps)
	}
	return text
}

// mostSteps bounds a pattern by what its repetitions unfold to; one of longestPattern characters without any is below it. Each step may be tried at each byte of a body: at this bound a hostile one
// of 64 KiB costs a core two seconds, where a hundred times (x?){999} would cost it minutes.
const mostSteps = 1100

func stepsOf(parsed *syntax.Regexp) int {
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return mostSteps + 1
	}
	return len(compiled.Inst)
}

// patternError returns the byte where the wrong part of a pattern begins; 0 when that is the whole. The parser reads from left to right, so the shortest beginning that has the error ends with it.
func patternError(text string, wrong *syntax.Error) int {
	end := sort.Search(len(text), func(n int) bool {
		_, err := syntax.Parse(text[:n], syntax.Perl)
		e, ok := errors.AsType[*syntax.Error](err)
		return ok && *e == *wrong
	})
	if !strings.HasSuffix(text[:end], wrong.Expr) {
		return 0
	}
	return end - len(wrong.Expr)
}

// requestTimeout reads how long the request may take: shorter than the run that it is a part of.
func (d *decoder) requestTimeout(f diag.Fields, within time.Duration) time.Duration {
	timeout, given := f.Duration("timeout", defaultRequestTimeout)
	if !d.atLeast(f, "timeout", timeout, limit{shortestRequestTimeout, "a request through a load balancer takes several round trips"}) {
		return timeout
	}
	if timeout >= within && (given || !f.Has("timeout")) {
		d.Report(f.At("timeout"), requestTooLong, written(timeout), written(within))
	}
	return timeout
}
