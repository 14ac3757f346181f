// Steps are the ordered layers of a chain: the access chain of one identity on one cluster, and the alb chain of one target group.
//
// SPDX-License-Identifier: Apache-2.0

// Package chain is the domain: target, step, outcome, reason, run and verdict. It needs the standard library alone, and every other package may import it.
package chain

import "fmt"

// Step is one layer of a chain. The zero value, StepNone, names no layer.
type Step uint8

// The steps, in the order in which the chains run them.
const (
	StepNone Step = iota
	StepCredentials
	StepSTS
	StepToken
	StepEndpoint
	StepAccessEntry
	StepRBAC
	StepRegistration
	StepHealth
	StepRequest
)

var stepNames = [...]string{
	StepNone:         "",
	StepCredentials:  "credentials",
	StepSTS:          "sts",
	StepToken:        "token",
	StepEndpoint:     "endpoint",
	StepAccessEntry:  "access_entry",
	StepRBAC:         "rbac",
	StepRegistration: "registration",
	StepHealth:       "health",
	StepRequest:      "request",
}

// String returns the name used in labels and JSON; "" for StepNone.
func (s Step) String() string {
	if int(s) < len(stepNames) {
		return stepNames[s]
	}
	return fmt.Sprintf("step(%d)", uint8(s))
}

// MarshalText makes a step its name in JSON.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name back; an unknown name is an error.
func (s *Step) UnmarshalText(text []byte) error {
	for i, name := range stepNames {
		if name == string(text) {
			*s = Step(i)
			return nil
		}
	}
	return fmt.Errorf("reading step %q: no such step", text)
}

// Kind says which chain probes a target. The zero value is no kind.
type Kind uint8

// The kinds of target.
const (
	KindNone Kind = iota
	KindAccess
	KindALB
)

// String returns the name used in JSON.
func (k Kind) String() string {
	switch k {
	case KindAccess:
		return "access"
	case KindALB:
		return "alb"
	case KindNone:
		return ""
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText makes a kind its name in JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name back; an unknown name is an error.
func (k *Kind) UnmarshalText(text []byte) error {
	for _, known := range []Kind{KindNone, KindAccess, KindALB} {
		if known.String() == string(text) {
			*k = known
			return nil
		}
	}
	return fmt.Errorf("reading kind %q: no such kind", text)
}

// Steps returns the chain of a kind, in order.
func (k Kind) Steps() []Step {
	switch k {
	case KindAccess:
		return []Step{StepCredentials, StepSTS, StepToken, StepEndpoint, StepAccessEntry, StepRBAC}
	case KindALB:
		return []Step{StepRegistration, StepHealth, StepRequest}
	case KindNone:
	}
	return nil
}
