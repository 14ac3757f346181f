// The cluster that the tests of the authenticator and the apiserver share, on the account of aws_fixture_test.go, and real clients of it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	iamtoken "sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const policyPrefix = "arn:aws:eks::aws:cluster-access-policy/"

// kubeCluster is a running cluster named prod, with an access entry for the role ci-deploy.
type kubeCluster struct {
	*awsAccount
	api *APIServer
	dns *DNS
}

func newKubeCluster(t *testing.T) *kubeCluster {
	t.Helper()
	k := &kubeCluster{awsAccount: newAWSAccount(t)}
	prod := testCluster("prod")
	prod.Entries[deployARN] = &Entry{
		AccessEntry: chain.AccessEntry{PrincipalARN: deployARN, Username: "ci:{{SessionName}}", Groups: []string{"deployers"}, Type: "STANDARD"}, RoleID: "AROADEPLOY",
	}
	prod.Grants = []Grant{{Subject: "deployers", Verbs: []string{"create", "get"}, Groups: []string{"apps"}, Resources: []string{"deployments"}, Namespace: "shop"}}
	k.state.Change(func(s *State) { s.Clusters["prod"] = prod })
	var err error
	k.api, err = NewAPIServer(k.state, nil, "prod", STSEndpoint{Address: k.sts.Addr(), CAPEM: k.ca.PEM()})
	must(t, err)
	k.dns, err = NewDNS()
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(k.api.Close(), k.dns.Close())) })
	return k
}

func (k *kubeCluster) change(f func(c *Cluster)) {
	k.state.Change(func(s *State) { f(s.Clusters["prod"]) })
}

// mint makes a token with the real generator.
func (k *kubeCluster) mint(t *testing.T, c aws.Credentials, cluster string) string {
	t.Helper()
	generator, err := iamtoken.NewGenerator(false, false)
	must(t, err)
	minted, err := generator.GetWithSTS(cluster, k.stsClient(c, testRegion, ""))
	must(t, err)
	return minted.Token
}

// deployToken is a token of the mapped role, session "probe".
func (k *kubeCluster) deployToken(t *testing.T) string {
	t.Helper()
	return k.mint(t, k.assume(t, deployARN, denyAll), "prod")
}

// transport trusts the authority that DescribeCluster tells and resolves names at the sandbox's DNS. Each has its own connections.
func (k *kubeCluster) transport(t *testing.T) *http.Transport {
	t.Helper()
	pool := x509.NewCertPool()
	k.change(func(c *Cluster) { pool.AppendCertsFromPEM(c.CAPEM) })
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Resolver: k.dns.Resolver()}).DialContext,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// client is client-go's for one API group, with a token.
func (k *kubeCluster) client(t *testing.T, token string, version schema.GroupVersion) *rest.RESTClient {
	t.Helper()
	config := &rest.Config{Host: k.api.Endpoint(), BearerToken: token, Transport: k.transport(t), APIPath: "/apis", QPS: -1}
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.GroupVersion, config.NegotiatedSerializer = &version, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	must(t, err)
	return client
}

// httpAnswer is an answer without its connection.
type httpAnswer struct {
	status int
	header http.Header
	body   string
}

// do sends one request, such as "GET /readyz", over a connection of its own.
func (k *kubeCluster) do(t *testing.T, what, token, body string, headers ...string) httpAnswer {
	t.Helper()
	method, path, _ := strings.Cut(what, " ")
	request, err := http.NewRequestWithContext(t.Context(), method, k.api.Endpoint()+path, strings.NewReader(body))
	must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := k.transport(t).RoundTrip(request)
	must(t, err)
	defer func() { must(t, response.Body.Close()) }()
	read, err := io.ReadAll(response.Body)
	must(t, err)
	return httpAnswer{response.StatusCode, response.Header, string(read)}
}

// get is a plain GET whose error, not its answer, is of interest.
func (k *kubeCluster) get(ctx context.Context, t *testing.T, path string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.api.Endpoint()+path, nil)
	must(t, err)
	response, err := k.transport(t).RoundTrip(request)
	if err == nil {
		must(t, response.Body.Close())
	}
	return err
}

// calls returns what the cluster's services recorded.
func (k *kubeCluster) calls() (calls []Call) {
	k.state.Change(func(s *State) {
		for _, call := range s.Calls {
			if call.Service == "apiserver" || call.Service == "authenticator" {
				calls = append(calls, call)
			}
		}
	})
	return calls
}

// statusOf is a Status error's own status.
func statusOf(t *testing.T, err error) metav1.Status {
	t.Helper()
	var status interface{ Status() metav1.Status }
	if !errors.As(err, &status) {
		t.Fatalf("%v carries no Status", err)
	}
	return status.Status()
}

// soon fails when f waits for a timeout of its peers instead of ending things itself.
func soon(t *testing.T, f func()) {
	t.Helper()
	start := time.Now()
	if f(); time.Since(start) > 3*time.Second {
		t.Errorf("it took %s", time.Since(start))
	}
}
