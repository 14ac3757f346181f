// Tests of the Alertmanager configuration: who gets which alert, and what holds it back.
//
// SPDX-License-Identifier: Apache-2.0

package alertmanager

import (
	"bytes"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var amtool = flag.Bool("amtool", false, "also check the configuration with amtool, which must be installed")

// config is what of Alertmanager's format is used. Decoding is strict.
type config struct {
	Route        route
	InhibitRules []inhibition `yaml:"inhibit_rules"`
	Receivers    []map[string]any
}

type route struct {
	Receiver       string
	Matchers       []string
	GroupBy        []string `yaml:"group_by"`
	GroupWait      string   `yaml:"group_wait"`
	GroupInterval  string   `yaml:"group_interval"`
	RepeatInterval string   `yaml:"repeat_interval"`
	Routes         []route
}

type inhibition struct {
	SourceMatchers []string `yaml:"source_matchers"`
	TargetMatchers []string `yaml:"target_matchers"`
	Equal          []string
}

var groupLabels = []string{"target_group", "cluster", "identity", "cluster"}

func written(t *testing.T, labels []string) (string, config) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, labels); err != nil {
		t.Fatal(err)
	}
	var c config
	decoder := yaml.NewDecoder(bytes.NewReader(b.Bytes()))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return b.String(), c
}

type alert map[string]string

// The alerts of one outage, as the generated rules label them.
var (
	watchdog     = alert{"alertname": "Watchdog", "severity": "none"}
	exporterDown = alert{"alertname": "EKSSLOExporterDown", "severity": "page"}
	page         = alert{"alertname": "EKSAccessBudgetBurn", "severity": "page", "sloth_severity": "page", "sloth_id": "eks-access-availability", "sloth_service": "eks-access", "sloth_slo": "availability", "cluster": "prod"}
	ticket       = alert{"alertname": "EKSAccessBudgetBurn", "severity": "ticket", "sloth_severity": "ticket", "sloth_id": "eks-access-availability", "sloth_service": "eks-access", "sloth_slo": "availability", "cluster": "prod"}
	sts          = alert{"alertname": "EKSAccessSTSBudgetBurn", "severity": "ticket", "sloth_severity": "ticket", "sloth_id": "eks-access-sts", "sloth_service": "eks-access", "sloth_slo": "sts", "cluster": "prod"}
	rbac         = alert{"alertname": "EKSAccessRBACBudgetBurn", "severity": "ticket", "sloth_severity": "ticket", "sloth_id": "eks-access-rbac", "sloth_service": "eks-access", "sloth_slo": "rbac", "cluster": "prod"}
	absent       = alert{"alertname": "SLODataAbsent", "severity": "page", "sloth_severity": "page", "sloth_id": "eks-access-availability", "sloth_service": "eks-access", "sloth_slo": "availability", "cluster": "prod"}
	coverage     = alert{"alertname": "SLOCoverageLow", "severity": "ticket", "sloth_severity": "ticket", "sloth_id": "eks-access-availability", "sloth_service": "eks-access", "sloth_slo": "availability", "cluster": "prod"}
)

// with is the alert with other labels; an empty value takes the label away.
func (a alert) with(pairs ...string) alert {
	changed := maps.Clone(a)
	for i := 0; i < len(pairs); i += 2 {
		changed[pairs[i]] = pairs[i+1]
	}
	return changed
}

func TestInhibition(t *testing.T) {
	_, c := written(t, groupLabels)
	identity := func(a alert, name string) alert {
		return a.with("sloth_id", "eks-access-identity-availability", "sloth_slo", "identity-availability", "identity", name)
	}
	tests := map[string]struct {
		source, target alert
		want           bool
	}{
		"a page holds back its ticket":                  {page, ticket, true},
		"not that of another cluster":                   {page, ticket.with("cluster", "staging"), false},
		"not that of another SLO":                       {page, sts, false},
		"not that of another identity":                  {identity(page, "ci"), identity(ticket, "release"), false},
		"that of the same identity":                     {identity(page, "ci"), identity(ticket, "ci"), true},
		"the ticket does not hold back the page":        {ticket, page, false},
		"nor a page a page":                             {page, page.with("cluster", "staging"), false},
		"an sts ticket holds back rbac's":               {sts, rbac, true},
		"and access_entry's":                            {sts, rbac.with("sloth_slo", "access_entry"), true},
		"so does endpoint's":                            {sts.with("sloth_slo", "endpoint"), rbac, true},
		"not rbac's page, which is more urgent":         {sts, rbac.with("sloth_severity", "page"), false},
		"an sts page holds back both":                   {sts.with("sloth_severity", "page"), rbac.with("sloth_severity", "page"), true},
		"an sts page holds back rbac's ticket":          {sts.with("sloth_severity", "page"), rbac, true},
		"not in another cluster":                        {sts, rbac.with("cluster", "staging"), false},
		"not another service's rbac":                    {sts, rbac.with("sloth_service", "shop"), false},
		"rbac does not hold back sts":                   {rbac, sts, false},
		"sts does not hold back endpoint":               {sts, sts.with("sloth_slo", "endpoint"), false},
		"sts does not hold back the availability":       {sts, ticket, false},
		"the exporter's absence holds back a page":      {exporterDown, page, true},
		"and a ticket of a target group":                {exporterDown, ticket.with("cluster", "", "target_group", "shop"), true},
		"and absence":                                   {exporterDown, absent, true},
		"and coverage":                                  {exporterDown, coverage, true},
		"not the watchdog":                              {exporterDown, watchdog, false},
		"not itself":                                    {exporterDown, exporterDown, false},
		"nor what is not ours":                          {exporterDown, alert{"alertname": "KubeNodeNotReady", "severity": "page"}, false},
		"absent data holds back low coverage":           {absent, coverage, true},
		"not that of another cluster's SLO":             {absent, coverage.with("cluster", "staging"), false},
		"low coverage does not hold back a page":        {coverage, page, false},
		"absent data does not hold back a page":         {absent, page, false},
		"nor a ticket":                                  {absent, ticket, false},
		"nor that of a layer behind":                    {absent.with("sloth_slo", "sts"), rbac, false},
		"low coverage of a layer neither":               {coverage.with("sloth_slo", "sts"), rbac, false},
		"the watchdog holds back nothing":               {watchdog, ticket, false},
		"a foreign page does not hold back our tickets": {alert{"alertname": "KubeNodeNotReady", "severity": "page", "cluster": "prod"}, ticket, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := slices.ContainsFunc(c.InhibitRules, func(rule inhibition) bool { return rule.holdsBack(t, test.source, test.target) })
			if got != test.want {
				t.Errorf("%v holds back %v: %t", test.source, test.target, got)
			}
		})
	}
}

func TestInhibitionAsksForEqualLabelsOfEveryGroup(t *testing.T) {
	_, c := written(t, groupLabels)
	if want := []string{"sloth_id", "cluster", "identity", "target_group"}; !slices.Equal(c.InhibitRules[0].Equal, want) {
		t.Errorf("equal: %v, want %v", c.InhibitRules[0].Equal, want)
	}
}

func TestRoutes(t *testing.T) {
	_, c := written(t, groupLabels)
	tests := map[string]struct {
		alert alert
		want  string
	}{
		"burn page":                             {page, "page"},
		"burn ticket":                           {ticket, "ticket"},
		"page without labels":                   {page.with("severity", ""), "page"}, // a specification may label its alerts as it likes
		"ticket called a page by its own label": {ticket.with("severity", "page"), "ticket"},
		"exporter down":                         {exporterDown, "page"},
		"absent":                                {absent, "page"},
		"coverage":                              {coverage, "ticket"},
		"watchdog":                              {watchdog, "heartbeat"},
		"foreign":                               {alert{"alertname": "Other", "severity": "info"}, "ticket"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := c.Route.find(t, test.alert); got.Receiver != test.want {
				t.Errorf("goes to %s, want %s", got.Receiver, test.want)
			}
		})
	}
	if want := []string{"sloth_service", "cluster", "target_group"}; !slices.Equal(c.Route.GroupBy, want) {
		t.Errorf("grouped by %v, want %v", c.Route.GroupBy, want)
	}
	if beat := c.Route.find(t, watchdog); beat.RepeatInterval != "1m" || beat.GroupInterval != "1m" {
		t.Errorf("the heartbeat beats every %s and %s", beat.GroupInterval, beat.RepeatInterval)
	}
}

// TestEveryReceiverIsThere also reads the examples that are commented out, as they will be when somebody uses them.
func TestEveryReceiverIsThere(t *testing.T) {
	text, c := written(t, groupLabels)
	var names []string
	for _, receiver := range c.Receivers {
		names = append(names, receiver["name"].(string))
	}
	for _, r := range append(c.Route.Routes, c.Route) {
		if !slices.Contains(names, r.Receiver) {
			t.Errorf("there is no receiver %q", r.Receiver)
		}
	}
	var used config
	decoder := yaml.NewDecoder(strings.NewReader(uncommented(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&used); err != nil {
		t.Fatal(err)
	}
	for i, integration := range map[int]string{0: "pagerduty_configs", 1: "slack_configs"} {
		if used.Receivers[i][integration] == nil {
			t.Errorf("%v has no %s", used.Receivers[i], integration)
		}
	}
	if secret := regexp.MustCompile(`(?m)(api_url|routing_key|service_key|password|token): `).FindString(uncommented(text)); secret != "" {
		t.Errorf("%s stands in the file, not in one of its own", secret)
	}
}

// uncommented is the configuration with its examples in use.
func uncommented(text string) string {
	routing, receivers, _ := strings.Cut(text, "\nreceivers:")
	return routing + "\nreceivers:" + regexp.MustCompile(`(?m)^    # `).ReplaceAllString(receivers, "    ")
}

// TestWithoutSLOs: a configuration for nothing is one all the same.
func TestWithoutSLOs(t *testing.T) {
	_, c := written(t, nil)
	if !slices.Equal(c.Route.GroupBy, []string{"sloth_service"}) || !slices.Equal(c.InhibitRules[0].Equal, []string{"sloth_id"}) {
		t.Errorf("%v, %v", c.Route.GroupBy, c.InhibitRules[0].Equal)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("the disk is full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteTellsOfItsWriter(t *testing.T) {
	if err := Write(brokenWriter{}, nil); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// TestAmtool asks Alertmanager's own tool: of the configuration, of that with the examples in use, and where alerts go.
func TestAmtool(t *testing.T) {
	if !*amtool {
		return // -amtool runs it; TestRoutes and TestInhibition say the same without a binary
	}
	text, _ := written(t, groupLabels)
	for name, content := range map[string]string{"as it is": text, "examples in use": uncommented(text)} {
		file := filepath.Join(t.TempDir(), "alertmanager.yaml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("amtool", "check-config", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for receiver, alerts := range map[string][]alert{"page": {page, exporterDown, absent}, "ticket": {ticket, sts, coverage}, "heartbeat": {watchdog}} {
			for _, a := range alerts {
				args := []string{"config", "routes", "test", "--config.file=" + file, "--verify.receivers=" + receiver}
				for label, value := range a {
					args = append(args, label+"="+value)
				}
				if out, err := exec.Command("amtool", args...).CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %v\n%s", name, a, err, out)
				}
			}
		}
	}
}

// find is the route of an alert: the first child that matches, as far down as there is one.
func (r route) find(t *testing.T, a alert) route {
	for _, child := range r.Routes {
		if matches(t, child.Matchers, a) {
			return child.find(t, a)
		}
	}
	return r
}

// holdsBack is Alertmanager's rule: a label that is missing on both sides is equal, and an alert that is both source and target does not hold back itself.
func (i inhibition) holdsBack(t *testing.T, source, target alert) bool {
	if !matches(t, i.SourceMatchers, source) || !matches(t, i.TargetMatchers, target) || matches(t, i.SourceMatchers, target) {
		return false
	}
	return !slices.ContainsFunc(i.Equal, func(label string) bool { return source[label] != target[label] })
}

var matcher = regexp.MustCompile(`^(\w+)(=~|!~|=)"([^"]*)"$`)

func matches(t *testing.T, matchers []string, a alert) bool {
	t.Helper()
	for _, text := range matchers {
		parts := matcher.FindStringSubmatch(text)
		if parts == nil {
			t.Fatalf("%q is no matcher that this test knows", text)
		}
		pattern := parts[3]
		if parts[2] == "=" {
			pattern = regexp.QuoteMeta(pattern)
		}
		if matched := regexp.MustCompile("^(?:" + pattern + ")$").MatchString(a[parts[1]]); matched == (parts[2] == "!~") {
			return false
		}
	}
	return true
}
