// A cluster: etcd, kube-apiserver and aws-iam-authenticator as its token webhook, as EKS has them.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// startTimeout is how long all three programs together may take to serve; a quiet machine needs 6 s.
const startTimeout = 3 * time.Minute

// How long the programs may take to end after SIGTERM. The authenticator ignores it.
const (
	etcdGrace          = 5 * time.Second
	apiserverGrace     = 3 * time.Second
	authenticatorGrace = 500 * time.Millisecond
)

// RoleMapping maps a role to a Kubernetes user, as the authenticator's mounted file does. EKS access entries without a policy behave like it.
type RoleMapping struct {
	RoleARN  string
	Username string // may hold the authenticator's templates, {{SessionName}} for one
	Groups   []string
}

// Entry is an access entry: the mapping of a principal, bound to the unique id that the principal had when the entry was made. The authenticator's DynamicFile backend with strict
// user ids behaves like EKS here: it refuses a role that was made anew under its name.
type Entry struct {
	RoleMapping
	RoleID string // AROA…
}

// Options says what a cluster is made of.
type Options struct {
	ClusterID string        // the name that a token must be signed for
	Roles     []RoleMapping // looked up first
	Entries   []Entry       // looked up next
	AWSAuth   bool          // then the kube-system/aws-auth ConfigMap is watched, as EKSConfigMap
	AWS       *AWS          // its authority signs the servers here, and is all that the authenticator trusts
}

// Cluster is a running cluster. It ends with its test.
type Cluster struct {
	URL           string // https://127.0.0.1:port
	CA            []byte // PEM, as DescribeCluster gives it (before base64)
	APIServer     *Process
	Authenticator *Process
	adminToken    string
	client        *http.Client
}

// StartCluster builds what is missing and starts a cluster; the test ends when that cannot be done.
func StartCluster(ctx context.Context, t testing.TB, o Options) *Cluster {
	t.Helper()
	binaries := map[string]string{}
	for _, name := range Names() {
		path, err := Build(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		binaries[name] = path
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("starting the cluster took too long"))
	defer cancel()
	files := writeFiles(t, o, FreePort(t), FreePort(t))
	c := &Cluster{
		URL: "https://" + Address(files.apiserverPort), CA: o.AWS.CA.PEM(), adminToken: files.adminToken,
		client: o.AWS.Client(),
	}
	etcd := startEtcd(ctx, t, binaries[Etcd], c.client)
	c.APIServer = Start(ctx, t, apiserverCommand(binaries[APIServerName], etcd, files, c))
	c.Authenticator = Start(ctx, t, authenticatorCommand(binaries[Authenticator], o, files, c.client))
	return c
}

// startEtcd returns the client URL of a fresh etcd.
func startEtcd(ctx context.Context, t testing.TB, path string, http *http.Client) string {
	t.Helper()
	client, peer := "http://"+Address(FreePort(t)), "http://"+Address(FreePort(t))
	Start(ctx, t, Command{
		Name: Etcd, Path: path, Grace: etcdGrace,
		Args: []string{
			"--name=e2e", "--data-dir=" + filepath.Join(t.TempDir(), "data"), "--log-level=warn", "--unsafe-no-fsync",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=e2e=" + peer,
		},
		Ready: func(ctx context.Context) error { return answersOK(ctx, http, client+"/readyz") },
	})
	return client
}

// apiserverCommand leaves everything that is not named here at kube-apiserver's defaults, anonymous authentication and the webhook's caches among it.
func apiserverCommand(path, etcd string, files files, c *Cluster) Command {
	return Command{
		Name: APIServerName, Path: path, Grace: apiserverGrace,
		Args: []string{
			"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", fmt.Sprint("--secure-port=", files.apiserverPort),
			// No cluster network here: the kubernetes service gets no endpoints.
			"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
			"--cert-dir=" + files.dir, "--tls-cert-file=" + files.cert, "--tls-private-key-file=" + files.key,
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + files.cert, "--service-account-signing-key-file=" + files.key,
			"--authorization-mode=RBAC", "--token-auth-file=" + files.tokens,
			"--authentication-token-webhook-config-file=" + files.webhook,
		},
		Ready: func(ctx context.Context) error { return answersOK(ctx, c.client, c.URL+"/readyz") },
	}
}

// authenticatorCommand starts the server without any way out: no instance metadata, its own trust, and AWS behind the proxy.
func authenticatorCommand(path string, o Options, files files, client *http.Client) Command {
	modes := "MountedFile"
	if o.Entries != nil {
		modes += ",DynamicFile"
	}
	if o.AWSAuth {
		modes += ",EKSConfigMap"
	}
	return Command{
		Name: Authenticator, Path: path, Grace: authenticatorGrace,
		Args: []string{
			"server", "--config=" + files.authenticator, "--cluster-id=" + o.ClusterID, "--backend-mode=" + modes,
			"--address=127.0.0.1", fmt.Sprint("--port=", files.authenticatorPort), "--state-dir=" + files.dir,
			"--kubeconfig-pregenerated", "--kubeconfig=" + files.admin,
		},
		Env: []string{
			"HOME=" + files.dir, "AWS_EC2_METADATA_DISABLED=true", "HTTPS_PROXY=" + o.AWS.Proxy.URL(),
			"SSL_CERT_FILE=" + files.ca, "SSL_CERT_DIR=" + files.dir + "/none",
		},
		Ready: func(ctx context.Context) error {
			return answersOK(ctx, client, "https://"+Address(files.authenticatorPort)+"/healthz")
		},
	}
}
