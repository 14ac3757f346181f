// What a client of a load balancer gets: a target's answer, or the load balancer's own page.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"io"
	"net/http"
	"strconv"
)

// write is a target's answer.
func (r Reply) write(w http.ResponseWriter, id string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(cmp.Or(r.Status, http.StatusOK))
	_, _ = io.WriteString(w, cmp.Or(r.Body, id+"\n")) // a client that left is not ours to report
}

// ownTitles are the titles of a load balancer's own answers (Application Load Balancers, "Troubleshoot your Application Load Balancers").
var ownTitles = map[int]string{
	http.StatusBadGateway:         "502 Bad Gateway",
	http.StatusServiceUnavailable: "503 Service Temporarily Unavailable",
	http.StatusGatewayTimeout:     "504 Gateway Time-out",
}

// ownAnswer is the load balancer's: a small page, or the empty fixed response that stands where no rule takes a request.
func ownAnswer(w http.ResponseWriter, status int) {
	w.Header().Set("Server", "awselb/2.0")
	title, ok := ownTitles[status]
	body := "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n</body>\r\n</html>\r\n"
	w.Header().Set("Content-Type", "text/html")
	if !ok {
		body = ""
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that left is not ours to report
}
