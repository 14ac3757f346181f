// The one place that owns the wording of what a specification can get wrong.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import "github.com/eks-slo/eks-slo-exporter/internal/diag"

// The messages. Those of YAML itself are diag's.
var (
	wrongVersion    = &diag.Message{Text: "version %q is not read here", Hint: "write version: prometheus/v1"}
	badName         = &diag.Message{Text: "%q is no name", Hint: "use letters, digits and . _ -, at least two, beginning and ending with a letter or digit"}
	duplicateSLO    = &diag.Message{Text: "SLO id %q is used twice", Hint: "first used at line %d, column %d; an id is service and name, and all recordings carry it"}
	noSLOs          = &diag.Message{Text: "slos is empty", Hint: "declare at least one SLO"}
	objectiveSyntax = &diag.Message{Text: "objective %s is no plain decimal number", Hint: "write a percentage such as 99.9"}
	objectiveRange  = &diag.Message{Text: "objective %s leaves no budget, or nothing but budget", Hint: "an objective is more than 0 and less than 100 per cent"}
	objectiveRatio  = &diag.Message{Text: "objective %s is less than 1 per cent", Hint: "an objective is a percentage, not a share of 1: did you mean %s?"}
	badLabelName    = &diag.Message{Text: "%q is no %s name", Hint: "use letters, digits and _, not beginning with a digit"}
	reservedLabel   = &diag.Message{Text: "label %q is reserved", Hint: "names beginning with __ are Prometheus' own, those beginning with sloth_ the generator's: choose another"}

	rawSLI       = &diag.Message{Text: "a raw SLI counts no events", Hint: "give error_query and total_query under events: budgets are counted in events, and a ratio alone cannot be"}
	pluginSLI    = &diag.Message{Text: "an SLI plugin is Go code that is interpreted", Hint: "write the plugin's queries under events"}
	sloPlugins   = &diag.Message{Text: "SLO plugins are Go code that is interpreted", Hint: "remove them: the rules are completed by this generator itself"}
	cadenceRange = &diag.Message{Text: "cadence %s is not within %s and %s", Hint: "it is the time between two events of one target; the shortest window of the alerts must hold one"}
	badAddress   = &diag.Message{Text: "%s %q is neither a path nor an address", Hint: "write a path in the repository, such as docs/runbooks/access.md, or https://…"}

	badPromQL       = &diag.Message{Text: "%s is not PromQL: %s", Hint: "the query is read with 1m in place of {{.window}}"}
	noWindow        = &diag.Message{Text: "%s has no [{{.window}}]", Hint: "write increase(METRIC[{{.window}}]): the generator needs the same count over many windows"}
	literalWindow   = &diag.Message{Text: "a range of its own, %s", Hint: "write [{{.window}}]: with another range the count is not that of the window"}
	strayWindow     = &diag.Message{Text: "{{.window}} outside a range", Hint: "write it between brackets, as in increase(METRIC[{{.window}}]), and nowhere else"}
	unknownTemplate = &diag.Message{Text: "%s in a query", Hint: "the one placeholder is {{.window}}"}
	notACount       = &diag.Message{Text: "%s in %s", Hint: "what counts events is built of sum by (…), increase(METRIC[{{.window}}]), + and -; it may be scaled with * and / by what has no window"}
	noOffset        = &diag.Message{Text: "offset or @ in %s", Hint: "remove it: events are counted where they happen"}
	sumThenRate     = &diag.Message{Text: "%s of a subquery", Hint: "take the increase of each counter first, then the sum: a restart of one exporter looks like a spike in the increase of a sum"}
	recordedSum     = &diag.Message{Text: "%s of %s, which looks like a recorded sum", Hint: "count the counters themselves: a restart of one exporter looks like a spike in the increase of a sum"}
	zeroFallback    = &diag.Message{Text: "or %s in %s", Hint: "remove it: a missing error series counts as no error where there are events, and no events count as nothing"}
	notGrouped      = &diag.Message{Text: "%s has no sum by (…) around its counters", Hint: "write sum by (cluster) (…): what tells one budget from another must be known"}
	groupedWithout  = &diag.Message{Text: "without in %s", Hint: "write by (…): which labels the result has must be known"}
	otherGroups     = &diag.Message{Text: "%s has labels (%s), total_query has (%s)", Hint: "group both by the same labels, or no error finds its total"}
	missingGroup    = &diag.Message{Text: "%s has labels (%s), not the label %q that it is named for", Hint: "add it to by (…)"}
	mixedFunctions  = &diag.Message{Text: "%s uses %s, %s uses %s", Hint: "use increase in both: a rate is per second, and a count divided by a rate is no share"}
	sameQueries     = &diag.Message{Text: "error_query and total_query are the same", Hint: "then every event is an error: count the failures only in error_query"}
)

// messages are all of them, for tests.
func messages() []*diag.Message {
	return []*diag.Message{
		wrongVersion, badName, duplicateSLO, noSLOs, objectiveSyntax, objectiveRange, objectiveRatio, badLabelName, reservedLabel,
		rawSLI, pluginSLI, sloPlugins, cadenceRange, badAddress,
		badPromQL, noWindow, literalWindow, strayWindow, unknownTemplate, notACount, noOffset, sumThenRate, recordedSum, zeroFallback, notGrouped, groupedWithout, otherGroups, missingGroup,
		mixedFunctions, sameQueries,
	}
}
