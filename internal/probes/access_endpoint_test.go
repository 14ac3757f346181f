// Tests of dialling, and of what follows when a cluster may have moved.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
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

// A cluster that was rebuilt under its name, while the former one is still up and refuses the token: the endpoint that the prober had kept is not blamed, the new one is asked.
func TestReviewFollowsAMovedCluster(t *testing.T) {
	moved := func() (chain.ClusterInfo, error) {
		info := healthyCluster()
		info.Endpoint, info.CA = movedEndpoint, []byte("new ca")
		return info, nil
	}
	refused := func(*fake) error { return &Unauthorized{} }
	for name, c := range map[string]struct {
		change func(*fake)
		there  func(*fake) error // what the review comes to at the new endpoint; nil: it is accepted
		want   string
		detail string
	}{
		"it gets in":             {func(*fake) {}, nil, healthy, ""},
		"it is not mapped there": {func(*fake) {}, refused, "failure access_entry/not_mapped ✔✔✔✔✖·", "no access entry"},
		"the new one cannot be reached": {func(f *fake) {
			f.dial = func(e Endpoint) error { return at(e, movedEndpoint, fail(chain.StepEndpoint, chain.ReasonTCPTimeout)) }
		}, nil, "failure endpoint/tcp_timeout ✔✔✔✖··", "as told"},
		"the new one cannot be dialled": {func(f *fake) {
			f.dial = func(e Endpoint) error {
				return at(e, movedEndpoint, chain.Unsure(chain.ReasonReadFailed, "no", nil, nil))
			}
		}, nil, "unknown access_entry/read_failed ✔✔✔✔?·", "no"},
		"the new one is not yet there": {func(f *fake) {
			f.cluster = func() (chain.ClusterInfo, error) { info, err := moved(); info.Status = "CREATING"; return info, err }
		}, nil, "failure token/cluster_not_active ✔✔✖✔··", "CREATING"},
		"EKS does not say where it is": {func(f *fake) { f.cluster = clusterFails(chain.ReasonEKSAPIThrottled) }, refused, "failure access_entry/unauthorized_unexplained ✔✔✔✔✖·", "could not be read: DescribeCluster: eks_api_throttled"},
		"it moves during the search":   {func(f *fake) { f.replayTakes, f.cluster = 6*time.Second, inTurnClusters(healthyCluster, moved) }, refused, "unknown access_entry/read_failed ✔✔✔✔?·", "the cluster moved during the run"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, target := newFake(), standardTarget(t)
				p := newProber(t, f)
				if run, _ := p.Run(t.Context(), target, time.Now()); verdict(run) != healthy {
					t.Fatalf("got %s", verdict(run))
				}
				time.Sleep(time.Minute)
				f.cluster, f.expires = moved, time.Now().Add(15*time.Minute)
				c.change(f)
				accept := f.review
				f.review = func(ctx context.Context) (chain.Review, error) {
					switch {
					case f.count("Dial "+movedEndpoint) == 0:
						return chain.Review{}, &Unauthorized{}
					case c.there != nil:
						return chain.Review{}, c.there(f)
					}
					return accept(ctx)
				}
				run, err := p.Run(t.Context(), target, time.Now())
				if got := verdict(run); err != nil || got != c.want || !strings.Contains(run.Verdict.Detail, c.detail) {
					t.Errorf("got  %s (%v): %s\nwant %s: …%s…", got, err, run.Verdict.Detail, c.want, c.detail)
				}
				checkVerdict(t, run)
				if dialled, closed := f.count("Dial "+endpoint)+f.count("Dial "+movedEndpoint), f.count("Close"); c.want == healthy && dialled != closed {
					t.Errorf("%d connections were opened, %d closed", dialled, closed)
				}
			})
		})
	}
}

// at is an error of one endpoint only.
func at(dialled Endpoint, url string, err error) error {
	if dialled.URL == url {
		return err
	}
	return nil
}

// inTurnClusters describes the cluster as the first does, then always as the second.
func inTurnClusters(first func() chain.ClusterInfo, then func() (chain.ClusterInfo, error)) func() (chain.ClusterInfo, error) {
	asked := 0
	return func() (chain.ClusterInfo, error) {
		if asked++; asked > 1 {
			return then()
		}
		return first(), nil
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
