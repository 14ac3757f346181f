// YAML of rule groups. The YAML library takes a millisecond and 1.5 MB for the rules of one SLO, more than all the rest, and folds PromQL where people would not.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// yamlWriter writes block mappings, two spaces a level.
type yamlWriter struct{ bytes.Buffer }

// groups writes the key groups.
func (y *yamlWriter) groups(groups []rulefmt.RuleGroup, level int) {
	y.key(level, "groups")
	for _, group := range groups {
		y.item(level+1, "name", group.Name)
		y.duration(level+2, "interval", group.Interval)
		y.key(level+2, "rules")
		for _, rule := range group.Rules {
			y.rule(level+3, rule)
		}
	}
}

// rule writes one rule.
func (y *yamlWriter) rule(level int, rule rulefmt.Rule) {
	if rule.Record != "" {
		y.item(level, "record", rule.Record)
	} else {
		y.item(level, "alert", rule.Alert)
	}
	y.block(level+1, "expr", rule.Expr)
	y.duration(level+1, "for", rule.For)
	y.duration(level+1, "keep_firing_for", rule.KeepFiringFor)
	y.texts(level+1, "labels", rule.Labels)
	y.texts(level+1, "annotations", rule.Annotations)
}

func (y *yamlWriter) indent(level int) {
	for range level {
		y.WriteString("  ")
	}
}

// key writes a key whose value stands below it.
func (y *yamlWriter) key(level int, key string) {
	y.indent(level)
	y.WriteString(key + ":\n")
}

// item begins an item of a list with its first entry.
func (y *yamlWriter) item(level int, key, value string) {
	y.indent(level)
	y.WriteString("- " + key + ": " + scalar(value) + "\n")
}

// entry writes a text, unless it is empty.
func (y *yamlWriter) entry(level int, key, value string) {
	if value == "" {
		return
	}
	y.indent(level)
	y.WriteString(key + ": " + scalar(value) + "\n")
}

// duration writes a duration, unless it is 0.
func (y *yamlWriter) duration(level int, key string, value model.Duration) {
	if value != 0 {
		y.entry(level, key, span(time.Duration(value)))
	}
}

// texts writes a mapping from text to text in the order of its keys, unless it is empty.
func (y *yamlWriter) texts(level int, key string, texts map[string]string) {
	if len(texts) == 0 {
		return
	}
	y.key(level, key)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		y.indent(level + 1)
		y.WriteString(scalar(name) + ": " + scalar(texts[name]) + "\n")
	}
}

// block writes a text as it is, below its key. It begins with no blank, as PromQL of ours does.
func (y *yamlWriter) block(level int, key, text string) {
	y.indent(level)
	y.WriteString(key + ": |-\n")
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			y.indent(level + 1)
		}
		y.WriteString(line + "\n")
	}
}

// plain are texts that YAML reads as themselves: words, perhaps with more after them, that no version of YAML takes for a number, a time or a truth value.
var (
	plain   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*$|^[0-9]+(ms|[smhdwy])([0-9]+(ms|[smhdwy]))*$`)
	special = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null|nan|inf)$`)
)

// scalar writes a text on one line.
func scalar(text string) string {
	switch {
	case plain.MatchString(text) && !special.MatchString(text):
		return text
	case !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strconv.Quote(text) // its escapes are those of YAML
}
