// Tests of finding the cluster and of the authenticator's rules for tokens.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestMakeToken(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("own ca"), 0o600); err != nil {
		t.Fatal(err)
	}
	describe := func(change func(*chain.ClusterInfo)) func() (chain.ClusterInfo, error) {
		return func() (chain.ClusterInfo, error) {
			info := healthyCluster()
			change(&info)
			return info, nil
		}
	}
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
	}{
		"session already over": {func(f *fake, _ *chain.Target) { f.expires = time.Now().Add(-time.Second) },
			"failure token/token_signing_credentials_expired ✔✔✖···"},
		"token past its quarter hour": {func(f *fake, _ *chain.Target) {
			f.signed, f.expires = time.Now().Add(-16*time.Minute), time.Now().Add(time.Hour)
		},
			"failure token/token_expired ✔✔✖···"},
		"host of another region": {func(f *fake, _ *chain.Target) { f.host = "sts.amazonaws.com" }, "failure token/token_malformed ✔✔✖···"},
		"cluster gone": {func(f *fake, _ *chain.Target) {
			f.cluster = func() (chain.ClusterInfo, error) {
				return chain.ClusterInfo{}, fail(chain.StepToken, chain.ReasonClusterNotFound)
			}
		}, "failure token/cluster_not_found ✔✔✖···"},
		"cluster of another account": {func(_ *fake, tg *chain.Target) { tg.Cluster.AccountID = "444455556666" },
			"failure token/cluster_account_mismatch ✔✔✖···"},
		"cluster of the given account": {func(_ *fake, tg *chain.Target) { tg.Cluster.AccountID = "111122223333" }, healthy},
		"cluster being made": {func(f *fake, _ *chain.Target) {
			f.cluster = describe(func(i *chain.ClusterInfo) { i.Status = "CREATING" })
		}, "failure token/cluster_not_active ✔✔✖···"},
		"cluster being updated serves": {func(f *fake, _ *chain.Target) {
			f.cluster = describe(func(i *chain.ClusterInfo) { i.Status = "UPDATING" })
		}, healthy},
		"all configured: EKS is not asked": {func(f *fake, tg *chain.Target) {
			f.cluster = clusterFails(chain.ReasonObserverDenied)
			tg.Cluster.Endpoint, tg.Cluster.CAFile = endpoint, ca
		}, healthy},
		"CA file gone since the configuration was read": {func(_ *fake, tg *chain.Target) { tg.Cluster.Endpoint, tg.Cluster.CAFile = endpoint, ca+".gone" },
			"unknown token/read_failed ✔✔?···"},
		"something else in the CA file's place": {func(_ *fake, tg *chain.Target) { tg.Cluster.CAFile = filepath.Dir(ca) }, "unknown token/read_failed ✔✔?···"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			c.change(f, &target)
			run := probe(t, f, target)
			if got := verdict(run); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if run.Verdict.Reason == chain.ReasonReadFailed && !strings.HasPrefix(run.Verdict.Detail, "reading ca_file "+target.Cluster.CAFile+": ") {
				t.Errorf("detail %q", run.Verdict.Detail)
			}
		})
	}
}

func TestTokenShape(t *testing.T) {
	good := "Action=GetCallerIdentity&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"
	cases := map[string]struct{ raw, want string }{
		"good":             {"https://sts.eu-west-1.amazonaws.com/?" + good, ""},
		"scheme":           {"http://sts.eu-west-1.amazonaws.com/?" + good, "its URL begins http://…/, not https://…/"},
		"path":             {"https://sts.eu-west-1.amazonaws.com/x?" + good, "its URL begins https://…/x, not https://…/"},
		"region":           {"https://sts.us-east-1.amazonaws.com/?" + good, "its STS host sts.us-east-1.amazonaws.com is not the one of region eu-west-1"},
		"twice":            {"https://sts.eu-west-1.amazonaws.com/?" + good + "&action=GetCallerIdentity", "its URL has"},
		"unlisted":         {"https://sts.eu-west-1.amazonaws.com/?" + good + "&x-id=1", `its URL has the parameter "x-id", which is not on the authenticator's list`},
		"action":           {"https://sts.eu-west-1.amazonaws.com/?Action=AssumeRole", "its URL does not ask GetCallerIdentity"},
		"header":           {"https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&X-Amz-SignedHeaders=host", "the header x-k8s-aws-id is not signed"},
		"expires":          {"https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&X-Amz-SignedHeaders=x-k8s-aws-id&X-Amz-Expires=901", "X-Amz-Expires is not between 0 and 900"},
		"date":             {"https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&X-Amz-SignedHeaders=x-k8s-aws-id&X-Amz-Expires=60&X-Amz-Date=now", "X-Amz-Date is missing or no date"},
		"malformed query":  {"https://sts.eu-west-1.amazonaws.com/?%zz", "its URL has a malformed query"},
		"not a URL at all": {"https://[", "it holds no URL"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { compareShape(t, tokenPrefix+encode(c.raw), c.want) })
	}
	for name, c := range map[string]struct{ value, want string }{
		"prefix": {"v1.abc", "its prefix is not k8s-aws-v1"},
		"base64": {tokenPrefix + "a=", "it is not unpadded base64url"},
		"size":   {tokenPrefix + string(make([]byte, 4096)), "it has 4107 bytes, more than 4096 (a long session token or session tags make it so)"},
	} {
		t.Run(name, func(t *testing.T) { compareShape(t, c.value, c.want) })
	}
}
