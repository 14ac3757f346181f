// Error is how the adapters tell a step what went wrong: already a reason, with its evidence, and the cause wrapped.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "errors"

// Error is a failure, or an unknown, with its reason. Step says whom to blame when that is not the step which made the call.
type Error struct {
	Outcome Outcome // OutcomeFailure or OutcomeUnknown
	Step    Step    // StepNone: the step that made the call
	Reason  Reason
	Detail  string // a sentence for people, without secrets
	Facts   Facts
	Err     error // the cause; may hold text that is not for people, and is never shown as it is
}

// Fail makes a failure.
func Fail(step Step, reason Reason, detail string, facts Facts, cause error) *Error {
	return &Error{OutcomeFailure, step, reason, detail, facts, cause}
}

// Unsure makes an unknown: the prober could not tell.
func Unsure(reason Reason, detail string, facts Facts, cause error) *Error {
	return &Error{OutcomeUnknown, StepNone, reason, detail, facts, cause}
}

// Error implements error.
func (e *Error) Error() string {
	text := string(e.Reason)
	if name := e.Step.String(); name != "" {
		text = name + "/" + text
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError finds the *Error in err's tree. An error that carries no reason is an unknown, read_failed: what nobody classified is never a failure. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Unsure(ReasonReadFailed, Redact(err.Error()), nil, err)
}
