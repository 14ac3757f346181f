// The life of a server: it is gone, with all that it started, when Close returns.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"net/http"
	"testing"
)

func TestCloseWaitsForItsHandlers(t *testing.T) {
	a := newAWSAccount(t)
	entered, release, left := make(chan struct{}), make(chan struct{}), false
	server, err := newAWSServer("sts", a.state, a.ca, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
		left = true
	}))
	must(t, err)
	answered := make(chan error)
	go func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL(), nil)
		if err == nil {
			var response *http.Response
			if response, err = a.http.Do(request); err == nil {
				err = response.Body.Close()
			}
		}
		answered <- err
	}()
	<-entered
	go close(release)
	must(t, server.Close())
	if !left {
		t.Error("Close returned before the handler")
	}
	<-answered // whether the answer got out before the connection was cut is not the point
}

func TestClosedServerRefuses(t *testing.T) {
	a := newAWSAccount(t)
	must(t, errors.Join(a.sts.Close(), a.sts.Close()))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.sts.URL(), nil)
	must(t, err)
	if response, err := a.http.Do(request); err == nil {
		must(t, response.Body.Close())
		t.Errorf("a closed server answered %s", response.Status)
	}
}
