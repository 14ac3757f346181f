// The ELB reads against a real ELBv2 API on loopback, with signed calls and an observer that assumes a role.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// elbWorld has a load balancer that forwards to the group shop, and the group web, to which nothing does. Its observer reads with the reader role.
func elbWorld(t *testing.T) (*world, chain.Target) {
	t.Helper()
	w := newWorld(t)
	w.key()
	w.state.Change(func(s *sandbox.State) {
		s.ELB.AddGroups(
			&sandbox.TargetGroup{
				ARN: shopARN, Protocol: "HTTP", Port: 8080, TargetType: chain.TargetTypeIP, Check: chain.HealthCheck{Enabled: true, Path: "/healthz"}, Tags: map[string]string{"team": "shop"},
				Attributes: map[string]string{minHealthyPercent: "50"},
				Targets: []*sandbox.RegisteredTarget{
					{ID: "10.0.1.11", Port: 8080, Zone: "eu-west-1a", Registered: time.Now().Add(-time.Hour), Anomalous: true, Mitigated: true},
					{ID: "10.0.2.12", Port: 8080, Zone: "eu-west-1b", Registered: time.Now().Add(-time.Hour), Pin: &sandbox.PinnedHealth{State: chain.TargetUnhealthy, Code: chain.CodeInternalError}},
				},
			},
			&sandbox.TargetGroup{ARN: webARN, Protocol: "HTTP", Port: 30080, TargetType: chain.TargetTypeInstance, Tags: map[string]string{"team": "web"}})
		s.ELB.AddLoadBalancers(&sandbox.LoadBalancer{
			ARN: albARN, Type: chain.LoadBalancerApplication, Scheme: "internet-facing", DNSName: "shop-alb.example.com", Zones: []string{"eu-west-1a", "eu-west-1b"}, Shifted: "eu-west-1a",
			Listeners: []*sandbox.Listener{{Protocol: "HTTP", Port: 80, Rules: []sandbox.ListenerRule{{Group: shopARN}}}},
		})
	})
	target := group("", "shop")
	target.Group.Observer.Hops = []chain.Hop{{RoleARN: readerARN}}
	return w, target
}

func TestELBWorld(t *testing.T) {
	w, target := elbWorld(t)
	info, err := w.client.Group(t.Context(), target)
	must(t, err)
	wantSame(t, []any{info.ARN, info.TargetType, info.Protocol, info.Check.Enabled, info.Check.Path}, []any{shopARN, "ip", "HTTP", true, "/healthz"})
	wantSame(t, info.LoadBalancers, []chain.LoadBalancer{{
		ARN: albARN, Name: "shop-alb", Type: chain.LoadBalancerApplication, State: chain.LoadBalancerActive, Zones: []string{"eu-west-1a", "eu-west-1b"},
	}})
	health, err := w.client.Health(t.Context(), target, info.ARN)
	must(t, err)
	for i := range health {
		health[i].Description = ""
	}
	wantSame(t, health, []chain.TargetHealth{
		{ID: "10.0.1.11", Port: 8080, Zone: "eu-west-1a", State: chain.TargetHealthy, Override: "zonal_shift_active", Anomalous: true, Mitigated: true},
		{ID: "10.0.2.12", Port: 8080, Zone: "eu-west-1b", State: chain.TargetUnhealthy, Code: chain.CodeInternalError, Override: "no_override"},
	})
	attributes, err := w.client.Attributes(t.Context(), target, info.ARN)
	must(t, err)
	wantSame(t, attributes, chain.GroupAttributes{MinHealthyCount: 1, MinHealthyPercent: 50})
	empty, err := w.client.Health(t.Context(), target, webARN)
	must(t, err)
	wantSame(t, len(empty), 0)

	found, err := w.client.Groups(t.Context(), chain.Discovery{Name: "shops", LoadBalancer: albARN, Template: target})
	must(t, err)
	wantSame(t, names(found), []string{"shop"})
	found, err = w.client.Groups(t.Context(), chain.Discovery{Name: "shops", Tags: map[string]string{"team": "web"}, Template: target})
	must(t, err)
	wantSame(t, names(found), []string{"web"})
	wantSame(t, []int{w.state.Count("AssumeRole"), w.state.Count(opDescribeTargetGroups), w.state.Count(opDescribeLoadBalancers)}, []int{1, 1, 1})
}

// More than a page of groups: every one is found.
func TestELBWorldPages(t *testing.T) {
	w, target := elbWorld(t)
	w.state.Change(func(s *sandbox.State) {
		for i := range 2*pageSize + 1 {
			s.ELB.AddGroups(&sandbox.TargetGroup{ARN: numbered(i), Protocol: "HTTP", Port: 80, TargetType: chain.TargetTypeIP})
		}
	})
	target.Group.Name = fmt.Sprintf("group-%03d", 2*pageSize)
	_, err := w.client.Group(t.Context(), target)
	must(t, err)
	wantSame(t, w.state.Count(opDescribeTargetGroups), 3)
}

// What ELB refuses, in its own words.
func TestELBWorldRefusals(t *testing.T) {
	missing := failure(chain.StepRegistration, chain.ReasonTargetGroupMissing)
	for name, c := range map[string]struct {
		arn    string
		change func(*sandbox.State)
		want   verdict
		detail string
		action string
	}{
		"C71: gone":       {strings.Replace(shopARN, "0123", "9876", 1), nil, missing, "TargetGroupNotFound: Target groups '", ""},
		"no ARN":          {"shop", nil, missing, "'shop' is not a valid target group ARN", ""},
		"another account": {strings.Replace(shopARN, account, "444455556666", 1), nil, unknown(chain.ReasonObserverUnavailable), "another account", ""},
		"C73: throttled":  {shopARN, func(s *sandbox.State) { s.Throttle[opDescribeTargetHealth] = true }, unknown(chain.ReasonELBAPIThrottled), "Rate exceeded", ""},
		"fails":           {shopARN, func(s *sandbox.State) { s.Failing[opDescribeTargetHealth] = true }, unknown(chain.ReasonObserverUnavailable), "500", ""},
		"off":             {shopARN, func(s *sandbox.State) { s.Off["elasticloadbalancing"] = true }, unknown(chain.ReasonObserverUnavailable), "no answer, while ", ""},
		"may not read":    {shopARN, func(s *sandbox.State) { s.Roles[readerARN].ReadsELB = false }, unknown(chain.ReasonObserverDenied), "AccessDenied", "elasticloadbalancing:DescribeTargetHealth"},
		"may not be":      {shopARN, func(s *sandbox.State) { s.Roles[readerARN].Trust = nil }, unknown(chain.ReasonObserverUnavailable), "the observer reader could not sign in: sts/assume_role_denied", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, target := elbWorld(t)
			if c.change != nil {
				w.state.Change(c.change)
			}
			target.Group.ARN = c.arn
			_, err := w.client.Health(t.Context(), target, c.arn)
			e := wantVerdict(t, err, c.want)
			wantText(t, e.Detail, c.detail)
			wantSame(t, e.Facts[chain.FactAction], c.action)
		})
	}
}

// An observer's role of another account asks for the external id that the binding names; two bindings with other ids share nothing.
func TestELBWorldExternalID(t *testing.T) {
	w, target := elbWorld(t)
	w.state.Change(func(s *sandbox.State) { s.Roles[readerARN].Trust[0].ExternalID = external })
	with := func(id string) error {
		target.Group.Observer.Hops = []chain.Hop{{RoleARN: readerARN, ExternalID: chain.NewSecret(id)}}
		_, err := w.client.Group(t.Context(), target)
		return err
	}
	must(t, with(external))
	e := wantVerdict(t, with("another"), unknown(chain.ReasonObserverUnavailable))
	wantText(t, e.Detail, "sts/assume_role_denied")
	wantSame(t, e.Facts[chain.FactExternalID], "sent, from the TargetGroupBinding")
	must(t, with(external))
	wantSame(t, w.state.Count(opDescribeTargetGroups), 1)
}

// handled is a handler as a client, for tests whose time is not the machine's.
type handled struct{ http.Handler }

// Do implements aws.HTTPClient.
func (h handled) Do(request *http.Request) (*http.Response, error) {
	recorder, served := httptest.NewRecorder(), request.Clone(request.Context())
	served.Host, served.RequestURI = request.URL.Host, request.URL.RequestURI() // as a server sees it
	h.ServeHTTP(recorder, served)
	return recorder.Result(), nil
}

// C73: ELB's bucket, of 40 reads that refill by 10 a second, is never empty while the budget is heeded; without one, most of the groups are not told of.
func TestELBWorldBudget(t *testing.T) {
	for perSecond, throttled := range map[float64]int{2: 0, 1000: 260} {
		w, _ := elbWorld(t) // with a full bucket
		synctest.Test(t, func(t *testing.T) {
			client := w.newClient(func(o *Options) { o.HTTPClient, o.ELBReadsPerSecond = handled{sandbox.ELBHandler(w.state)}, perSecond })
			began, refused := time.Now(), 0
			for range 300 {
				if _, err := client.Health(t.Context(), group(shopARN, ""), shopARN); err != nil {
					wantVerdict(t, err, unknown(chain.ReasonELBAPIThrottled))
					refused++
				}
			}
			wantSame(t, refused, throttled)
			if perSecond == 2 {
				wantSame(t, time.Since(began), 295*time.Second/2)
			}
		})
	}
}
