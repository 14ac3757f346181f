// The sandbox in the place of AWS: an account whose STS the authenticator believes to be the real one.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// AWS is a sandbox account with its STS, EKS and IAM. It ends with its test.
type AWS struct {
	State *sandbox.State
	CA    *sandbox.CA // signs every server of the sandbox, and those of the clusters that are started with it
	STS   *sandbox.STS
	EKS   *sandbox.EKS
	IAM   *sandbox.IAM
	Proxy *sandbox.Proxy // leads sts.*.amazonaws.com to STS and nothing else anywhere; its URL is an HTTPS_PROXY
}

// StartAWS starts an empty account; the test ends when that cannot be done.
func StartAWS(t testing.TB) *AWS {
	t.Helper()
	ca, err := sandbox.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	state := sandbox.NewState()
	sts, err := sandbox.NewSTS(state, ca)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, sts.Close()) })
	eks, err := sandbox.NewEKS(state, ca)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, eks.Close()) })
	iam, err := sandbox.NewIAM(state, ca)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, iam.Close()) })
	return &AWS{State: state, CA: ca, STS: sts, EKS: eks, IAM: iam, Proxy: startProxy(t, sts)}
}

// AWSOf makes the account of a scene the AWS of a cluster. It ends with its test, before the scene does.
func AWSOf(t testing.TB, scene *sandbox.Scene) *AWS {
	t.Helper()
	return &AWS{State: scene.State, CA: scene.CA, STS: scene.STS, EKS: scene.EKS, IAM: scene.IAM, Proxy: startProxy(t, scene.STS)}
}

func startProxy(t testing.TB, sts *sandbox.STS) *sandbox.Proxy {
	t.Helper()
	proxy, err := sandbox.NewProxy(sandbox.ProxyRoute{Host: "sts.*.amazonaws.com:443", Address: sts.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, proxy.Close()) })
	return proxy
}

// Setenv gives the rest of the test the environment of a process whose AWS is this account and which signs in as the user. It uses no proxy, finds no other credentials, and the injected region is
// one that nobody asked for.
func (a *AWS) Setenv(t testing.TB, user *sandbox.User) {
	t.Helper()
	dir := t.TempDir()
	for key, value := range map[string]string{
		"AWS_ENDPOINT_URL_STS": a.STS.URL(), "AWS_ENDPOINT_URL_EKS": a.EKS.URL(), "AWS_ENDPOINT_URL_IAM": a.IAM.URL(), "AWS_CA_BUNDLE": write(t, dir, "ca.pem", a.CA.PEM()),
		"AWS_ACCESS_KEY_ID": user.AccessKeyID, "AWS_SECRET_ACCESS_KEY": user.SecretKey, "AWS_SESSION_TOKEN": "",
		"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_PROFILE": "", "AWS_REGION": "ap-south-1", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": filepath.Join(dir, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"),
		"HTTPS_PROXY": "", "https_proxy": "", "NO_PROXY": "", "no_proxy": "",
	} {
		t.Setenv(key, value)
	}
}

// Client trusts the account's authority and uses no proxy.
func (a *AWS) Client() *http.Client { return trusting(a.CA) }

func closing(t testing.TB, err error) {
	if err != nil {
		t.Errorf("closing a server of the sandbox: %v", err)
	}
}
