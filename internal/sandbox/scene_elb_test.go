// The load balancer of the scene as the exporter's role reads it, and as a user reaches it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

func TestSceneLoadBalancer(t *testing.T) {
	s, err := NewScene(t.TempDir())
	must(t, err)
	defer func() { must(t, s.Close()) }()
	wantSame(t, s.Env["AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2"], s.ELB.URL())
	s.State.Change(func(st *State) {
		st.Sessions["ASIAEXPORTER"] = &Session{AccessKeyID: "ASIAEXPORTER", SecretKey: "a session's", SessionToken: "token", ARN: "arn:aws:sts::111122223333:assumed-role/eks-slo-exporter/x",
			UserID: "AROASCENEEXPORTER:x", AccountID: SceneAccount, Expires: time.Now().Add(time.Hour)}
	})
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.CA.Pool(), MinVersion: tls.VersionTLS12},
		DialContext:     (&net.Dialer{Resolver: s.DNS.Resolver()}).DialContext,
	}}
	defer client.CloseIdleConnections()
	api := elb.New(elb.Options{Region: SceneRegion, BaseEndpoint: aws.String(s.ELB.URL()), HTTPClient: plainBodies{client}, Retryer: aws.NopRetryer{},
		Credentials: provider(aws.Credentials{AccessKeyID: "ASIAEXPORTER", SecretAccessKey: "a session's", SessionToken: "token"})})
	for name, c := range map[string]struct {
		group string
		want  []string
	}{
		"shop": {SceneShopGroup, []string{"10.0.1.11:8080 eu-west-1a 8080 healthy ", "10.0.2.12:8080 eu-west-1b 8080 healthy ", "10.0.1.13:8080 eu-west-1a 8080 healthy "}},
		"web":  {SceneWebGroup, []string{"i-0aaaaaaaaaaaaaaa1:30080  30080 healthy ", "i-0bbbbbbbbbbbbbbb2:30080  30080 healthy "}},
	} {
		t.Run(name, func(t *testing.T) {
			health, err := api.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: &c.group})
			must(t, err)
			wantSame(t, healthLines(health), c.want)
			groups, err := api.DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{TargetGroupArns: []string{c.group}})
			must(t, err)
			wantSame(t, fmt.Sprint(*groups.TargetGroups[0].TargetGroupName, groups.TargetGroups[0].LoadBalancerArns), name+"["+SceneLoadBalancer+"]")
		})
	}
	w := albWorld{http: client}
	for _, host := range []string{SceneShopHost, SceneWebHost} {
		for _, url := range []string{s.ALB.URL(host), s.ALB.PlainURL(host)} {
			response, _, err := w.get(t.Context(), url)
			must(t, err)
			wantSame(t, response.StatusCode, 200)
		}
	}
}

// TestSceneDetach: the two listeners have rules of their own, so that a group that is taken out of both leaves the other one where it is.
func TestSceneDetach(t *testing.T) {
	s, err := NewScene(t.TempDir())
	must(t, err)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			must(t, err)
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		},
	}}
	defer func() { client.CloseIdleConnections(); must(t, s.Close()) }()
	s.State.Change(func(st *State) { st.DetachGroup(SceneShopGroup) })
	w := albWorld{http: client}
	shop, _, errShop := w.get(t.Context(), s.ALB.PlainURL(SceneShopHost))
	web, _, errWeb := w.get(t.Context(), s.ALB.PlainURL(SceneWebHost))
	must(t, errors.Join(errShop, errWeb))
	wantSame(t, []int{shop.StatusCode, web.StatusCode}, []int{404, 200})
}
