// The environment: the SDK's variables that every call heeds, each refused by its name when it cannot be used, and the proxy, whose password no error may hold.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// endpointVariables override where AWS is reached, in all and by service.
var endpointVariables = []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_EKS", "AWS_ENDPOINT_URL_IAM", "AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2"}

// environment makes the configuration of the exporter's own calls from the environment alone: no credentials, no region, and nothing of the shared configuration files, which
// config.LoadDefaultConfig would read, and be refused by, for every source.
func environment() (aws.Config, *awshttp.BuildableClient, error) {
	env, err := config.NewEnvConfig()
	if err != nil {
		return aws.Config{}, nil, fmt.Errorf("reading the AWS SDK's environment variables: %s", chain.Redact(err.Error()))
	}
	client := newHTTPClient()
	if env.CustomCABundle != "" {
		roots, err := readBundle(env.CustomCABundle)
		if err != nil {
			return aws.Config{}, nil, err
		}
		client = client.WithTransportOptions(func(t *http.Transport) {
			if t.TLSClientConfig == nil {
				t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
			}
			t.TLSClientConfig.RootCAs = roots
		})
	}
	base := aws.Config{
		HTTPClient: client, Credentials: aws.AnonymousCredentials{}, AppID: env.AppID, DefaultsMode: aws.DefaultsModeLegacy, Logger: logging.Nop{},
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }, DisableClockSkewCorrection: true, ConfigSources: []any{env},
	}
	if aws.ToBool(env.IgnoreConfiguredEndpoints) {
		return base, client, nil
	}
	for _, variable := range endpointVariables {
		if err := checkEndpoint(variable, os.Getenv(variable)); err != nil {
			return aws.Config{}, nil, err
		}
	}
	if env.BaseEndpoint != "" {
		base.BaseEndpoint = aws.String(env.BaseEndpoint)
	}
	return base, client, nil
}

// maxBundle bounds a CA bundle, in bytes: those of operating systems have some 200 kB.
const maxBundle = 8 << 20

func readBundle(path string) (*x509.CertPool, error) {
	text, err := chain.ReadSmall(path, maxBundle)
	roots := x509.NewCertPool()
	if err == nil && !roots.AppendCertsFromPEM(text) {
		err = errors.New("it holds no PEM certificate")
	}
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE=%s: %w; unset it or point it at a PEM file", path, err)
	}
	return roots, nil
}

// checkEndpoint does not show the value: what is no URL may hold a password.
func checkEndpoint(variable, value string) error {
	u, err := url.Parse(value)
	if value == "" || err == nil && u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http") {
		return nil
	}
	return fmt.Errorf("%s is not an http or https URL with a host; unset it or write https://HOST[:PORT]", variable)
}

// errProxy stands for any proxy variable that is no URL: net/http's own error quotes it, with its password. A "/" in a password makes a path of what follows.
var errProxy = errors.New("HTTPS_PROXY (or HTTP_PROXY) of this process is not the URL of a proxy (is its password percent-encoded?)")

// proxyOf is the proxy of the environment. Its only error is errProxy.
func proxyOf(request *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(request)
	return checkedProxy(proxy, err)
}

func checkedProxy(proxy *url.URL, err error) (*url.URL, error) {
	switch {
	case err != nil:
		return nil, errProxy
	case proxy == nil:
		return nil, nil //nolint:nilnil // as net/http has it: no proxy
	case proxy.Host == "", proxy.Hostname() == "http", proxy.Hostname() == "https", strings.Contains(proxy.Path+proxy.RawQuery+proxy.Fragment, "@"): // what a cut password leaves
		return nil, errProxy
	}
	return proxy, nil
}
