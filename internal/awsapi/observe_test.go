// What a client reports of its calls: one count each, answered or not, and the clock of every answer.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestObserveRequests(t *testing.T) {
	w := newWorld(t)
	w.cluster()
	must(t, w.signIn(w.irsa()))
	_, err := w.client.Cluster(t.Context(), w.target("prod"))
	must(t, err)
	w.state.Change(func(s *sandbox.State) { s.Roles[irsaARN].Trust = nil })
	_ = w.signIn(w.irsa())
	w.state.Change(func(s *sandbox.State) { s.Off["sts"] = true })
	_ = w.signIn(w.irsa())
	wantSame(t, w.seen.requests, []string{
		"sts AssumeRoleWithWebIdentity ok", "sts GetCallerIdentity ok", "sts AssumeRole ok", "eks DescribeCluster ok",
		"sts AssumeRoleWithWebIdentity AccessDenied", "sts AssumeRoleWithWebIdentity none",
	})
}

// The clock is measured on every answer, also on a success, and against the exporter's own idea of now.
func TestObserveSkew(t *testing.T) {
	w := newWorld(t)
	w.cluster()
	for name, c := range map[string]struct{ shift, want time.Duration }{
		"agrees": {0, 0}, "the local clock is ahead": {-3 * time.Minute, 3 * time.Minute}, "the local clock is behind": {10 * time.Minute, -10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w.state.ShiftClock(c.shift)
			must(t, w.signIn(w.irsa()))
			_, err := w.newClient(func(*Options) {}).Cluster(t.Context(), w.target("prod"))
			must(t, err)
			for _, peer := range []string{"sts.eu-west-1", "eks.eu-west-1"} {
				if got, ok := w.seen.skews[peer]; !ok || (got-c.want).Abs() > 2*time.Second {
					t.Errorf("%s is %s off (%v), want %s", peer, got, ok, c.want)
				}
			}
		})
	}
}

func TestSkewOf(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	date := noon.Format(http.TimeFormat)
	for name, c := range map[string]struct {
		header       http.Header
		begun, ended time.Time
		want         time.Duration
		ok           bool
	}{
		"the middle of the call": {http.Header{"Date": {date}}, noon.Add(-2 * time.Second), noon.Add(3 * time.Second), 0, true},
		"ahead":                  {http.Header{"Date": {date}}, noon.Add(time.Hour), noon.Add(time.Hour), time.Hour - 500*time.Millisecond, true},
		"out of a cache":         {http.Header{"Date": {date}, "Age": {"0"}}, noon, noon, 0, false},
		"no date":                {http.Header{}, noon, noon, 0, false},
		"a broken date":          {http.Header{"Date": {"yesterday"}}, noon, noon, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := skewOf(c.header, c.begun, c.ended)
			wantSame(t, []any{got, ok}, []any{c.want, c.ok})
		})
	}
}

func TestRequestCode(t *testing.T) {
	api := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	for name, c := range map[string]struct {
		status int
		err    error
		want   string
	}{
		"success":             {200, nil, "ok"},
		"a code":              {403, api("AccessDenied"), "AccessDenied"},
		"no code":             {403, api(""), "http_403"},
		"the SDK's none":      {502, api("UnknownError"), "http_502"},
		"a text for a code":   {400, api("come to evil.example\n"), "http_400"},
		"no AWS error":        {302, errors.New("x"), "http_302"},
		"no answer":           {0, errors.New("x"), "none"},
		"our cancellation":    {0, context.Canceled, "canceled"},
		"the deadline":        {0, context.DeadlineExceeded, "timeout"},
		"a code, too long":    {400, api("A" + string(make([]byte, 64))), "http_400"},
		"no answer to a code": {0, api("AccessDenied"), "none"},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, requestCode(c.status, c.err), c.want) })
	}
}

// Every call opens its own connection, and the SDK neither repeats nor corrects.
func TestEveryCallIsItsOwn(t *testing.T) {
	peers := map[string]bool{}
	w := literal(t, func(rw http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		_, _ = rw.Write([]byte(`<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult/></GetCallerIdentityResponse>`))
	})
	session := w.session(w.environment())
	for range 3 {
		_, err := session.Caller(t.Context())
		must(t, err)
	}
	wantSame(t, len(peers), 3)
	wantSame(t, []any{w.client.base.DisableClockSkewCorrection, w.client.base.Retryer().MaxAttempts()}, []any{true, 1})
}

// Answers that are not AWS's are told from AWS's own, and one that breaks off is no answer.
func TestForeignAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		reason  chain.Reason
		detail  string
	}{
		"a proxy's page": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("<html><body>Access denied</body></html>"))
		}, chain.ReasonSTSUnreachable, "HTTP 403 without an AWS error (something that is not STS answered in its place)"},
		"a portal": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("welcome")) }, chain.ReasonSTSUnreachable, "HTTP 200 without an AWS error"},
		"a gateway": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
		}, chain.ReasonSTSUnreachable, "HTTP 502 without an AWS error (something that is not STS answered in its place)"},
		"a proxy's limit": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, chain.ReasonSTSUnreachable, "HTTP 429 without an AWS error"},
		"a gateway of AWS's": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amzn-Requestid", "the-request")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, chain.ReasonSTSError, "HTTP 503 without an AWS error"},
		"a filter that speaks as S3 does": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code><Message>by the filter</Message></Error>"))
		}, chain.ReasonSTSUnreachable, "something that is not STS answered in its place"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("<AssumeRoleResponse>"))
		}, chain.ReasonSTSUnreachable, "no answer, while reading the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := literal(t, c.handler)
			wantText(t, wantVerdict(t, w.signIn(w.environment(deployARN)), failure(chain.StepSTS, c.reason)).Detail, c.detail)
			if name != "a gateway of AWS's" {
				wantSame(t, w.seen.skews, map[string]time.Duration{})
			}
		})
	}
}
