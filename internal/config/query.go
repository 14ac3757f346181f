// Section query: where budgets and gates read, and the engine's own sections rules and alertmanagers.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	commonconfig "github.com/prometheus/common/config"
	"github.com/prometheus/sigv4"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// Query says where budgets and gates read what was recorded: one of the two, or neither.
type Query struct {
	Embedded   *Embedded
	Prometheus *Prometheus
}

// Embedded is the engine inside the exporter.
type Embedded struct {
	Path          string        // the folder of its data
	Retention     time.Duration // of samples; default 35d
	Rules         []string      // files and folders of rules; none: those that come with the exporter
	Alertmanagers []*url.URL
}

// Prometheus is a server with Prometheus' query API.
type Prometheus struct {
	URL     *url.URL
	Timeout time.Duration // of one request; default 10s
	HTTP    commonconfig.HTTPClientConfig
	SigV4   *sigv4.SigV4Config // for Amazon Managed Service for Prometheus; nil: requests are not signed
}

const (
	defaultRetention = 35 * 24 * time.Hour
	leastRetention   = 31 * 24 * time.Hour // the rules' period, and a day that is not over
	defaultQuery     = 10 * time.Second
	longestQuery     = 2 * time.Minute // Prometheus' own query.timeout
)

func (d *decoder) query(root diag.Fields) Query {
	f := root.Mapping("query", "embedded", "prometheus")
	both := f.Has("embedded") && f.Has("prometheus")
	switch {
	case both:
		d.Report(f.AtKey("prometheus"), twoQueries)
	case root.Has("query") && f.IsMapping() && len(root.Node("query").Content) == 0:
		d.Report(f.Place(), noQuery)
	}
	q := Query{}
	if f.Has("embedded") {
		q.Embedded = d.embedded(f.Mapping("embedded", "path", "retention"))
		q.Embedded.Rules = d.ruleFiles(root)
		q.Embedded.Alertmanagers = d.alertmanagers(root)
	}
	if f.Has("prometheus") {
		q.Prometheus = d.prometheus(f.Mapping("prometheus", "url", "timeout", "http_config", "sigv4"))
	}
	for _, section := range []string{"rules", "alertmanagers"} {
		if root.Has(section) && !both && (f.Has("prometheus") || !root.Has("query")) { // a query that is wrong was reported
			d.Report(root.AtKey(section), engineOnly, section)
		}
	}
	return q
}

func (d *decoder) embedded(f diag.Fields) *Embedded {
	e := &Embedded{Path: f.Text("path"), Retention: defaultRetention}
	if e.Path == "" {
		e.Path = "data"
	}
	e.Path = d.path(e.Path)
	if retention, given := f.Duration("retention", defaultRetention); given && d.atLeast(f, "retention", retention, limit{leastRetention, "a budget is counted over 30d: with less kept, every figure would be partial"}) {
		e.Retention = retention
	}
	return e
}

// ruleFiles reads the section rules: files and folders that exist. An empty list is no way to say that there are none, since without rules there are no budgets.
func (d *decoder) ruleFiles(root diag.Fields) []string {
	if root.Has("rules") && root.Node("rules").Kind == yaml.SequenceNode && len(root.Node("rules").Content) == 0 {
		d.Report(root.At("rules"), diag.NoValue, "rules")
	}
	var names []string
	d.eachText(root, "rules", func(item *yaml.Node, text string) {
		name := d.path(text)
		if wrong := unusableRules(name); wrong != "" {
			d.Report(d.At(item), noRules, text, wrong)
			return
		}
		names = append(names, name)
	})
	return names
}

// unusableRules says why no rules can be read from a file or folder; "" when they can. What the files hold is the engine's to check.
func unusableRules(name string) (wrong string) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case err != nil:
		return "it cannot be read"
	case info.Mode().IsRegular():
		return ""
	case !info.IsDir():
		return "it is neither a file nor a folder"
	}
	files, err := os.ReadDir(name)
	if err != nil {
		return "the folder cannot be read"
	}
	if !slices.ContainsFunc(files, func(file fs.DirEntry) bool { return filepath.Ext(file.Name()) == ".yaml" }) {
		return "the folder has no file *.yaml"
	}
	return ""
}

func (d *decoder) alertmanagers(root diag.Fields) []*url.URL {
	var all []*url.URL
	d.eachText(root, "alertmanagers", func(item *yaml.Node, text string) {
		u, wrong := parseServer(text)
		if wrong != "" {
			d.Report(d.At(item), badServer, "an Alertmanager", wrong, "write http://HOST:PORT or https://HOST:PORT")
			return
		}
		all = append(all, u)
	})
	return all
}

// eachText reads a list of texts, none of them twice, and hands each on with its place.
func (d *decoder) eachText(f diag.Fields, key string, read func(item *yaml.Node, text string)) {
	texts := f.Texts(key) // which reports whatever else stands there
	for _, item := range f.List(key) {
		if len(texts) > 0 && item.Kind == yaml.ScalarNode && item.Value == texts[0] {
			read(item, texts[0])
			texts = texts[1:]
		}
	}
}

func (d *decoder) prometheus(f diag.Fields) *Prometheus {
	p := &Prometheus{Timeout: defaultQuery, HTTP: commonconfig.DefaultHTTPClientConfig}
	f.Require("url", "such as http://prometheus.monitoring:9090, or the query URL of Thanos, Mimir or Amazon Managed Service for Prometheus")
	if text := f.Text("url"); text != "" {
		var wrong string
		if p.URL, wrong = parseServer(text); wrong != "" {
			d.Report(f.At("url"), badServer, "url", wrong, "write https://HOST[:PORT][/PREFIX], as a Grafana data source has it")
		}
	}
	if timeout, given := f.Duration("timeout", defaultQuery); given && d.atLeast(f, "timeout", timeout, limit{time.Second, "a month is read at once"}) &&
		d.atMost(f, "timeout", timeout, limit{longestQuery, "Prometheus itself gives up then"}) {
		p.Timeout = timeout
	}
	d.httpConfig(f, &p.HTTP)
	p.SigV4 = d.sigV4(f)
	if p.SigV4 != nil && (p.HTTP.BasicAuth != nil || p.HTTP.Authorization != nil || p.HTTP.OAuth2 != nil) {
		d.Report(f.AtKey("sigv4"), twoSignIns)
	}
	return p
}

// sigV4 reads how requests are signed. The keys are those of Prometheus' own section but for secrets, which come from the environment, a profile or the role.
func (d *decoder) sigV4(parent diag.Fields) *sigv4.SigV4Config {
	if !parent.Has("sigv4") {
		return nil
	}
	f := parent.Mapping("sigv4", "region", "profile", "role_arn", "external_id_file", "service_name", "use_fips_sts_endpoint", "access_key", "secret_key")
	for _, key := range []string{"access_key", "secret_key"} {
		if f.Has(key) {
			d.Report(f.AtKey(key), secretKey, key, "credentials come from the environment, from profile or from role_arn")
		}
	}
	f.Require("region", "the region of the workspace, such as eu-west-1")
	signing := &sigv4.SigV4Config{
		Region: d.region(f), Profile: f.Text("profile"), RoleARN: d.arn(f, "role_arn", aRole),
		ServiceName: f.Text("service_name"), UseFIPSSTSEndpoint: f.Flag("use_fips_sts_endpoint"),
	}
	_, signing.ExternalID = d.externalID(f)
	if f.Has("external_id_file") && !f.Has("role_arn") {
		d.Report(f.AtKey("external_id_file"), externalIDWithoutRole)
	}
	return signing
}
