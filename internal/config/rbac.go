// The rbac part of an access target: what must be allowed, what must be denied, and writes to try without effect.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

func (d *decoder) rbac(f diag.Fields) (allow, deny []chain.Rule, dryRun []chain.DryRun) {
	n := f.Node("rbac")
	if n == nil {
		return nil, nil, nil
	}
	rbac := d.Mapping(n, "rbac", "allow", "deny", "dry_run")
	allow, allowed := d.rules(rbac, "allow", nil)
	deny, _ = d.rules(rbac, "deny", allowed)
	for i, item := range rbac.List("dry_run") {
		if write, ok := d.dryRun(item, i); ok {
			dryRun = append(dryRun, write)
		}
	}
	return allow, deny, dryRun
}

// rules reads a list of rules, none of them twice and none that is allowed already; places are where each was found.
func (d *decoder) rules(f diag.Fields, key string, allowed map[chain.Rule]diag.Place) (rules []chain.Rule, places map[chain.Rule]diag.Place) {
	places = map[chain.Rule]diag.Place{}
	for i, item := range f.List(key) {
		rule, ok := d.rule(item, fmt.Sprintf("%s[%d]", key, i))
		if !ok {
			continue
		}
		at := d.At(item)
		if earlier, twice := places[rule]; twice {
			d.Report(at, diag.ListedTwice, key, rule.String(), earlier.Line, earlier.Column)
			continue
		}
		if earlier, both := allowed[rule]; both {
			d.Report(at, allowedAndDenied, rule.String(), earlier.Line, earlier.Column)
		}
		places[rule] = at
		rules = append(rules, rule)
	}
	return rules, places
}

// rule reads one rule expression; a mistake is shown at its word.
func (d *decoder) rule(n *yaml.Node, what string) (chain.Rule, bool) {
	text := d.Text(n, what)
	if text == "" {
		return chain.Rule{}, false
	}
	rule, err := chain.ParseRule(text)
	if wrong, ok := errors.AsType[*chain.RuleError](err); ok {
		d.Report(d.word(n, wrong.Offset), badRule, wrong.Text, wrong.Hint)
	}
	return rule, err == nil
}

// dryRunVerbs are the verbs that write one object.
var dryRunVerbs = []string{"create", "update", "patch", "delete"}

// dryRun reads a rule that writes, or the name of a manifest.
func (d *decoder) dryRun(n *yaml.Node, i int) (chain.DryRun, bool) {
	what := fmt.Sprintf("dry_run[%d]", i)
	if n.Kind == yaml.MappingNode {
		f := d.Mapping(n, what, "manifest_file")
		f.Require("manifest_file", "the file of one Kubernetes object; or write a rule such as \"create configmaps in shop\"")
		name, ok := d.manifestFile(f)
		return chain.DryRun{ManifestFile: name}, ok
	}
	rule, ok := d.rule(n, what)
	switch {
	case !ok:
	case !slices.Contains(dryRunVerbs, rule.Verb):
		d.Report(d.At(n), dryRunVerb, rule.Verb)
	case rule.Resource == "*" || rule.Group == "*":
		d.Report(d.At(n), dryRunObject, "a write", "one resource", "name the resource instead of *")
	case rule.Verb != "create" && rule.Name == "":
		d.Report(d.At(n), dryRunObject, rule.Verb, "the name of an object", fmt.Sprintf("write %s %s NAME", rule.Verb, rule.Resource))
	default:
		return chain.DryRun{Rule: rule}, true
	}
	return chain.DryRun{}, false
}
