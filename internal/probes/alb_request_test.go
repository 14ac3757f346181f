// Tests of the step request: what an answer is held against, and who is said to have given it.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestRequest(t *testing.T) {
	elb := http.Header{"Server": {"awselb/2.0"}}
	answer := func(status int, header http.Header) func(*albFake, *chain.Target) {
		return func(f *albFake, _ *chain.Target) {
			f.response = chain.Response{Status: status, Header: header, Body: []byte("a page")}
		}
	}
	body := func(pattern, text string, truncated bool) func(*albFake, *chain.Target) {
		return func(f *albFake, tg *chain.Target) {
			tg.Group.Request.ExpectBody, f.response.Body, f.response.Truncated = pattern, []byte(text), truncated
		}
	}
	const status, mismatch = "failure request/status_mismatch ✔✔✖", "failure request/body_mismatch ✔✔✖"
	runCases(t, map[string]albCase{
		"one of the expected": {func(f *albFake, tg *chain.Target) {
			tg.Group.Request.ExpectStatus = []int{200, 204}
			f.response.Status = 204
		}, allGood, ""},
		"none of the expected": {func(f *albFake, tg *chain.Target) {
			tg.Group.Request.ExpectStatus = []int{200, 204}
			f.response.Status = 301
		}, status, "the answer has status 301, not 200, 204"},
		"502 of the load balancer": {answer(502, elb), status, "the load balancer itself answered: a target refused or broke the connection"},
		"503 of the load balancer": {answer(503, elb), status, "the load balancer itself answered: the rule's group has no target, or all are unused, or the rule has this as its fixed response"},
		"504 of the load balancer": {answer(504, elb), status, "the load balancer itself answered: a target did not connect or answer in time"},
		"404 of the load balancer": {answer(404, elb), status, "the load balancer itself answered, with a fixed response"},
		"301 of the load balancer": {answer(301, elb), status, "the load balancer itself answered, by a rule of its listener"},
		"a redirect leads somewhere": {answer(301, http.Header{"Server": {"awselb/2.0"}, "Location": {"https://u:p@shop.example.test:443/healthz?state=secret"}}), status,
			"the answer has status 301 to https://shop.example.test:443/healthz, not 200; the load balancer itself answered"},
		"a redirect on the same host": {answer(302, http.Header{"Location": {"/login?next=/"}}), status, "status 302 to /login, not 200"},
		"no redirect":                 {answer(503, http.Header{"Location": {"/login"}}), status, "status 503, not 200"},
		"502 of a target":             {answer(502, http.Header{"Server": {"nginx"}}), status, "the answer has status 502, not 200"},
		"the body matches somewhere":  {body(`"status":\s*"ok"`, `{"name": "shop", "status":  "ok"}`, false), allGood, ""},
		"the body does not match":     {body(`^ok$`, "not ok", false), mismatch, `a body of 6 bytes that does not match "^ok$"`},
		"its beginning does not":      {body(`ok`, "a long page", true), mismatch, `the first 11 bytes of its body do not match "ok"; the rest was not read`},
		"an empty body":               {body(`ok`, "", false), mismatch, "0 bytes"},
		"a pattern that is none":      {body(`(`, "ok", false), "unknown request/read_failed ✔✔?", "expect_body"},
		"the requester's failure":     {func(f *albFake, _ *chain.Target) { f.fails["Do"] = fail(chain.StepRequest, chain.ReasonTLSFailure) }, "failure request/tls_failure ✔✔✖", "as told"},
		"the requester's own trouble": {func(f *albFake, _ *chain.Target) {
			f.fails["Do"] = chain.Unsure(chain.ReasonReadFailed, "ca_file", nil, nil)
		}, "unknown request/read_failed ✔✔?", "ca_file"},
	})
}

func TestTargetsAnswerIsNotTheLoadBalancers(t *testing.T) {
	_, err := judgeResponse(chain.Request{ExpectStatus: []int{200}}, chain.Response{Status: 502, Header: http.Header{"Server": {"nginx"}}})
	if err == nil || strings.Contains(err.Error(), "load balancer") {
		t.Errorf("got %v", err)
	}
}

// The evidence holds what came back, and no secret of it.
func TestRequestEvidence(t *testing.T) {
	f, target := newALBFake(), shopTarget()
	f.response = chain.Response{Status: 500, Body: []byte("é" + strings.Repeat("x", 300) + " AKIAIOSFODNN7EXAMPLE")}
	facts := runALB(t, albProber(t, f), target).Facts()
	if got := facts[chain.FactBody]; got != "é"+strings.Repeat("x", 199)+"…" {
		t.Errorf("body is %q", got)
	}
	if facts[chain.FactHTTPStatus] != "500" || facts[chain.FactExpectedStatus] != "200" || facts[chain.FactHTTPTime] != "12" {
		t.Errorf("the facts are %v", facts)
	}
	f.response.Body = []byte("key AKIAIOSFODNN7EXAMPLE")
	if got := runALB(t, albProber(t, f), target).Facts()[chain.FactBody]; got != "key [redacted]" {
		t.Errorf("body is %q", got)
	}
	f.response = chain.Response{Status: 200}
	if got := runALB(t, albProber(t, f), target).Facts(); got[chain.FactBody] != "" || got[chain.FactExpectedStatus] != "" {
		t.Errorf("a good answer's facts are %v", got)
	}
}

// deadlineRequester notes how long a request may take.
type deadlineRequester struct{ left time.Duration }

func (d *deadlineRequester) Do(ctx context.Context, _ chain.Request) (chain.Response, chain.Facts, error) {
	deadline, _ := ctx.Deadline()
	d.left = time.Until(deadline)
	return chain.Response{Status: 200}, nil, nil
}

// The last step has all the time that is left, and its own is not eaten up, so that a request's own timeout, which is below the run's, is one.
func TestRequestHasTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, requester := newALBFake(), &deadlineRequester{}
		p := albProber(t, f)
		p.Requester = requester
		expect(t, runALB(t, p, shopTarget()), allGood, "")
		if requester.left != 10*time.Second {
			t.Errorf("the request has %s", requester.left)
		}
		f.hangs["Health"] = true
		runALB(t, p, shopTarget())
		if requester.left != 7187500*time.Microsecond {
			t.Errorf("after a hanging read the request has %s", requester.left)
		}
	})
}
