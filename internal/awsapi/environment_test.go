// The environment that New reads: what it refuses, what it leaves to the sources, and that no proxy's password shows.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"golang.org/x/net/http/httpproxy"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestNewRefusesVariables(t *testing.T) {
	const endpoint = " is not an http or https URL with a host; unset it or write https://HOST[:PORT]"
	for name, c := range map[string]struct{ variable, value, want string }{
		"no bundle":            {"AWS_CA_BUNDLE", "/x.pem", "AWS_CA_BUNDLE=/x.pem: no such file or directory; unset it or point it at a PEM file"},
		"a bundle that is not": {"AWS_CA_BUNDLE", "login_test.go", "AWS_CA_BUNDLE=login_test.go: it holds no PEM certificate; unset it or point it at a PEM file"},
		"a directory":          {"AWS_CA_BUNDLE", ".", "AWS_CA_BUNDLE=.: not a regular file; unset it or point it at a PEM file"},
		"STS":                  {"AWS_ENDPOINT_URL_STS", "garbage", "AWS_ENDPOINT_URL_STS" + endpoint},
		"EKS":                  {"AWS_ENDPOINT_URL_EKS", "https://", "AWS_ENDPOINT_URL_EKS" + endpoint},
		"IAM":                  {"AWS_ENDPOINT_URL_IAM", "ftp://iam", "AWS_ENDPOINT_URL_IAM" + endpoint},
		"ELB":                  {"AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2", "//elb", "AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2" + endpoint},
		"all services":         {"AWS_ENDPOINT_URL", "https://user:secretpw@%zz", "AWS_ENDPOINT_URL" + endpoint},
		"FIPS":                 {"AWS_USE_FIPS_ENDPOINT", "perhaps", "AWS_USE_FIPS_ENDPOINT"},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			t.Setenv(c.variable, c.value)
			_, err := New(t.Context(), DefaultOptions())
			if err == nil || err.Error() != c.want && name != "FIPS" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Endpoints, FIPS and dual-stack settings reach the clients as the SDK has them.
func TestNewReadsTheEnvironment(t *testing.T) {
	isolate(t)
	t.Setenv("AWS_ENDPOINT_URL", "https://all.example.com")
	t.Setenv("AWS_ENDPOINT_URL_STS", "https://sts.example.com")
	t.Setenv("AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2", "https://elb.example.com")
	t.Setenv("AWS_USE_FIPS_ENDPOINT", "true")
	t.Setenv("AWS_USE_DUALSTACK_ENDPOINT", "true")
	client, err := New(t.Context(), DefaultOptions())
	must(t, err)
	options := client.sts(region).api.Options()
	wantSame(t, aws.ToString(options.BaseEndpoint), "https://sts.example.com")
	wantSame(t, []any{options.EndpointOptions.UseFIPSEndpoint, options.EndpointOptions.UseDualStackEndpoint}, []any{aws.FIPSEndpointStateEnabled, aws.DualStackEndpointStateEnabled})
	wantSame(t, aws.ToString(eks.NewFromConfig(client.base).Options().BaseEndpoint), "https://all.example.com")
	wantSame(t, aws.ToString(client.elb(region, nil, client.observe()).Options().BaseEndpoint), "https://elb.example.com")

	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
	t.Setenv("AWS_ENDPOINT_URL", "garbage")
	client, err = New(t.Context(), DefaultOptions())
	must(t, err)
	wantSame(t, client.sts(region).api.Options().BaseEndpoint, (*string)(nil))
}

// What the shared files say, or that they cannot be read, is no business of irsa's; the sources that read them tell it.
func TestNewReadsNoSharedFiles(t *testing.T) {
	w := newWorld(t)
	w.profiles("[profile broken\n", "[keys\n")
	t.Setenv("AWS_PROFILE", "nobody")
	w.client = w.newClient(func(*Options) {})
	must(t, w.signIn(w.irsa()))
	wantVerdict(t, w.signIn(profile("nobody")), failure(chain.StepCredentials, chain.ReasonProfileInvalid))
	must(t, os.Remove(w.dir+"/config"))
	must(t, os.Remove(w.dir+"/credentials"))
	wantVerdict(t, w.signIn(chain.Identity{Source: chain.SourceDefault}), failure(chain.StepCredentials, chain.ReasonProfileInvalid))
}

// net/http quotes a proxy that it cannot parse, and takes what follows a "/" in a password for a path.
func TestProxyPasswordNeverShows(t *testing.T) {
	w := newInternetWorld(t)
	for _, value := range []string{
		"http://svc:aB3/xyzSECRET@proxy:3128", "http://svc:12/xyzSECRET@proxy:3128", "http://svc:12?xyzSECRET@proxy:3128", "http://svc:12#xyzSECRET@proxy:3128",
		"http://u:SECRETpw@:::bad", "u:SECRETpw@:::bad",
	} {
		t.Run(value, func(t *testing.T) {
			settings := httpproxy.Config{HTTPSProxy: value}
			w.client.transport.Proxy = func(r *http.Request) (*url.URL, error) { return checkedProxy(settings.ProxyFunc()(r.URL)) }
			e := wantVerdict(t, w.signIn(w.environment(deployARN)), failure(chain.StepSTS, chain.ReasonSTSUnreachable))
			wantText(t, e.Detail, errProxy.Error())
			for fact, text := range e.Facts.Merge(chain.Facts{"detail": e.Detail, "cause": e.Err.Error()}) {
				if strings.Contains(text, "SECRET") {
					t.Errorf("%s shows the password: %s", fact, text)
				}
			}
		})
	}
	wantSame(t, reflect.ValueOf(newHTTPClient().GetTransport().Proxy).Pointer(), reflect.ValueOf(proxyOf).Pointer())
	_, err := checkedProxy(nil, errors.New(`invalid proxy address "u:SECRET@"`))
	wantSame(t, err.Error(), errProxy.Error())
	plain, err := checkedProxy(&url.URL{Scheme: "http", Host: "proxy:3128", User: url.UserPassword("svc", "a/b"), Path: "/"}, nil)
	must(t, err)
	wantSame(t, plain.Host, "proxy:3128")
}
