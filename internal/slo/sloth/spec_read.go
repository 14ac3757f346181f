// Reading a specification strictly: every mistake is told with its place, before Sloth sees anything.
//
// SPDX-License-Identifier: Apache-2.0

package sloth

import (
	"errors"
	"maps"
	"math/big"
	"regexp"
	"strings"
	"time"

	prometheusv1 "github.com/slok/sloth/pkg/prometheus/api/v1"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Problems are the mistakes of one file, by position.
type Problems = diag.Problems

// Read reads a specification file. name stands in positions. The Spec is nil when there are Problems.
func Read(name string, data []byte) (*Spec, Problems) {
	r := &reader{Reader: diag.NewReader(name, data, diag.Options{}), seen: map[string]diag.Place{}}
	root := r.Document()
	if root == nil {
		return nil, r.Problems()
	}
	spec := r.spec(root)
	spec.File = name
	if problems := r.Problems(); len(problems) > 0 {
		return nil, problems
	}
	return spec, nil
}

// reader reads one file.
type reader struct {
	*diag.Reader

	seen map[string]diag.Place // SLO ids
}

// nameShape is Sloth's, of services and SLOs (its conventions.NameRegexp).
var nameShape = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_.]*[A-Za-z0-9]$`)

// spec reads the root.
func (r *reader) spec(root *yaml.Node) *Spec {
	f := r.Mapping(root, "the file", "version", "service", "labels", "slos", "slo_plugins")
	f.Require("version", "write version: prometheus/v1")
	f.Require("service", "the name of the service, the first part of each SLO's id")
	f.Require("slos", "a list of SLOs")
	if version := f.Text("version"); version != "" && version != prometheusv1.Version {
		r.Report(f.At("version"), wrongVersion, version)
	}
	r.refuse(f, "slo_plugins", sloPlugins)
	spec := &Spec{Service: r.name(f, "service"), Labels: r.labels(f, "labels")}
	items := f.List("slos")
	if f.Has("slos") && f.Node("slos").Kind == yaml.SequenceNode && len(items) == 0 {
		r.Report(f.At("slos"), noSLOs)
	}
	for _, item := range items {
		spec.SLOs = append(spec.SLOs, r.slo(item, spec))
	}
	return spec
}

// refuse reports a key of Sloth's that is not taken.
func (r *reader) refuse(f diag.Fields, key string, of *diag.Message) {
	if f.Has(key) {
		r.Report(f.AtKey(key), of)
	}
}

// name reads a name of Sloth's shape; "" when it is not given or wrong.
func (r *reader) name(f diag.Fields, key string) string {
	name := f.Text(key)
	if name == "" || nameShape.MatchString(name) {
		return name
	}
	r.Report(f.At(key), badName, name)
	return ""
}

// slo reads one SLO.
func (r *reader) slo(n *yaml.Node, spec *Spec) SLO {
	f := r.Mapping(n, "an SLO", "name", "objective", "description", "labels", "sli", "alerting", "plugins", probesKey)
	f.Require("name", "the name of the SLO, the second part of its id")
	f.Require("objective", "a percentage such as 99.9")
	f.Require("sli", "events with error_query and total_query")
	f.Require("alerting", "at least name, the name of the alerts")
	r.refuse(f, "plugins", sloPlugins)
	s := SLO{service: spec.Service, Name: r.name(f, "name"), Description: f.Text("description"), Labels: map[string]string{}}
	if id := s.ID(); s.Name != "" {
		if first, twice := r.seen[id]; twice {
			r.Report(f.At("name"), duplicateSLO, id, first.Line, first.Column)
		} else {
			r.seen[id] = f.At("name")
		}
	}
	maps.Copy(s.Labels, spec.Labels)
	maps.Copy(s.Labels, r.labels(f, "labels"))
	s.Objective = r.objective(f)
	r.sli(f, &s)
	s.Alerting = r.alerting(f)
	s.Probes = r.probes(f, s)
	return s
}

// objective reads the objective, exactly as it is written.
func (r *reader) objective(f diag.Fields) slo.Objective {
	text := f.Number("objective")
	if text == "" {
		return slo.Objective{}
	}
	objective, err := slo.ParseObjective(text)
	switch {
	case errors.Is(err, slo.ErrObjectiveSyntax):
		r.Report(f.At("objective"), objectiveSyntax, text)
	case err != nil:
		r.Report(f.At("objective"), objectiveRange, text)
	case objective.Ratio().Cmp(big.NewRat(1, 100)) < 0:
		meant := slo.Decimal(new(big.Rat).Mul(objective.Ratio(), big.NewRat(10_000, 1)))
		r.Report(f.At("objective"), objectiveRatio, text, meant)
	}
	return objective
}

// alerting reads what the alerts are called and carry.
func (r *reader) alerting(f diag.Fields) prometheusv1.Alerting {
	a := f.Mapping("alerting", "name", "labels", "annotations", "page_alert", "ticket_alert")
	if f.Has("alerting") {
		a.Require("name", "the name of the alerts")
	}
	return prometheusv1.Alerting{
		Name: a.Text("name"), Labels: r.labels(a, "labels"), Annotations: r.annotations(a),
		PageAlert: r.alert(a, "page_alert"), TicketAlert: r.alert(a, "ticket_alert"),
	}
}

// alert reads the settings of one severity.
func (r *reader) alert(f diag.Fields, key string) prometheusv1.Alert {
	a := f.Mapping(key, "disable", "labels", "annotations")
	return prometheusv1.Alert{Disable: a.Flag("disable"), Labels: r.labels(a, "labels"), Annotations: r.annotations(a)}
}

var labelShape = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// labels reads labels that are the user's to choose.
func (r *reader) labels(f diag.Fields, key string) map[string]string {
	labels := map[string]string{}
	for _, pair := range f.Pairs(key) {
		switch {
		case !labelShape.MatchString(pair.Name):
			r.Report(r.At(pair.Key), badLabelName, pair.Name, "label")
		case strings.HasPrefix(pair.Name, "__"), strings.HasPrefix(pair.Name, "sloth_"), pair.Name == "alertname":
			r.Report(r.At(pair.Key), reservedLabel, pair.Name)
		default:
			labels[pair.Name] = pair.Value
		}
	}
	return labels
}

// annotations reads annotations.
func (r *reader) annotations(f diag.Fields) map[string]string {
	annotations := map[string]string{}
	for _, pair := range f.Pairs("annotations") {
		if !labelShape.MatchString(pair.Name) {
			r.Report(r.At(pair.Key), badLabelName, pair.Name, "annotation")
			continue
		}
		annotations[pair.Name] = pair.Value
	}
	return annotations
}

// probesKey is the one extension of ours.
const probesKey = "x-probes"

// The limits of a cadence: Prometheus scrapes no faster, and a window of 5 minutes must hold an event.
const (
	minCadence     = time.Second
	maxCadence     = 5 * time.Minute
	defaultCadence = 15 * time.Second
)

// probes reads the extension; nil when it is not given.
func (r *reader) probes(f diag.Fields, s SLO) *Probes {
	if !f.Has(probesKey) {
		return nil
	}
	x := f.Mapping(probesKey, "cadence", "fixed_cadence", "slots_query", "targets_query", "failures_by", "runbook", "target_page")
	p := &Probes{FixedCadence: x.Flag("fixed_cadence"), Runbook: r.address(x, "runbook"), TargetPage: r.address(x, "target_page")}
	cadence, given := x.Duration("cadence", defaultCadence)
	if given && (cadence < minCadence || cadence > maxCadence) {
		r.Report(x.At("cadence"), cadenceRange, span(cadence), span(minCadence), span(maxCadence))
	}
	p.Cadence = cadence
	if x.Has("slots_query") {
		slots := r.query(x, "slots_query")
		r.sameGroups(x, "slots_query", slots, s.Total)
		p.Slots = &slots
	}
	p.Targets = r.targets(x, s.Total)
	by := x.Mapping("failures_by", attributions(x)...)
	for _, label := range attributions(x) {
		p.FailuresBy = append(p.FailuresBy, Attribution{label, r.attribution(by, label)})
	}
	return p
}

// address reads a path in the repository or a web address.
func (r *reader) address(x diag.Fields, key string) string {
	text := x.Text(key)
	web := strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
	if text != "" && !web && (strings.HasPrefix(text, "/") || strings.Contains(text, ":")) {
		r.Report(x.At(key), badAddress, key, text)
	}
	return text
}

// attributions are the labels that failures are put down to, in the order of the file.
func attributions(x diag.Fields) []string {
	n := x.Node("failures_by")
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var labels []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		labels = append(labels, n.Content[i].Value)
	}
	return labels
}
