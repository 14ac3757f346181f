// Tests of dialling, and of what follows when a cluster may have moved.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const movedEndpoint = "https://DEF.gr7.eu-west-1.eks.amazonaws.com"

func TestDial(t *testing.T) {
	only := func(reachable string, reason chain.Reason) func(Endpoint) error {
		return func(e Endpoint) error {
			if e.URL == reachable {
				return nil
			}
			return fail(chain.StepEndpoint, reason)
		}
	}
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
	}{
		"refused, and nowhere else to go": {func(f *fake, _ *chain.Target) { f.dial = only("", chain.ReasonTCPRefused) }, "failure endpoint/tcp_refused ✔✔✔✖··"},
		"C53 the configured endpoint is withdrawn": {func(f *fake, tg *chain.Target) {
			tg.Cluster.Endpoint = "https://OLD.yl4.eu-west-1.eks.amazonaws.com"
			f.dial = only(endpoint, chain.ReasonDNSNXDomain)
		}, "failure endpoint/endpoint_stale ✔✔✔✖··"},
		"a configured endpoint that EKS names too is not stale": {func(f *fake, tg *chain.Target) {
			tg.Cluster.Endpoint = endpoint
			f.dial = only("", chain.ReasonDNSNXDomain)
		}, "failure endpoint/dns_nxdomain ✔✔✔✖··"},
		"a proxy's refusal is no sign of a move": {func(f *fake, tg *chain.Target) {
			tg.Cluster.Endpoint = "https://OLD.yl4.eu-west-1.eks.amazonaws.com"
			f.dial = only("", chain.ReasonProxyDenied)
		}, "failure endpoint/proxy_denied ✔✔✔✖··"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			c.change(f, &target)
			if got := verdict(probe(t, f, target)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A cluster that was rebuilt under its name is found again by the same run: EKS is read anew after the failure, and the new endpoint is tried once.
func TestDialFollowsAMovedCluster(t *testing.T) {
	f, target := newFake(), standardTarget(t)
	now := time.Now()
	p := newProber(t, f)
	p.Now, p.clusters.now = func() time.Time { return now }, func() time.Time { return now }
	if run, _ := p.Run(t.Context(), target, now); verdict(run) != healthy {
		t.Fatalf("got %s", verdict(run))
	}
	now = now.Add(time.Minute)
	f.cluster = func() (chain.ClusterInfo, error) {
		info := healthyCluster()
		info.Endpoint, info.CA = movedEndpoint, []byte("new ca")
		return info, nil
	}
	f.dial = func(e Endpoint) error {
		if e.URL == movedEndpoint && string(e.CA) == "new ca" {
			return nil
		}
		return fail(chain.StepEndpoint, chain.ReasonDNSNXDomain)
	}
	f.signed = now
	f.expires = now.Add(15 * time.Minute)
	run, err := p.Run(t.Context(), target, now)
	if err != nil || verdict(run) != healthy {
		t.Fatalf("got %s (%v): %+v", verdict(run), err, run.Verdict)
	}
	if got := run.Facts()[chain.FactClusterRead]; got != "refreshed after dns_nxdomain" {
		t.Errorf("cluster_read is %q", got)
	}
	if got := f.count("DescribeCluster"); got != 2 {
		t.Errorf("DescribeCluster was asked %d times, want 2", got)
	}
}
