// Tests of the sentence that tells a security group from an allow-list.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestClosedWay(t *testing.T) {
	const (
		private, public = "10.0.1.7:443, 10.0.2.9:443", "54.1.2.3:443"
		group           = "; the address is private, so it is the cluster's security group, which must admit the exporter to the private endpoint, or the route to it"
	)
	both := chain.ClusterInfo{Endpoint: endpoint, Public: true, Private: true, PublicIPs: []string{"198.51.100.0/24", "203.0.113.7/32"}}
	for name, c := range map[string]struct {
		change  func(*chain.ClusterInfo)
		dialled string
		facts   chain.Facts
		want    string
	}{
		"C49 private": {nil, endpoint, chain.Facts{chain.FactAddress: private}, group},
		"C50 public": {nil, endpoint, chain.Facts{chain.FactAddress: public},
			"; the address is public, so it is publicAccessCidrs of the public endpoint, which admits 198.51.100.0/24, 203.0.113.7/32, or the exporter's own way out"},
		"public, and open to all": {func(i *chain.ClusterInfo) { i.PublicIPs = []string{"0.0.0.0/0"} }, endpoint, chain.Facts{chain.FactAddress: public},
			"; the address is public, and publicAccessCidrs admits everybody, so it is the exporter's own way out"},
		"public, and the list is not told": {func(i *chain.ClusterInfo) { i.PublicIPs = nil }, endpoint, chain.Facts{chain.FactAddress: public}, ""},
		"private, but off":                 {func(i *chain.ClusterInfo) { i.Private = false }, endpoint, chain.Facts{chain.FactAddress: private}, "; the address is private, though EKS says that the private endpoint is off"},
		"public, but off":                  {func(i *chain.ClusterInfo) { i.Public = false }, endpoint, chain.Facts{chain.FactAddress: public}, "; the address is public, though EKS says that the public endpoint is off"},
		"a private IPv6 address":           {nil, endpoint, chain.Facts{chain.FactAddress: "[fd00::7]:443"}, group},
		"both kinds":                       {nil, endpoint, chain.Facts{chain.FactAddress: private + ", " + public}, ""},
		"loopback":                         {nil, endpoint, chain.Facts{chain.FactAddress: "127.0.0.1:443"}, ""},
		"no address":                       {nil, endpoint, nil, ""},
		"a proxy's address":                {nil, endpoint, chain.Facts{chain.FactAddress: private, chain.FactProxy: "http://proxy:3128"}, ""},
		"a load balancer of one's own":     {nil, "https://lb.example.com", chain.Facts{chain.FactAddress: private}, ""},
		"EKS was not asked":                {func(i *chain.ClusterInfo) { *i = chain.ClusterInfo{} }, endpoint, chain.Facts{chain.FactAddress: private}, ""},
		"EKS did not tell":                 {func(i *chain.ClusterInfo) { *i = healthyCluster() }, endpoint, chain.Facts{chain.FactAddress: private}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			info := both
			if c.change != nil {
				c.change(&info)
			}
			if got := closedWay(info, Endpoint{URL: c.dialled}, c.facts); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The sentence ends the detail of tcp_timeout, and of that reason alone.
func TestTimeoutTellsTheClosedWay(t *testing.T) {
	for reason, want := range map[chain.Reason]bool{chain.ReasonTCPTimeout: true, chain.ReasonTCPRefused: false} {
		f := newFake()
		f.cluster = func() (chain.ClusterInfo, error) {
			info := healthyCluster()
			info.Private = true
			return info, nil
		}
		f.address, f.dial = "10.0.1.7:443", func(Endpoint) error { return fail(chain.StepEndpoint, reason) }
		run := probe(t, f, standardTarget(t))
		if got := strings.Contains(run.Verdict.Detail, "as told; the address is private, so it is the cluster's security group"); got != want || run.Verdict.Reason != reason {
			t.Errorf("%s: %s", verdict(run), run.Verdict.Detail)
		}
	}
}
