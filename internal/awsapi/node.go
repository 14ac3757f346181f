// Services of the exporter's own node, the Pod Identity agent and instance metadata: reached without a proxy, and never read past a bound.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

// errAnswerNull is returned for an answer that is valid JSON, and nothing.
var errAnswerNull = errors.New("the answer is the JSON value null")

// doer is what the SDK sends a request with.
type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// bounded reads every answer whole, up to the limit, before the SDK sees it: the SDK bounds none of these answers, and follows a nil pointer when one is null
// (aws-sdk-go-v2 credentials/endpointcreds v1.21.0).
type bounded struct{ doer }

// Do implements the SDK's HTTPClient. Its errors are the transport's, errAnswerTooLarge and errAnswerNull.
func (b bounded) Do(request *http.Request) (*http.Response, error) {
	response, err := b.doer.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(&boundedBody{ReadCloser: response.Body, left: maxAnswer})
	err = errors.Join(err, response.Body.Close())
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(bytes.TrimSpace(text), []byte("null")):
		return nil, errAnswerNull
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, nil
}

// newNodeClient makes a client for link-local addresses, which belong to no proxy: NO_PROXY often forgets them.
func newNodeClient(transport *http.Transport) doer {
	transport.Proxy = nil
	return boundedClient(transport, withoutDeadline)
}

// boundedClient follows no redirect: these services make none, and the SDK's own client follows a circle of them until the time is over.
func boundedClient(transport *http.Transport, timeout time.Duration) doer {
	return bounded{&http.Client{Transport: transport, Timeout: timeout, CheckRedirect: noRedirect}}
}
