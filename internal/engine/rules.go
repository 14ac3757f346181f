// Rule files come from a file system and are read whole before any of them counts.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"unicode"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

var noLabels = labels.EmptyLabels()

// ruleSet is what the rule files hold.
type ruleSet struct {
	names []string // of the files, sorted
	files map[string]*rulefmt.RuleGroups
}

// readRules reads every rule file, *.yaml; or tells every error in them, each as file:line:column where Prometheus gives a place.
func readRules(files fs.FS) (*ruleSet, error) {
	all := &ruleSet{files: map[string]*rulefmt.RuleGroups{}}
	if files == nil {
		return all, nil
	}
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the rule files: %w", err)
	}
	var wrong []error
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("reading the rule file %s: %w", name, err))
			continue
		}
		groups, errs := rulefmt.Parse(text, false, model.UTF8Validation)
		for _, err := range errs {
			wrong = append(wrong, placed(name, err))
		}
		all.names = append(all.names, name)
		all.files[name] = groups
	}
	return all, errors.Join(wrong...)
}

// placed puts the file before the place, with which an error of the rules' reader begins; one of the YAML reader names its line somewhere.
func placed(name string, err error) error {
	if text := err.Error(); text != "" && unicode.IsDigit(rune(text[0])) {
		return fmt.Errorf("rule file %s:%w", name, err)
	}
	return fmt.Errorf("rule file %s: %w", name, err)
}

// ruleLoader gives the rule manager the files that were read.
type ruleLoader struct{ current atomic.Pointer[ruleSet] }

// Load gives one file.
func (r *ruleLoader) Load(name string, _ bool, _ model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	return r.current.Load().files[name], nil
}

// Parse reads one expression.
func (*ruleLoader) Parse(query string) (parser.Expr, error) { return parser.ParseExpr(query) }
