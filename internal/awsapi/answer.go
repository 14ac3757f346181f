// Answers: what came back from a call, or how far it got, in the one shape that the error tables look at.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// answer is the end of one call that did not succeed.
type answer struct {
	sighting
	status    int    // 0: nothing came back
	code      string // AWS's own; "" when what answered did not speak as AWS does
	message   string
	requestID string
	err       error
}

func answerOf(err error, last sighting) answer {
	a := answer{sighting: last, err: err}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil && response.Response.Response != nil {
		a.status = response.HTTPStatusCode()
	}
	if request, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		a.requestID = request.ServiceRequestID()
	}
	var api smithy.APIError
	if a.code = awsCode(err); a.code != "" && errors.As(err, &api) {
		a.message = api.ErrorMessage()
	}
	if last.brokeOff(err) {
		a.status = 0
	}
	return a
}

// awsCode is AWS's own word for an error; "" when what answered did not speak as AWS does.
func awsCode(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() == "UnknownError" { // the SDK's name for an error body without a code
		return ""
	}
	return strings.TrimSpace(api.ErrorCode())
}

// brokeOff reports whether an answer ended before its end, or was past the bound: half an answer is none, whatever its status was.
func (s sighting) brokeOff(err error) bool {
	return err != nil && awsCode(err) == "" && (s.broken != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF))
}

// sent reports whether the call got as far as the transport.
func (a answer) sent() bool { return a.phase != "" }

// untried reports whether this machine could not even try, which says nothing of the other side. The SDK's metadata client hides the transport's error, so what was seen of it is asked too.
func (a answer) untried() bool {
	return a.status == 0 && (chain.LocalTrouble(a.err) || chain.LocalTrouble(a.cause) || a.unsendable())
}

// unsendable reports whether the transport refused the request before it looked a name up or dialled, for a header that cannot be sent, say: the network had no part in it.
func (a answer) unsendable() bool {
	return a.phase == phaseOpening && !errors.Is(a.err, context.DeadlineExceeded) && !errors.Is(a.err, errProxy)
}

// stranger reports whether something else answered in the place of an AWS service: those give every answer a request id, which instance metadata and container credentials do not.
func (a answer) stranger() bool {
	return a.status != 0 && !a.tagged && a.requestID == "" && a.service != serviceIMDS && a.service != serviceContainer
}

// throttled reports whether AWS refused for the rate alone. STS does so with HTTP 400 and Throttling. A proxy's bare 429 is not AWS's.
func (a answer) throttled() bool {
	_, known := retry.DefaultThrottleErrorCodes[a.code]
	return known || a.status == 429 && (a.code != "" || !a.stranger())
}

// text is what came back, for people: "403 AccessDenied: …".
func (a answer) text() string {
	switch {
	case a.status == 0:
		return a.silence()
	case a.code == "":
		return fmt.Sprintf("HTTP %d without an AWS error", a.status)
	case a.message == "":
		return fmt.Sprintf("%d %s", a.status, a.code)
	}
	return fmt.Sprintf("%d %s: %s", a.status, a.code, a.message)
}

// silence says how far a call without an answer got, and what ended it.
func (a answer) silence() string {
	cause := cmp.Or(a.broken, a.err)                         // the SDK calls the first one a body that it cannot decode
	if request, ok := errors.AsType[*url.Error](cause); ok { // what the SDK wraps around it repeats the URL and a status of 0
		cause = request.Err
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return "no answer in time, while " + a.phase
	}
	return chain.Redact(fmt.Sprintf("no answer, while %s: %v", a.phase, cause))
}

// facts are the names of what was asked and, where an answer had a date, the clock.
func (s sighting) facts() chain.Facts {
	facts := chain.Facts{}
	switch s.service {
	case "STS":
		facts[chain.FactSTSHost] = s.host
	case "":
	default:
		facts[chain.FactHost] = s.host
	}
	if s.measured {
		facts[chain.FactClockSkew] = s.skew.Round(time.Second).String()
	}
	return facts
}

// facts are the remote's own words.
func (a answer) facts() chain.Facts {
	facts := a.sighting.facts()
	if a.status == 0 {
		facts[chain.FactAddress] = a.address
		return facts
	}
	facts[chain.FactHTTPStatus] = fmt.Sprint(a.status)
	facts[chain.FactErrorCode] = chain.Redact(a.code)
	facts[chain.FactErrorMessage] = chain.Redact(a.message)
	facts[chain.FactRequestID] = chain.Redact(a.requestID)
	return facts
}
