// The section http_config is Prometheus' own: its keys and values are checked here, with their positions and without secrets, and then Prometheus' own code reads it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	commonconfig "github.com/prometheus/common/config"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// httpKeys are the keys of a mapping in http_config, each with what checks its value. Those of Prometheus' secret providers (_ref) are not here: there are no providers.
type httpKeys map[string]func(d *decoder, f diag.Fields, key string)

var (
	proxyKeys = httpKeys{"proxy_url": httpURL("http", "https", "socks5"), "no_proxy": httpText, "proxy_from_environment": httpFlag, "proxy_connect_header": httpProxyHeader}
	tlsKeys   = httpKeys{
		"ca": httpText, "cert": httpText, "key": httpSecret("key_file"), "ca_file": httpText, "cert_file": httpText, "key_file": httpText, "server_name": httpText, "insecure_skip_verify": httpFlag,
		"min_version": httpTLSVersion, "max_version": httpTLSVersion,
	}
	basicAuthKeys     = httpKeys{"username": httpText, "username_file": httpText, "password": httpSecret("password_file"), "password_file": httpText}
	authorizationKeys = httpKeys{"type": httpText, "credentials": httpSecret("credentials_file"), "credentials_file": httpText}
	oauth2Keys        = httpKeys{
		"client_id": httpText, "client_secret": httpSecret("client_secret_file"), "client_secret_file": httpText,
		"client_certificate_key_id": httpText, "client_certificate_key": httpSecret("client_certificate_key_file"), "client_certificate_key_file": httpText,
		"grant_type": httpText, "signature_algorithm": httpText, "iss": httpText, "audience": httpText, "claims": httpParameters, "scopes": httpTexts,
		"token_url": httpURL("http", "https"), "endpoint_params": httpParameters, "tls_config": httpMapping(tlsKeys),
	}
	httpConfigKeys = httpKeys{
		"basic_auth": httpMapping(basicAuthKeys), "authorization": httpMapping(authorizationKeys), "oauth2": httpMapping(oauth2Keys, proxyKeys),
		"bearer_token": httpSecret("bearer_token_file"), "bearer_token_file": httpText, "tls_config": httpMapping(tlsKeys), "follow_redirects": httpFlag, "enable_http2": httpFlag, "http_headers": httpHeaders,
	}
	headerKeys = httpKeys{"values": httpTexts, "secrets": httpSecret("files"), "files": httpTexts}
)

// httpConfig reads the section; relative names of files in it start at the configuration file's directory.
func (d *decoder) httpConfig(parent diag.Fields, into *commonconfig.HTTPClientConfig) {
	if !parent.Has("http_config") {
		return
	}
	before := len(d.Problems())
	httpMapping(httpConfigKeys, proxyKeys)(d, parent, "http_config")
	if len(d.Problems()) > before {
		return
	}
	if err := parent.Node("http_config").Decode(into); err != nil {
		d.Report(httpPlace(parent, err.Error()), badHTTPConfig, err.Error())
		return
	}
	into.SetDirectory(filepath.Dir(d.file))
}

// httpPlace is that of the first key which Prometheus' words name, or of the section.
func httpPlace(parent diag.Fields, words string) diag.Place {
	f := parent.Mapping("http_config", httpKnown(httpConfigKeys, proxyKeys)...)
	for _, key := range httpKnown(httpConfigKeys, proxyKeys) {
		if f.Has(key) && strings.Contains(words, key) {
			return f.AtKey(key)
		}
	}
	return parent.AtKey("http_config")
}

func httpKnown(tables ...httpKeys) []string {
	var known []string
	for _, table := range tables {
		known = slices.AppendSeq(known, maps.Keys(table))
	}
	slices.Sort(known)
	return known
}

func (keys httpKeys) check(d *decoder, f diag.Fields) {
	for _, key := range httpKnown(keys) {
		if f.Has(key) {
			keys[key](d, f, key)
		}
	}
}

func httpMapping(tables ...httpKeys) func(d *decoder, f diag.Fields, key string) {
	return func(d *decoder, f diag.Fields, key string) {
		inner := f.Mapping(key, httpKnown(tables...)...)
		for _, table := range tables {
			table.check(d, inner)
		}
	}
}

// httpSecret refuses a value that would be a secret; twin is the key that names files of it.
func httpSecret(twin string) func(d *decoder, f diag.Fields, key string) {
	return func(d *decoder, f diag.Fields, key string) {
		d.Report(f.AtKey(key), secretKey, key, "write it to a file, and name the file in "+twin)
	}
}

func httpText(_ *decoder, f diag.Fields, key string) { f.Text(key) }

func httpTexts(_ *decoder, f diag.Fields, key string) { f.Texts(key) }

func httpFlag(_ *decoder, f diag.Fields, key string) { f.Flag(key) }

func httpTLSVersion(_ *decoder, f diag.Fields, key string) {
	diag.Choice(f, key, slices.Collect(maps.Keys(commonconfig.TLSVersions)), "")
}

func httpURL(schemes ...string) func(d *decoder, f diag.Fields, key string) {
	return func(d *decoder, f diag.Fields, key string) {
		if text := f.Text(key); text != "" {
			if _, wrong := parseURL(text, schemes...); wrong != "" {
				d.Report(f.At(key), badServer, key, wrong, "write SCHEME://HOST[:PORT], the scheme one of "+strings.Join(schemes, ", ")+", without a user name or password")
			}
		}
	}
}

// httpProxyHeader refuses what Prometheus takes for secrets and cannot read from files.
func httpProxyHeader(d *decoder, f diag.Fields, key string) {
	d.Report(f.AtKey(key), secretKey, key, "its headers sign in to a proxy, and cannot come from files: use a proxy that this host may use without")
}

// httpParameters are the user's own keys; those of secrets are refused, since there are no files of them.
func httpParameters(d *decoder, f diag.Fields, key string) {
	entries, _ := f.Entries(key)
	for _, e := range entries {
		switch {
		case isSecretKey(e.Name):
			d.Report(d.At(e.Key), secretKey, e.Name, "sign in with client_secret_file or client_certificate_key_file")
		case key == "endpoint_params":
			d.Text(e.Value, key+"."+e.Name)
		}
	}
}

// httpHeaders are those of each request. The value of one whose name is that of a secret comes from a file.
func httpHeaders(d *decoder, f diag.Fields, key string) {
	entries, _ := f.Entries(key)
	for _, e := range entries {
		header := d.Mapping(e.Value, key+"."+e.Name, httpKnown(headerKeys)...)
		headerKeys.check(d, header)
		if header.Has("values") && isSecretKey(e.Name) {
			d.Report(header.AtKey("values"), secretKey, e.Name, "write it to a file, and name the file in files in place of values")
		}
	}
}
