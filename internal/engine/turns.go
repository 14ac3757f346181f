// Queries take turns, so that a page of panels does not need the memory of all its queries at once.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
)

// mostQueries run at once, those of rules included: Prometheus' own default of --query.max-concurrency.
const mostQueries = 20

// turns is a promql.QueryTracker that keeps no log.
type turns chan struct{}

func newTurns() turns { return make(turns, mostQueries) }

// GetMaxConcurrent is the number of turns.
func (t turns) GetMaxConcurrent() int { return cap(t) }

// Insert waits for a turn.
func (t turns) Insert(ctx context.Context, _ string) (int, error) {
	select {
	case t <- struct{}{}:
		return 0, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("waiting for one of %d queries to end: %w", cap(t), context.Cause(ctx))
	}
}

// Delete ends a turn.
func (t turns) Delete(int) { <-t }

// Close has nothing to close.
func (turns) Close() error { return nil }
