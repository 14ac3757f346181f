// A client over the transport without a network.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestInProcess(t *testing.T) {
	client := &http.Client{Transport: InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/drop" {
			panic(http.ErrAbortHandler)
		}
		body, err := io.ReadAll(r.Body)
		must(t, err)
		w.Header().Set("X-Host", r.Host)
		w.WriteHeader(http.StatusTeapot)
		_, err = w.Write(append([]byte("got "), body...))
		must(t, err)
	}))}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://service.example.test/path", strings.NewReader("this"))
	must(t, err)
	response, err := client.Do(request)
	must(t, err)
	body, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	wantSame(t, []any{response.StatusCode, response.Header.Get("X-Host"), string(body)}, []any{418, "service.example.test", "got this"})

	request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, "http://service.example.test/drop", http.NoBody)
	must(t, err)
	response, err = client.Do(request)
	if !errors.Is(err, io.EOF) {
		t.Errorf("%v, want %v", err, io.EOF)
	}
	if response != nil {
		must(t, response.Body.Close())
	}
}
