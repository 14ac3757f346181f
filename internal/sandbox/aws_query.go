// The frame of the query protocol, as IAM and ELB serve it: a form in, XML out.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"net/url"
)

// queryService is a service that speaks the query protocol.
type queryService struct {
	name      string // as calls of it are recorded
	version   string
	namespace string // of its XML
	state     *State
	// answer carries out an operation of the service that the version has, or is unknown. It takes the state's lock itself.
	answer func(r *http.Request, body []byte, form url.Values) (result any, fault *awsError)
	knows  func(operation string) bool
}

// ServeHTTP implements http.Handler.
func (q queryService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, fault := readBody(w, r)
	operation, result := "", any(nil)
	if fault == nil {
		operation, result, fault = q.call(r, body)
	}
	status, code := http.StatusOK, ""
	if fault != nil {
		status, code = fault.Status, fault.Code
	}
	q.state.record(q.name, operation, code)
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_, _ = w.Write(queryXML(q.namespace, operation, w.Header().Get("X-Amzn-Requestid"), result, fault)) // a client that left is not ours to report
}

func (q queryService) call(r *http.Request, body []byte) (operation string, result any, fault *awsError) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, &awsError{http.StatusBadRequest, "MalformedQueryString", "The query string contains a syntax error."}
	}
	operation = form.Get("Action")
	if !q.knows(operation) || form.Get("Version") != q.version {
		return operation, nil, &awsError{http.StatusBadRequest, "InvalidAction", "Could not find operation " + operation + " for version " + form.Get("Version")}
	}
	result, fault = q.answer(r, body, form)
	return operation, result, fault
}
