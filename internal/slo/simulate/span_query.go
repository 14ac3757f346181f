// The range query of a rule over a span, cut into pieces that are asked at the same time.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"slices"

	"github.com/prometheus/prometheus/promql"
	"golang.org/x/sync/errgroup"
)

// leastPiece is the number of steps for which another piece is worth its while: each piece reads the longest window anew.
const leastPiece = 2000

// query evaluates an expression at every step, and hands the answer over in pieces in the order of time. A step at which the expression is an error is in none, and is reported.
func (s *spanRun) query(ctx context.Context, rule rule, over steps, piece func(steps, promql.Matrix) error) error {
	pieces := over.pieces(min(s.pieces, over.len()/s.piece))
	answers := make([]*promql.Result, len(pieces))
	asked, asking := errgroup.WithContext(ctx)
	for i, part := range pieces {
		asked.Go(func() (err error) {
			answers[i], err = s.answer(asking, rule, part)
			return err
		})
	}
	if err := asked.Wait(); err != nil {
		return err
	}
	for i, part := range pieces {
		if err := s.settle(ctx, rule, part, answers[i], piece); err != nil {
			return err
		}
	}
	return nil
}

// answer is the answer to one range query. It is never closed: its samples become the store's.
func (s *spanRun) answer(ctx context.Context, rule rule, over steps) (*promql.Result, error) {
	query, err := s.engine.NewRangeQuery(ctx, s.store, nil, rule.expr.String(), instant(over.first), instant(over.last), over.every())
	if err != nil {
		return nil, err
	}
	answer := query.Exec(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answer, nil
}

// settle hands an answer over. One that is an error is looked into by halves, until the steps are found that it is of.
func (s *spanRun) settle(ctx context.Context, rule rule, over steps, answer *promql.Result, piece func(steps, promql.Matrix) error) error {
	if answer.Err == nil {
		matrix, err := answer.Matrix()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(matrix, func(series promql.Series) bool { return len(series.Histograms) > 0 }) {
			return errNoHistograms
		}
		return piece(over, matrix)
	}
	if over.len() == 1 {
		s.failed(over.first, rule, answer.Err)
		return nil
	}
	for _, half := range over.pieces(2) {
		answer, err := s.answer(ctx, rule, half)
		if err != nil {
			return err
		}
		if err := s.settle(ctx, rule, half, answer, piece); err != nil {
			return err
		}
	}
	return nil
}
