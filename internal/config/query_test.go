// Sections query, rules and alertmanagers: good ones become exactly these, and the borders of their values.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	commonconfig "github.com/prometheus/common/config"
	"github.com/prometheus/sigv4"
)

func TestQuery(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"external-id": "e-1234\n", "rules/a.yaml": "groups: []\n", "[b].yaml": "groups: []\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	http := commonconfig.DefaultHTTPClientConfig
	whole := http
	whole.FollowRedirects = false
	whole.BasicAuth = &commonconfig.BasicAuth{Username: "reader", PasswordFile: "/etc/password"}
	whole.TLSConfig = commonconfig.TLSConfig{CAFile: filepath.Join(dir, "ca.pem"), KeyFile: filepath.Join(dir, "key.pem"), CertFile: "/etc/cert.pem", MinVersion: commonconfig.TLSVersions["TLS13"]}
	whole.ProxyURL = commonconfig.URL{URL: &url.URL{Scheme: "http", Host: "relay.example.com:3128"}}
	whole.HTTPHeaders = &commonconfig.Headers{Headers: map[string]commonconfig.Header{"X-Scope-OrgID": {Values: []string{"platform"}}, "X-Api-Key": {Files: []string{filepath.Join(dir, "key")}}}}
	for name, c := range map[string]struct {
		text string
		want Query
	}{
		"none":             {"probe: {interval: 15s}", Query{}},
		"embedded":         {"query: {embedded: {}}", Query{Embedded: &Embedded{Path: filepath.Join(dir, "data"), Retention: 35 * 24 * time.Hour}}},
		"absolute path":    {"query: {embedded: {path: /var/lib/eks-slo, retention: 90d}}", Query{Embedded: &Embedded{Path: "/var/lib/eks-slo", Retention: 90 * 24 * time.Hour}}},
		"no Alertmanagers": {"query: {embedded: {}}\nalertmanagers: []", Query{Embedded: &Embedded{Path: filepath.Join(dir, "data"), Retention: 35 * 24 * time.Hour}}},
		"rules": {`{query: {embedded: {path: data/}}, rules: ["[b].yaml", rules/], alertmanagers: ["http://a:9093", "https://b/prefix"]}`, Query{Embedded: &Embedded{
			Path: filepath.Join(dir, "data"), Retention: 35 * 24 * time.Hour, Rules: []string{filepath.Join(dir, "[b].yaml"), filepath.Join(dir, "rules")},
			Alertmanagers: []*url.URL{{Scheme: "http", Host: "a:9093"}, {Scheme: "https", Host: "b", Path: "/prefix"}},
		}}},
		"Prometheus": {`query: {prometheus: {url: "http://p:9090"}}`, Query{Prometheus: &Prometheus{URL: &url.URL{Scheme: "http", Host: "p:9090"}, Timeout: 10 * time.Second, HTTP: http}}},
		"with http_config": {`{clusters: [{name: c, region: eu-west-1, observer: o, labels: &tls {ca_file: ca.pem, key_file: key.pem}}], identities: [{name: o, source: irsa}],
 query: {prometheus: {url: "https://p/prefix/", timeout: 30s, http_config: {basic_auth: {username: reader, password_file: /etc/password}, tls_config: {<<: *tls, cert_file: /etc/cert.pem, min_version: TLS13},
 follow_redirects: false, proxy_url: "http://relay.example.com:3128", http_headers: {X-Scope-OrgID: {values: [platform]}, X-Api-Key: {files: [key]}}}}}}`,
			Query{Prometheus: &Prometheus{URL: &url.URL{Scheme: "https", Host: "p", Path: "/prefix/"}, Timeout: 30 * time.Second, HTTP: whole}}},
		"with sigv4": {`query: {prometheus: {url: "https://aps/ws-1", sigv4: {region: eu-west-1, profile: p, role_arn: "arn:aws:iam::111122223333:role/reader", external_id_file: external-id, service_name: aps, use_fips_sts_endpoint: true}}}`,
			Query{Prometheus: &Prometheus{URL: &url.URL{Scheme: "https", Host: "aps", Path: "/ws-1"}, Timeout: 10 * time.Second, HTTP: http, SigV4: &sigv4.SigV4Config{
				Region: "eu-west-1", Profile: "p", RoleARN: "arn:aws:iam::111122223333:role/reader", ExternalID: "e-1234", ServiceName: "aps", UseFIPSSTSEndpoint: true,
			}}}},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(filepath.Join(dir, "eks-slo.yaml"), []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, parsed.Query, cmpopts.IgnoreUnexported(commonconfig.ProxyConfig{})); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBordersOfQuery(t *testing.T) {
	for entry, problem := range map[string]string{
		"embedded: {retention: 31d}":                                                                   "",
		"embedded: {retention: 30d23h}":                                                                "1:31: retention 30d23h is shorter than 31d",
		"prometheus: {url: 'http://p?'}":                                                               "1:27: url has no URL that can be used: it has a query",
		"prometheus: {url: https://a@p}":                                                               "1:27: url has no URL that can be used: it holds a user name or password",
		"prometheus: {}":                                                                               `1:21: missing key "url"`,
		"prometheus: {url: http://p, timeout: 1s}":                                                     "",
		"prometheus: {url: http://p, timeout: 2m}":                                                     "",
		"prometheus: {url: http://p, timeout: 2m1s}":                                                   "1:46: timeout 2m1s is longer than 2m",
		"prometheus: {url: http://p, http_config: {}}":                                                 "",
		"prometheus: {url: http://p, http_config: }":                                                   "1:50: http_config has no value",
		"prometheus: {url: http://p, http_config: {basic_auth: {password_ref: a}}}":                    `1:64: unknown key "password_ref"`,
		"prometheus: {url: http://p, http_config: {no_proxy: a}}":                                      "1:51: http_config: if no_proxy is configured, proxy_url must also be configured",
		"prometheus: {url: http://p, http_config: {oauth2: {token_url: http://a}}}":                    "1:51: http_config: oauth2 client_id must be configured",
		"prometheus: {url: http://p, http_config: {http_headers: {Host: {values: [a]}}}}":              `1:37: http_config: setting header "Host" is not allowed`,
		"prometheus: {url: http://p, http_config: {bearer_token_file: a}, sigv4: {region: eu-west-1}}": "1:74: sigv4 and http_config both sign in",
		"prometheus: {url: http://p, http_config: {tls_config: {insecure_skip_verify: true}}, sigv4: {region: eu-west-1}}": "",
	} {
		t.Run(entry, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte("query: {"+entry+"}"))
			checkFirst(t, err, problem)
		})
	}
}

// A key that a later version of Prometheus' library brings is accepted or refused on purpose.
func TestEveryKeyOfHTTPConfigIsKnown(t *testing.T) {
	for _, c := range []struct {
		of     any
		tables []httpKeys
	}{
		{commonconfig.HTTPClientConfig{}, []httpKeys{httpConfigKeys, proxyKeys}}, {commonconfig.BasicAuth{}, []httpKeys{basicAuthKeys}}, {commonconfig.Authorization{}, []httpKeys{authorizationKeys}},
		{commonconfig.OAuth2{}, []httpKeys{oauth2Keys, proxyKeys}}, {commonconfig.TLSConfig{}, []httpKeys{tlsKeys}}, {commonconfig.Header{}, []httpKeys{headerKeys}},
	} {
		kind := reflect.TypeOf(c.of)
		theirs := slices.DeleteFunc(yamlKeys(kind), func(key string) bool { return strings.HasSuffix(key, "_ref") })
		if diff := cmp.Diff(theirs, httpKnown(c.tables...)); diff != "" {
			t.Errorf("keys of %s (-theirs +ours):\n%s", kind, diff)
		}
	}
}

// yamlKeys are the keys of a struct, sorted.
func yamlKeys(of reflect.Type) []string {
	var keys []string
	for field := range of.Fields() {
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			keys = append(keys, yamlKeys(field.Type)...)
		case key != "":
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
