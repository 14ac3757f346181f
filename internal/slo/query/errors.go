// What can go wrong when a Prometheus is asked, in words that say what to do about it.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind tells apart why something is not known.
type Kind int

// The kinds of errors.
const (
	KindUnknown        Kind = iota
	KindUnreachable         // no connection, or one that ends before the answer
	KindTimeout             // no answer in time, of the server or of what it asks
	KindCanceled            // whoever asked does not want to know any more
	KindUnauthorized        // 401, 403, or credentials that cannot be had
	KindServerError         // 5xx
	KindNotPrometheus       // an answer that no Prometheus gives: a login page, another API, a path where nothing is
	KindBadQuery            // 400 or 422; or a selector that no query can be made of
	KindTooMany             // 429, or an answer longer than 64 MiB
	KindRulesNotLoaded      // the server has none of the rules
	KindNoData              // it has rules, and they recorded nothing lately
	KindNoSuchSLO           // there are SLOs, but none as selected
	KindNotANumber          // a recorded value is none that its name allows: NaN, infinite, negative, an objective that is no share
)

// String is the kind as it is written in an answer, such as "rules_not_loaded".
func (k Kind) String() string {
	switch k {
	case KindUnreachable:
		return "unreachable"
	case KindTimeout:
		return "timeout"
	case KindCanceled:
		return "canceled"
	case KindUnauthorized:
		return "unauthorized"
	case KindServerError:
		return "server_error"
	case KindNotPrometheus:
		return "not_prometheus"
	case KindBadQuery:
		return "bad_query"
	case KindTooMany:
		return "too_many"
	case KindRulesNotLoaded:
		return "rules_not_loaded"
	case KindNoData:
		return "no_data"
	case KindNoSuchSLO:
		return "no_such_slo"
	case KindNotANumber:
		return "not_a_number"
	case KindUnknown:
	}
	return "unknown"
}

// hint says what to look at.
func (k Kind) hint() string {
	switch k {
	case KindUnreachable:
		return "is the address right, the server up, and the way to it open?"
	case KindTimeout:
		return "is the server overloaded, or the timeout too short?"
	case KindUnauthorized:
		return "check the credentials and what they allow; Mimir and Thanos may also ask for the header X-Scope-OrgID"
	case KindServerError:
		return "its log says more; a Prometheus that has just started answers when it has read its data"
	case KindNotPrometheus:
		return "is this the URL of a Prometheus, with its path prefix, and without /api/v1?"
	case KindTooMany:
		return "ask less often or for fewer SLOs, or raise the server's limits"
	case KindRulesNotLoaded:
		return "load deploy/prometheus/rules, or ask the Prometheus that has them; with the operator, the labels of the PrometheusRule must be those of its ruleSelector"
	case KindNoData:
		return "is the exporter scraped, and are the rules evaluated?"
	case KindNotANumber:
		return "the rules that slogen writes never record this: is another rule recording under this name?"
	case KindUnknown, KindCanceled, KindBadQuery, KindNoSuchSLO:
	}
	return ""
}

// Error is why something is not known. Its text names the server, and holds no credentials.
type Error struct {
	Kind   Kind
	Server string // the URL without credentials; "" when the API does not tell it
	Why    string // what happened
	Err    error  // the cause, for errors.Is; nil when there is none. Its own text may hold more than Why, so it is not shown
}

// Error says which server was asked, what happened, and what to look at.
func (e *Error) Error() string {
	text := "asking Prometheus"
	if e.Server != "" {
		text += " at " + e.Server
	}
	text += ": " + e.Why
	if hint := e.Kind.hint(); hint != "" {
		text += "; " + hint
	}
	return text
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of an error: KindUnknown when it is none of this package.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindUnknown
}

func errorOf(kind Kind, why string, values ...any) *Error {
	return &Error{Kind: kind, Why: fmt.Sprintf(why, values...)}
}

// ended is the error of a context that has ended: the caller's own, or that of one request.
func ended(ctx context.Context, timeout time.Duration) *Error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errRequestTimeout):
		return &Error{Kind: KindTimeout, Why: fmt.Sprintf("there is no answer within %s", timeout), Err: context.DeadlineExceeded}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Kind: KindTimeout, Why: "there is no answer within the time that the caller has", Err: context.DeadlineExceeded}
	}
	return &Error{Kind: KindCanceled, Why: "the caller does not wait for the answer", Err: context.Canceled}
}

// errRequestTimeout is the cause of the end of one request.
var errRequestTimeout = errors.New("the timeout of one request to Prometheus")
