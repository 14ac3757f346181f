// The plan of an evaluation by spans: which rules must be done before which, and whether that is possible at all.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import "fmt"

// plan is the order in which rules are evaluated, each over a whole span: those that a rule reads come before it.
type plan []task

// task is the place of a rule in its rule file.
type task struct{ group, rule int }

// newPlan plans the evaluation of rules. It gives what the evaluation by instants gives only when nothing that a rule reads at an instant is recorded at that instant by itself or by a later rule; the error says which rule does.
func newPlan(rules Rules) (plan, error) {
	p := planner{rules: rules, writers: map[string][]task{}, begun: map[task]bool{}, done: map[task]bool{}}
	for i, g := range rules.groups {
		if g.limit > 0 || g.offset > 0 {
			return nil, fmt.Errorf("the group %s has a limit or an offset", g.name)
		}
		for j, rule := range g.rules {
			if err := rule.fixed(); err != nil {
				return nil, err
			}
			for _, name := range rule.writes() {
				p.writers[name] = append(p.writers[name], task{i, j})
			}
		}
	}
	for i, g := range rules.groups {
		for j := range g.rules {
			if err := p.add(task{i, j}); err != nil {
				return nil, err
			}
		}
	}
	return p.plan, nil
}

// fixed is an error when what a rule reads cannot be told from its expression alone.
func (r rule) fixed() error {
	switch {
	case r.reach.unnamed:
		return fmt.Errorf("the rule %s reads series without a name", r.name)
	case r.reach.ahead:
		return fmt.Errorf("the rule %s reads at a fixed time, or ahead of its own", r.name)
	case !plainLabels(r):
		return fmt.Errorf("the alert %s asks for values in the templates of its labels", r.name)
	}
	return nil
}

type planner struct {
	plan
	rules       Rules
	writers     map[string][]task // by the metric that they record
	begun, done map[task]bool
}

func (p *planner) rule(t task) rule { return p.rules.groups[t.group].rules[t.rule] }

// add puts a rule into the plan, after those that it reads.
func (p *planner) add(t task) error {
	rule := p.rule(t)
	switch {
	case p.done[t]:
		return nil
	case p.begun[t]:
		return fmt.Errorf("the rule %s reads what is made of its own results", rule.name)
	}
	p.begun[t] = true
	for _, read := range rule.reads {
		for _, writer := range p.writers[read.name] {
			if !read.past && p.rule(writer).place >= rule.place {
				return fmt.Errorf("the rule %s reads %s, which it or a later rule records at the same instant", rule.name, read.name)
			}
			if err := p.add(writer); err != nil {
				return err
			}
		}
	}
	p.done[t] = true
	p.plan = append(p.plan, t)
	return nil
}
