// Why there is nothing: no rules, no data, or no such SLO.
//
// SPDX-License-Identifier: Apache-2.0

package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// groupPrefix is how Sloth's rule groups are named.
const groupPrefix = "sloth-slo-"

// absent finds out why no series of the selected SLOs is there.
func (q *asking) absent(ctx context.Context) error {
	others, err := q.others(ctx)
	if err != nil {
		return err
	}
	if len(others.all) > 0 && (len(q.loaded) == 0 || len(q.selection.group) > 0) {
		return q.noSuchSLO(others)
	}
	if len(q.loaded) > 0 {
		return errorOf(KindNoData, "the rules of %s are evaluated, and count no events", q.loaded[0].Metric[labelID])
	}
	result, err := q.api.Rules(ctx, nil)
	if kind := KindOf(err); kind == KindTimeout || kind == KindCanceled {
		return err
	}
	if err != nil { // not every store evaluates rules, or tells
		return errorOf(KindNoData, "it has no series of any SLO, and does not tell its rules: they are not loaded, not evaluated, or record elsewhere")
	}
	return judgeRules(result.Groups)
}

// others are the groups of all SLOs.
func (q *asking) others(ctx context.Context) (*groups, error) {
	vector, err := q.vector(ctx, eventsPrefix+suffixPeriod+selection{}.ofSLO())
	if err != nil {
		return nil, err
	}
	others := &groups{ignored: q.groups.ignored, all: map[string]*group{}}
	for _, sample := range vector {
		others.open(sample.Metric)
	}
	return others, nil
}

// noSuchSLO lists what there is.
func (q *asking) noSuchSLO(others *groups) error {
	const most = 10
	var names []string
	for _, g := range others.sorted() {
		names = append(names, g.String())
	}
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(", and %d more", n)
	}
	return errorOf(KindNoSuchSLO, "no SLO is %s; there are %s%s", q.selection, strings.Join(names, ", "), more)
}

// judgeRules says what is wrong with the rules, of which nothing is recorded.
func judgeRules(loaded []v1.RuleGroup) error {
	ours := slices.DeleteFunc(slices.Clone(loaded), func(g v1.RuleGroup) bool { return !strings.HasPrefix(g.Name, groupPrefix) })
	if len(ours) == 0 {
		return errorOf(KindRulesNotLoaded, "none of the rules are loaded: of its %d rule groups, none is named %s…", len(loaded), groupPrefix)
	}
	counting := false
	for _, g := range ours {
		for _, each := range g.Rules {
			rule, ok := each.(v1.RecordingRule)
			if !ok {
				continue
			}
			counting = counting || rule.Name == eventsPrefix+suffixPeriod
			if rule.Health == v1.RuleHealthBad {
				return errorOf(KindNoData, "its rule %s of %s fails: %s", rule.Name, rule.Labels[model.LabelName(labelID)], firstLine(rule.LastError))
			}
		}
	}
	if !counting {
		return errorOf(KindRulesNotLoaded, "it has rules of SLOs, such as the group %s, but none that counts events: they are not those that slogen writes", ours[0].Name)
	}
	return errorOf(KindNoData, "%d rule groups of SLOs are loaded, and recorded nothing in the last minutes", len(ours))
}
