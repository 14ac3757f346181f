// The ELBv2 API as the SDK reads it: who sees what, and pages.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	shopGroup = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef"
	tcpGroup  = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/tcp/00000000000000ac"
	freeGroup = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/free/00000000000000fe"
	shopALB   = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/shop-alb/50dc6c495c0c9188"
	tcpNLB    = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/net/tcp-nlb/50dc6c495c0c9189"
	farGroup  = "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/far/00000000000000fa"

	foreignAccount = "444455556666"
	foreignGroup   = "arn:aws:elasticloadbalancing:eu-west-1:444455556666:targetgroup/foreign/00000000000000f0"
	foreignRole    = "arn:aws:iam::444455556666:role/reader"
	controllerARN  = "arn:aws:iam::" + testAccount + ":role/controller"
)

// newELBAccount has an application load balancer with the group shop, a network one with the group tcp, a group that is free, one in another region and one in another account.
func newELBAccount(t *testing.T) *awsAccount {
	t.Helper()
	a := newAWSAccount(t)
	a.state.Change(func(s *State) {
		s.Users[testUser.AccessKeyID].ReadsELB = true
		s.Roles[deployARN].ReadsELB = true
		s.Roles[foreignRole] = &Role{ARN: foreignRole, RoleID: "AROAREADER", Trust: []Trust{{Principals: []string{userARN}}}, MaxSession: time.Hour, ReadsELB: true}
		s.Roles[controllerARN] = &Role{ARN: controllerARN, RoleID: "AROACONTROLLER", Trust: []Trust{{Principals: []string{userARN}}}, MaxSession: time.Hour, ReadsELB: true, ManagesELB: true}
		s.ELB = testBalancing(s.now().Add(-time.Hour))
	})
	return a
}

func testBalancing(registered time.Time) LoadBalancing {
	check := chain.HealthCheck{Enabled: true, Path: "/healthz", Matcher: "200-204", Interval: 10 * time.Second, Timeout: 4 * time.Second, HealthyThreshold: 3, UnhealthyThreshold: 2}
	targets := func(ids ...string) (list []*RegisteredTarget) {
		for _, id := range ids {
			list = append(list, &RegisteredTarget{ID: id, Port: 8080, Zone: zoneA, Registered: registered})
		}
		return list
	}
	var l LoadBalancing
	l.AddGroups(
		&TargetGroup{ARN: shopGroup, Protocol: "HTTP", Port: 8080, TargetType: chain.TargetTypeIP, Check: check, Targets: targets("10.0.1.11", "10.0.1.12"), Tags: map[string]string{"team": "shop", "env": "prod"}},
		&TargetGroup{ARN: tcpGroup, Protocol: "TCP", Port: 443, TargetType: chain.TargetTypeInstance, Check: chain.HealthCheck{Enabled: true, Port: "9000"}, Targets: targets("i-0123456789abcdef0")},
		&TargetGroup{ARN: freeGroup, Protocol: "HTTPS", Port: 8443, TargetType: chain.TargetTypeIP, Attributes: map[string]string{"deregistration_delay.timeout_seconds": "15"}},
		&TargetGroup{ARN: farGroup, Protocol: "HTTP", Port: 80, TargetType: chain.TargetTypeIP},
		&TargetGroup{ARN: foreignGroup, Protocol: "HTTP", Port: 80, TargetType: chain.TargetTypeIP},
	)
	l.AddLoadBalancers(
		&LoadBalancer{ARN: shopALB, Type: chain.LoadBalancerApplication, Scheme: "internet-facing", DNSName: "shop-alb-1.eu-west-1.elb.amazonaws.com", Zones: []string{zoneA, zoneB}, IdleTimeout: 30 * time.Second,
			Listeners: []*Listener{{Protocol: "HTTPS", Port: 443, Rules: []ListenerRule{{"shop.example.test", shopGroup}}}}},
		&LoadBalancer{ARN: tcpNLB, Type: chain.LoadBalancerNetwork, Scheme: "internal", Status: "active_impaired", DNSName: "tcp-nlb-1.elb.eu-west-1.amazonaws.com", Zones: []string{zoneA},
			Created: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), Listeners: []*Listener{{Protocol: "TCP", Port: 443, Rules: []ListenerRule{{"", tcpGroup}}}}},
	)
	return l
}

// elbClient is the SDK's client of the running API, with a user's or session's key.
func (a *awsAccount) elbClient(t *testing.T, c aws.Credentials, region string) *elb.Client {
	t.Helper()
	server, err := NewELB(a.state, a.ca)
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	return elb.New(elb.Options{Region: region, BaseEndpoint: aws.String(server.URL()), HTTPClient: plainBodies{a.http}, Retryer: aws.NopRetryer{}, Credentials: provider(c)})
}

// plainBodies hides every method of a request's body but Read: the SDK closes it when an answer begins, and its WriteTo then tells the transport of a failed write.
type plainBodies struct{ *http.Client }

// Do implements the SDK's HTTPClient.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	r.Body = struct{ io.ReadCloser }{r.Body}
	return c.Client.Do(r)
}

func names(groups []types.TargetGroup) []string {
	list := []string{}
	for _, g := range groups {
		list = append(list, *g.TargetGroupName)
	}
	return list
}

func TestDescribeTargetGroups(t *testing.T) {
	foreign := func(a *awsAccount, t *testing.T) aws.Credentials { return a.assume(t, foreignRole, "") }
	for name, c := range map[string]struct {
		creds  func(*awsAccount, *testing.T) aws.Credentials // the user's when nil
		region string
		input  elb.DescribeTargetGroupsInput
		want   []string
	}{
		"all of the account and region": {region: testRegion, want: []string{"free", "shop", "tcp"}},
		"another region":                {region: "us-east-1", want: []string{"far"}},
		"an empty region":               {region: "us-west-2", want: []string{}},
		"an assumed role's account":     {creds: foreign, region: testRegion, want: []string{"foreign"}},
		"a role of the own account": {
			creds: func(a *awsAccount, t *testing.T) aws.Credentials { return a.assume(t, deployARN, "") }, region: testRegion, want: []string{"free", "shop", "tcp"},
		},
		"by ARN":           {region: testRegion, input: elb.DescribeTargetGroupsInput{TargetGroupArns: []string{tcpGroup, freeGroup}}, want: []string{"free", "tcp"}},
		"by name":          {region: testRegion, input: elb.DescribeTargetGroupsInput{Names: []string{"shop"}}, want: []string{"shop"}},
		"by load balancer": {region: testRegion, input: elb.DescribeTargetGroupsInput{LoadBalancerArn: aws.String(tcpNLB)}, want: []string{"tcp"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newELBAccount(t)
			creds := testUser
			if c.creds != nil {
				creds = c.creds(a, t)
			}
			got, err := a.elbClient(t, creds, c.region).DescribeTargetGroups(t.Context(), &c.input)
			must(t, err)
			wantSame(t, names(got.TargetGroups), c.want)
		})
	}
}

func TestTargetGroupFields(t *testing.T) {
	a := newELBAccount(t)
	got, err := a.elbClient(t, testUser, testRegion).DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{})
	must(t, err)
	var list []string
	for _, g := range got.TargetGroups {
		matcher := ""
		if g.Matcher != nil {
			matcher = *g.Matcher.HttpCode
		}
		list = append(list, fmt.Sprint(*g.TargetGroupArn, " ", g.TargetType, " ", g.Protocol, " ", *g.Port, " ", g.LoadBalancerArns, " ", *g.HealthCheckEnabled, " ", g.HealthCheckProtocol, " ", *g.HealthCheckPort,
			" ", aws.ToString(g.HealthCheckPath), " ", matcher, " ", *g.HealthCheckIntervalSeconds, " ", *g.HealthCheckTimeoutSeconds, " ", *g.HealthyThresholdCount, " ", *g.UnhealthyThresholdCount))
	}
	wantSame(t, list, []string{
		freeGroup + " ip HTTPS 8443 [] false HTTPS traffic-port  200 30 5 5 2",
		shopGroup + " ip HTTP 8080 [" + shopALB + "] true HTTP traffic-port /healthz 200-204 10 4 3 2",
		tcpGroup + " instance TCP 443 [" + tcpNLB + "] true TCP 9000   30 5 5 2",
	})
}

// TestTargetGroupPages has more groups than a page holds, and behind one load balancer.
func TestTargetGroupPages(t *testing.T) {
	a := newELBAccount(t)
	var all []string
	a.state.Change(func(s *State) {
		s.ELB = testBalancing(s.now())
		for i := range 1000 {
			name := fmt.Sprintf("g%04d", i)
			all = append(all, name)
			s.ELB.AddGroups(&TargetGroup{ARN: "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/" + name + "/0", Protocol: "HTTP", Port: 80, TargetType: chain.TargetTypeIP})
		}
		for i := range 401 {
			s.AttachGroup(shopALB, "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/"+all[i]+"/0", all[i]+".example.test")
		}
	})
	client := a.elbClient(t, testUser, testRegion)
	for name, c := range map[string]struct {
		input elb.DescribeTargetGroupsInput
		want  []string
		pages int
	}{
		"default pages":        {want: append([]string{"free"}, append(slices.Clone(all), "shop", "tcp")...), pages: 3},
		"small pages":          {input: elb.DescribeTargetGroupsInput{PageSize: aws.Int32(301)}, want: append([]string{"free"}, append(slices.Clone(all), "shop", "tcp")...), pages: 4},
		"behind load balancer": {input: elb.DescribeTargetGroupsInput{LoadBalancerArn: aws.String(shopALB)}, want: append(slices.Clone(all[:401]), "shop"), pages: 2},
		"a page that is full":  {input: elb.DescribeTargetGroupsInput{Names: all[:400]}, want: all[:400], pages: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pager := elb.NewDescribeTargetGroupsPaginator(client, &c.input)
			var got []string
			pages := 0
			for ; pager.HasMorePages(); pages++ {
				page, err := pager.NextPage(t.Context())
				must(t, err)
				got = append(got, names(page.TargetGroups)...)
			}
			wantSame(t, got, c.want)
			wantSame(t, pages, c.pages)
		})
	}
}

// TestELBHosts: the certificate is for the hosts of AWS too, whose region must be that of the signature, and a signature for another service is refused.
func TestELBHosts(t *testing.T) {
	a := newELBAccount(t)
	server, err := NewELB(a.state, a.ca)
	must(t, err)
	defer func() { must(t, server.Close()) }()
	a.http.CloseIdleConnections()
	toServer := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.ca.Pool(), MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Addr())
		}}}
	defer toServer.CloseIdleConnections()
	client := func(region, endpoint string) *elb.Client {
		options := elb.Options{Region: region, HTTPClient: plainBodies{toServer}, Retryer: aws.NopRetryer{}, Credentials: provider(testUser)}
		if endpoint != "" {
			options.BaseEndpoint = &endpoint
		}
		return elb.New(options)
	}
	got, err := client(testRegion, "").DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{})
	must(t, err)
	wantSame(t, names(got.TargetGroups), []string{"free", "shop", "tcp"})
	_, err = client(testRegion, "https://elasticloadbalancing.us-east-1.amazonaws.com").DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{})
	wantAnswer(t, err, awsAnswer{403, "SignatureDoesNotMatch", "Credential should be scoped to a valid region, not 'eu-west-1'."})
	_, err = iam.New(iam.Options{Region: testRegion, BaseEndpoint: aws.String("https://elasticloadbalancing.eu-west-1.amazonaws.com"), HTTPClient: plainBodies{toServer}, Retryer: aws.NopRetryer{}, Credentials: provider(testUser)}).
		GetUser(t.Context(), &iam.GetUserInput{})
	wantAnswer(t, err, awsAnswer{400, "InvalidAction", "Could not find operation GetUser for version 2010-05-08"})
	a.state.Change(func(s *State) { s.Off["elasticloadbalancing"] = true })
	if _, err = client(testRegion, "").DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{}); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want a dropped connection", err)
	}
}

// TestELBAtOnce reads while the groups change.
func TestELBAtOnce(t *testing.T) {
	a := newELBAccount(t)
	client := a.elbClient(t, testUser, testRegion)
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			_, err := client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)})
			if err != nil {
				t.Error(err)
			}
		})
		running.Go(func() {
			a.state.Change(func(s *State) {
				s.TargetGroup(shopGroup).Register(&RegisteredTarget{ID: fmt.Sprint("10.0.2.", i), Port: 8080, Zone: zoneB})
				s.TargetGroup(shopGroup).Stop()
			})
		})
	}
	running.Wait()
	a.state.Change(func(s *State) { wantSame(t, len(s.TargetGroup(shopGroup).Targets), 6) })
}
