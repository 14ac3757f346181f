// Step request: a real request through the load balancer comes back as declared.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// bodyShown is how many characters of a body are evidence.
const bodyShown = 200

// request makes the request; the Requester knows that its own timeout is one, and that the end of the run's time is none.
func (r *albRun) request(ctx context.Context) (chain.Facts, error) {
	request := r.target.Group.Request
	if request == nil {
		return nil, errNothingAsked
	}
	response, facts, err := r.prober.Requester.Do(ctx, *request)
	if err != nil {
		return facts, err
	}
	found, err := judgeResponse(*request, response)
	return facts.Merge(chain.Facts{chain.FactHTTPStatus: strconv.Itoa(response.Status)}, found), err
}

// judgeResponse holds an answer against what is expected.
func judgeResponse(request chain.Request, response chain.Response) (chain.Facts, error) {
	if !slices.Contains(request.ExpectStatus, response.Status) {
		expected := joinInts(request.ExpectStatus)
		return chain.Facts{chain.FactExpectedStatus: expected, chain.FactBody: beginning(response.Body)}, chain.Fail(chain.StepRequest, chain.ReasonStatusMismatch,
			fmt.Sprintf("the answer has status %d%s, not %s%s", response.Status, leadingTo(response), expected, answeredBy(response)), nil, nil)
	}
	if request.ExpectBody == "" {
		return nil, nil
	}
	pattern, err := regexp.Compile(request.ExpectBody)
	if err != nil {
		return nil, chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("reading expect_body %q: %v", request.ExpectBody, err), nil, err)
	}
	if pattern.Match(response.Body) {
		return nil, nil
	}
	detail := fmt.Sprintf("the answer has status %d as expected, and a body of %d bytes that does not match %q", response.Status, len(response.Body), request.ExpectBody)
	if response.Truncated {
		detail = fmt.Sprintf("the answer has status %d as expected, and the first %d bytes of its body do not match %q; the rest was not read", response.Status, len(response.Body), request.ExpectBody)
	}
	return chain.Facts{chain.FactBody: beginning(response.Body)}, chain.Fail(chain.StepRequest, chain.ReasonBodyMismatch, detail, nil, nil)
}

// leadingTo says where a redirect leads, without its query, which may hold a login's state.
func leadingTo(response chain.Response) string {
	to, err := url.Parse(response.Header.Get("Location"))
	if response.Status/100 != 3 || err != nil || to.Path+to.Host == "" {
		return ""
	}
	return " to " + chain.Redact((&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String())
}

// answeredBy says what the load balancer's own error pages mean: it marks them as its own, and lets a target's Server header pass.
func answeredBy(response chain.Response) string {
	if !strings.HasPrefix(response.Header.Get("Server"), "awselb/") {
		return ""
	}
	const itself = "; the load balancer itself answered"
	switch {
	case response.Status == 502:
		return itself + ": a target refused or broke the connection, or its answer was no valid one"
	case response.Status == 503:
		return itself + ": the rule's group has no target, or all are unused, or the rule has this as its fixed response"
	case response.Status == 504:
		return itself + ": a target did not connect or answer in time"
	case response.Status >= 400:
		return itself + ", with a fixed response of a listener rule or by refusing the request"
	}
	return itself + ", by a rule of its listener"
}

// beginning returns the first characters of a body, fit for people.
func beginning(body []byte) string {
	text := []rune(chain.Redact(string(body)))
	if len(text) > bodyShown {
		return string(text[:bodyShown]) + "…"
	}
	return string(text)
}

func joinInts(numbers []int) string {
	var parts []string
	for _, n := range numbers {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ", ")
}
