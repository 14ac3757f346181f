// What a request costs beside the bare net/http request that any prober must make.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// BenchmarkDo alternates Do with a bare request, whose transport lives on, so that both see the same machine; ratio is the time of the one over that of the other.
func BenchmarkDo(b *testing.B) {
	s := serve(b, hello)
	client := newClient(b, trusting(s.ca))
	bare := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.ca.Pool()}, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
	request := chain.Request{URL: s.URL, Timeout: ample}
	var ours, theirs time.Duration
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		if _, _, err := client.Do(b.Context(), request); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		response, err := bare.Get(s.URL)
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		ours, theirs = ours+middle.Sub(began), theirs+time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "do-µs/op")
	b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "bare-µs/op")
}
