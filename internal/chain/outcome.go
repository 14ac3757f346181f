// Outcome is what one step, or a whole run, showed.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "fmt"

// Outcome is the result of a step. The zero value is OutcomeUnknown: what nobody decided is neither good nor bad.
type Outcome uint8

// The outcomes of a step; a run ends in one of the first three.
const (
	// OutcomeUnknown: the probe itself could not tell (a throttled read, a missing observer permission, an overrun).
	OutcomeUnknown Outcome = iota
	// OutcomeSuccess: the step was exercised for real and worked.
	OutcomeSuccess
	// OutcomeFailure: the step was exercised and its layer is broken.
	OutcomeFailure
	// OutcomeSkipped: an earlier step failed; never counted.
	OutcomeSkipped
)

// Results are the outcomes that a run can end in, in label order.
var Results = []Outcome{OutcomeSuccess, OutcomeFailure, OutcomeUnknown}

// String returns the label value.
func (o Outcome) String() string {
	switch o {
	case OutcomeUnknown:
		return "unknown"
	case OutcomeSuccess:
		return "success"
	case OutcomeFailure:
		return "failure"
	case OutcomeSkipped:
		return "skipped"
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// MarshalText makes an outcome its label value in JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a label value back.
func (o *Outcome) UnmarshalText(text []byte) error {
	for _, known := range []Outcome{OutcomeUnknown, OutcomeSuccess, OutcomeFailure, OutcomeSkipped} {
		if known.String() == string(text) {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("reading outcome %q: no such outcome", text)
}
