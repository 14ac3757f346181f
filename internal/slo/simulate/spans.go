// Evaluation span by span: each rule over a whole span in one range query, before the rules that read it. The results are those of the evaluation by instants.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
)

// memory is what Prometheus keeps of a rule between two evaluations.
type memory struct {
	labels string
	alive  []*column // the series of the latest evaluation
	alert  *alertState
}

// spanRun is an evaluation by spans.
type spanRun struct {
	*run
	memory map[int]*memory // by the place of the rule
	ended  [][]*column     // by group: series that a reload has taken away
}

// bySpans evaluates the rules of every span in the order of a plan for them.
func (r *run) bySpans(ctx context.Context) error {
	s := &spanRun{run: r, memory: map[int]*memory{}}
	for _, whole := range r.spans {
		plan, err := newPlan(whole.rules)
		if err != nil {
			return fmt.Errorf("planning the evaluation: %w", err)
		}
		s.reload(whole)
		rest, err := s.settleReload(ctx, whole)
		if err != nil {
			return err
		}
		if err := s.span(ctx, rest, plan); err != nil {
			return err
		}
	}
	r.sortErrors()
	return nil
}

// reload notes what the rules of a span have inherited from those before.
func (s *spanRun) reload(next span) {
	s.ended = make([][]*column, len(next.rules.groups))
	for i, g := range next.rules.groups {
		for _, rule := range g.rules {
			lset := string(rule.labels.Bytes(nil))
			known, ok := s.memory[rule.place]
			if ok && !next.fresh && known.labels == lset {
				continue
			}
			if ok && !next.fresh {
				s.ended[i] = append(s.ended[i], known.alive...)
			}
			s.memory[rule.place] = &memory{labels: lset, alert: newAlertState(rule)}
		}
	}
}

// settleReload evaluates a span instant by instant until every group has been evaluated from which a reload took series away, and returns the rest. Such series are marked as ended after the group's first evaluation: this one,
// and groups before it, still see them.
func (s *spanRun) settleReload(ctx context.Context, whole span) (span, error) {
	settled := whole.from - 1
	for i, g := range whole.rules.groups {
		if steps := s.steps(whole, g); len(s.ended[i]) > 0 && !steps.none() {
			settled = max(settled, steps.first)
		}
	}
	early, rest := whole, whole
	early.to, rest.from = settled, settled+1
	for at, due := range s.timetable(early) {
		for _, i := range due {
			if err := s.group(ctx, whole.rules.groups[i], at); err != nil {
				return span{}, err
			}
			for _, c := range s.ended[i] {
				_ = s.store.add(c, stale(at)) // one that is recorded again at this instant has not ended: the mark is dropped
			}
			s.ended[i] = nil
		}
	}
	return rest, nil
}

// group evaluates the rules of a group at one instant.
func (s *spanRun) group(ctx context.Context, g group, at int64) error {
	for _, rule := range g.rules {
		if err := s.rule(ctx, rule, steps{at, at, 1}); err != nil {
			return err
		}
	}
	for _, rule := range g.rules {
		if err := s.annotate(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}

// span evaluates all rules over one span, and then asks what the annotations said of the alerts that fired.
func (s *spanRun) span(ctx context.Context, part span, plan plan) error {
	for _, task := range plan {
		g := part.rules.groups[task.group]
		steps := s.steps(part, g)
		if steps.none() {
			continue
		}
		if err := s.rule(ctx, g.rules[task.rule], steps); err != nil {
			return err
		}
	}
	for _, rule := range part.rules.all() {
		if err := s.annotate(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}

func (s *spanRun) rule(ctx context.Context, rule rule, steps steps) error {
	s.counted(steps.len())
	evaluate := s.recording
	if rule.alert {
		evaluate = s.alerting
	}
	if err := evaluate(ctx, rule, steps); err != nil {
		return fmt.Errorf("evaluating the rule %s from %s to %s: %w", rule.name, instant(steps.first), instant(steps.last), err)
	}
	return nil
}
