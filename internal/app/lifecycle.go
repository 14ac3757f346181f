// The teardown stack: what was started is named when it starts and ended in reverse order, every error kept.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

type teardown struct{ steps []teardownStep }

type teardownStep struct {
	name string
	end  func(context.Context) error
}

// push registers how to end something, at the moment it exists.
func (t *teardown) push(name string, end func(context.Context) error) {
	t.steps = append(t.steps, teardownStep{name, end})
}

// run ends everything, last first, and joins the errors. A second call does nothing.
func (t *teardown) run(ctx context.Context) error {
	var errs []error
	for _, s := range slices.Backward(t.steps) {
		if err := s.end(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", s.name, err))
		}
	}
	t.steps = nil
	return errors.Join(errs...)
}
