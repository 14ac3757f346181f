// Answers of the apiserver on the wire: JSON objects, Kubernetes Status bodies for errors, and the few texts that are neither.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// answer is a reply before it is sent. text stands instead of object.
type answer struct {
	status     int
	object     any
	text       string
	retryAfter int // seconds; 0 none
}

// textAnswer is one of the plain texts of the real apiserver.
func textAnswer(status int, text string) answer { return answer{status: status, text: text} }

// errorAnswer is the Status of an API error; any other error is an InternalError.
func errorAnswer(err error) answer {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewInternalError(err)
	}
	object := status.Status()
	object.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	reply := answer{status: int(object.Code), object: object}
	if object.Details != nil {
		reply.retryAfter = int(object.Details.RetryAfterSeconds)
	}
	return reply
}

// genericError is an error that Kubernetes words by its status alone.
func genericError(status int, message string) error {
	return apierrors.NewGenericServerResponse(status, "", schema.GroupResource{}, "", message, 0, false)
}

// brokenAnswer is what a cluster with a fault says to every request. Without a message of its own, an overloaded apiserver (429) answers with flow control's plain text
// and a broken one (5xx) with the list of its checks on the health paths, as the real ones do; everything else is a Status.
func brokenAnswer(fault ClusterFault, want attributes) answer {
	if fault.StatusMessage == "" {
		_, public := publicPaths[want.path]
		switch {
		case fault.HTTPStatus == http.StatusTooManyRequests:
			return answer{status: fault.HTTPStatus, text: "Too many requests, please try again later.\n", retryAfter: 1}
		case fault.HTTPStatus >= http.StatusInternalServerError && public:
			return textAnswer(fault.HTTPStatus, "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nreadyz check failed\n")
		}
		return errorAnswer(genericError(fault.HTTPStatus, "unknown"))
	}
	status := apierrors.NewGenericServerResponse(fault.HTTPStatus, "", schema.GroupResource{}, "", fault.StatusMessage, 0, false)
	status.ErrStatus.Message = fault.StatusMessage
	if fault.HTTPStatus == http.StatusTooManyRequests {
		status.ErrStatus.Details.RetryAfterSeconds = 1
	}
	return errorAnswer(status)
}

// code is how the answer is recorded: the reason of a Status, the status of another refusal, "" on success.
func (a answer) code() string {
	if status, isStatus := a.object.(metav1.Status); isStatus && status.Reason != "" {
		return string(status.Reason)
	}
	if a.status >= http.StatusBadRequest {
		return strconv.Itoa(a.status)
	}
	return ""
}

func (a answer) write(w http.ResponseWriter) {
	body, contentType := []byte(a.text), "text/plain; charset=utf-8"
	if a.object != nil {
		encoded, err := json.Marshal(a.object)
		if err != nil {
			http.Error(w, "encoding the answer: "+err.Error(), http.StatusInternalServerError)
			return
		}
		encoded = append(encoded, '\n')
		body, contentType = encoded, "application/json"
	}
	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // a client that went away is no news
}
