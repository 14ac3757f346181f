// Answers that break off are none, whatever their status was: the error's own words are told, and nobody else is said to have answered.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// reset answers with half a body, and resets the connection.
func reset(t *testing.T, rw http.ResponseWriter) {
	t.Helper()
	controller := http.NewResponseController(rw)
	rw.Header().Set("Content-Length", "1000")
	fmt.Fprint(rw, "<GetCallerIdentityResponse>")
	must(t, controller.Flush())
	conn, _, err := controller.Hijack()
	must(t, err)
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if wire, ok := conn.(*net.TCPConn); ok {
		must(t, wire.SetLinger(0))
	}
	must(t, conn.Close())
}

func TestAnswerThatBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*testing.T, http.ResponseWriter)
		words  string
	}{
		"reset": {reset, "connection reset by peer"},
		"closed": {func(_ *testing.T, rw http.ResponseWriter) {
			rw.Header().Set("Content-Length", "1000")
			fmt.Fprint(rw, "<GetCallerIdentityResponse>")
		}, "unexpected EOF"},
		"too large": {func(_ *testing.T, rw http.ResponseWriter) {
			fmt.Fprint(rw, "<GetCallerIdentityResponse>"+strings.Repeat(" ", maxAnswer))
		}, errAnswerTooLarge.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			w := literal(t, func(rw http.ResponseWriter, _ *http.Request) { c.answer(t, rw) })
			e := wantVerdict(t, w.signIn(w.environment()), failure(chain.StepSTS, chain.ReasonSTSUnreachable))
			wantText(t, e.Detail, "no answer, while reading the answer: ", c.words)
			if strings.Contains(e.Detail, "in its place") || e.Facts[chain.FactHTTPStatus] != "" {
				t.Errorf("half an answer is taken for one: %v\n%s", e.Facts, e.Detail)
			}
			wantSame(t, w.seen.requests, []string{"sts GetCallerIdentity none"})

			_, err := w.client.Cluster(t.Context(), w.target("prod"))
			wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, "no answer, while reading the answer: ")
		})
	}
}

// A whole answer of somebody else is still told as one.
func TestAnswerOfAStranger(t *testing.T) {
	w := literal(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "<html>please log in") })
	e := wantVerdict(t, w.signIn(w.environment()), failure(chain.StepSTS, chain.ReasonSTSUnreachable))
	wantText(t, e.Detail, "HTTP 200 without an AWS error (something that is not STS answered in its place)")
	wantSame(t, w.seen.requests, []string{"sts GetCallerIdentity http_200"})
}
