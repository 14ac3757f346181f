// Section target_groups: a good file becomes exactly these targets and discoveries, and the borders of its values.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

const elb = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/"

func TestTargetGroups(t *testing.T) {
	reader := chain.Identity{Name: "reader", Source: chain.SourceIRSA, SessionPolicy: chain.SessionPolicyDenyAll}
	balancers := chain.Identity{Name: "balancers", Source: chain.SourceIRSA, RoleARN: "arn:aws:iam::444455556666:role/balancers", SessionPolicy: chain.SessionPolicyDenyAll}
	china := chain.Identity{Name: "china", Source: chain.SourceIRSA, RoleARN: "arn:aws-cn:iam::111122223333:role/reader", SessionPolicy: chain.SessionPolicyDenyAll}
	prod := chain.Cluster{Name: "prod", Region: "eu-west-1", EKSName: "prod", Observer: "reader"}
	test := chain.Cluster{Name: "test", Region: "cn-north-1", EKSName: "test", Observer: "china"}
	target := func(name string, cluster chain.Cluster, group chain.TargetGroup) chain.Target {
		observers := map[string]chain.Identity{"prod": reader, "test": china}
		return chain.Target{
			Name: name, Kind: chain.KindALB, Cluster: cluster, Observer: observers[cluster.Name], Group: group, Interval: 30 * time.Second, Timeout: 10 * time.Second,
		}
	}
	shop := target("shop", prod, chain.TargetGroup{
		Region: "eu-west-1", ARN: elb + "shop/0123456789abcdef", Observer: balancers, MinHealthy: 1000,
		Binding: chain.BindingRef{Namespace: "shop", Name: "shop.v2"}, Labels: map[string]string{"team": "shop", "identity": "none"},
		Request: &chain.Request{
			URL: "https://shop.example.com:8443/healthz?deep=1", ExpectStatus: []int{200, 204}, ExpectBody: "^(ok|fine)", Host: "shop.example.com:8443", SNI: "shop.example.com",
			CAFile: "testdata/good/ca.pem", IPFamily: chain.IPFamily6, Timeout: 15 * time.Second,
		},
	})
	shop.Interval, shop.Timeout = time.Minute, 20*time.Second
	all := chain.Discovery{
		Name: "all-of-prod", BindingsOf: true, Template: target("", prod, chain.TargetGroup{Region: "eu-west-1", Observer: balancers, MinHealthy: 1}),
	}
	all.Template.Interval = 2 * time.Minute
	want := &Config{
		Groups: []chain.Target{
			target("api", chain.Cluster{}, chain.TargetGroup{
				Region: "eu-west-1", ARN: elb + "api/0123456789abcdef", Observer: reader, MinHealthy: 1,
				Request: &chain.Request{URL: "http://api.example.com", ExpectStatus: []int{200}, Timeout: 5 * time.Second},
			}),
			target("bound", prod, chain.TargetGroup{
				Region: "eu-west-1", Name: "bound", Observer: reader, MinHealthy: 1, Binding: chain.BindingRef{Namespace: "shop", Name: "bound"},
			}),
			shop,
			target("web", chain.Cluster{}, chain.TargetGroup{Region: "eu-west-1", Name: "k8s-shop-web-0a1b2c3d4e", Observer: balancers, MinHealthy: 1}),
		},
		Discoveries: []chain.Discovery{
			all,
			{
				Name: "china", BindingsOf: true,
				Template: target("", test, chain.TargetGroup{Region: "cn-north-1", Observer: china, MinHealthy: 2, Labels: map[string]string{"env": "test"}}),
			},
			{
				Name: "edge", LoadBalancer: "arn:aws:elasticloadbalancing:us-east-1:444455556666:loadbalancer/net/edge/50dc6c495c0c9188",
				Template: target("", chain.Cluster{}, chain.TargetGroup{Region: "us-east-1", Observer: balancers, MinHealthy: 1}),
			},
			{
				Name: "tagged", Tags: map[string]string{"team": "shop and api", "elbv2.k8s.aws/cluster": "prod", "empty": ""},
				Template: target("", chain.Cluster{}, chain.TargetGroup{Region: "us-east-1", Observer: balancers, MinHealthy: 1}),
			},
		},
		Identities:   map[string]chain.Identity{"reader": reader, "balancers": balancers, "china": china},
		Clusters:     map[string]chain.Cluster{"prod": prod, "test": test},
		Probe:        Probe{15 * time.Second, 10 * time.Second},
		AWSAPIBudget: AWSAPIBudget{EKSReadsPerSecond: 1, ELBReadsPerSecond: 2},
	}
	got, err := Load(filepath.Join("testdata", "good", "target_groups.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checkConfigs(t, want, got)
}

// The schedule of probe is that of access targets; a target group keeps its own defaults.
func TestTargetGroupsDoNotFollowProbe(t *testing.T) {
	for name, probe := range map[string]string{"shorter": "{interval: 5s, timeout: 3s}", "longer": "{interval: 5m, timeout: 4m}"} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("x.yaml", []byte("probe: "+probe+"\nidentities: [{name: r, source: irsa}]\ntarget_groups: [{name: a, observer: r, arn: "+elb+"a/0}]\n"))
			if err != nil {
				t.Fatal(err)
			}
			if target := got.Groups[0]; target.Interval != 30*time.Second || target.Timeout != 10*time.Second {
				t.Errorf("got interval %s and timeout %s", target.Interval, target.Timeout)
			}
		})
	}
}

func TestTargetGroupValues(t *testing.T) {
	const file = "identities: [{name: r, source: irsa}]\ntarget_groups: [{name: a, region: eu-west-1, observer: r, %s}]\n"
	checkValues(t, file, map[string]valueCase{
		"ARN":                          accepted("arn: " + elb + "a/0"),
		"ARN, longest name":            accepted("arn: " + elb + strings.Repeat("n", 32) + "/0123456789abcdef"),
		"ARN, name too long":           refused("arn: "+elb+strings.Repeat("n", 33)+"/0123456789abcdef", arnResource),
		"ARN without an id":            refused("arn: "+elb+"shop", arnResource),
		"ARN without a region":         refused(`arn: "arn:aws:elasticloadbalancing::111122223333:targetgroup/a/0"`, arnRegion),
		"ARN in a zone":                refused(`arn: "arn:aws:elasticloadbalancing:eu-west-1a:111122223333:targetgroup/a/0"`, arnRegion),
		"longest name":                 accepted("target_group_name: " + strings.Repeat("n", 32)),
		"name too long":                refused("target_group_name: "+strings.Repeat("n", 33), badGroupName),
		"name of one letter":           accepted("target_group_name: a"),
		"name ends with a hyphen":      refused("target_group_name: a-", badGroupName),
		"name begins with a hyphen":    refused("target_group_name: -a", badGroupName),
		"application load balancer":    accepted("load_balancer: " + balancer("app/a/0")),
		"gateway load balancer":        accepted("load_balancer: " + balancer("gwy/a/0")),
		"classic load balancer":        refused("load_balancer: "+balancer("a"), arnResource),
		"listener":                     refused(`load_balancer: "arn:aws:elasticloadbalancing:eu-west-1:111122223333:listener/app/a/0/1"`, arnResource),
		"longest tag":                  accepted("tags: {" + strings.Repeat("ü", 128) + ": " + strings.Repeat("ü", 256) + "}"),
		"tag key too long":             refused("tags: {"+strings.Repeat("k", 129)+": a}", tagTooLong),
		"tag value that is a number":   refused("tags: {a: 1}", diag.WrongType),
		"tags as a list":               refused("tags: [a]", diag.WrongType),
		"min_healthy, most":            accepted("target_group_name: a, min_healthy: 1000"),
		"min_healthy, too many":        refused("target_group_name: a, min_healthy: 1001", diag.BadWholeNumber),
		"min_healthy, negative":        refused("target_group_name: a, min_healthy: -1", diag.BadWholeNumber),
		"min_healthy, a fraction":      refused("target_group_name: a, min_healthy: 1.5", diag.BadWholeNumber),
		"min_healthy, hexadecimal":     refused("target_group_name: a, min_healthy: 0x2", diag.BadWholeNumber),
		"timeout above interval":       refused("target_group_name: a, timeout: 31s", timeoutAboveInterval),
		"timeout as long as interval":  accepted("target_group_name: a, timeout: 30s"),
		"label cluster":                refused("target_group_name: a, labels: {cluster: b}", reservedLabel),
		"label identity":               accepted("target_group_name: a, labels: {identity: b}"),
		"unknown observer":             refused("target_group_name: a, binding: {cluster: b, namespace: c, name: d}", unknownReference),
		"a key of a cluster":           refused("target_group_name: a, eks_name: b", diag.UnknownKey),
		"bindings_of no text":          refused("bindings_of: [a]", diag.WrongType),
		"an ARN that is given as null": refused("arn: ~", diag.NoValue),
	})
}

func balancer(resource string) string {
	return "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/" + resource
}

func TestBindingValues(t *testing.T) {
	const file = "clusters: [{name: c, region: eu-west-1, observer: r}]\nidentities: [{name: r, source: irsa}]\n" +
		"target_groups: [{name: a, target_group_name: a, binding: {cluster: c, %s}}]\n"
	checkValues(t, file, map[string]valueCase{
		"shortest":           accepted("namespace: a, name: b"),
		"longest":            accepted("namespace: " + strings.Repeat("n", 63) + ", name: " + strings.Repeat("n", 253)),
		"namespace too long": refused("namespace: "+strings.Repeat("n", 64)+", name: a", badKubernetesName),
		"name too long":      refused("namespace: a, name: "+strings.Repeat("n", 254), badKubernetesName),
		"namespace with dot": refused("namespace: a.b, name: a", badKubernetesName),
		"name with dots":     accepted("namespace: a, name: a.b-c.d"),
		"name ends with dot": refused("namespace: a, name: a.", badKubernetesName),
		"name in capitals":   refused("namespace: a, name: A", badKubernetesName),
		"path":               refused("namespace: a, name: ../../secrets", badKubernetesName),
	})
}

func TestRequestValues(t *testing.T) {
	const file = "identities: [{name: r, source: irsa}]\ntarget_groups: [{name: a, region: eu-west-1, observer: r, target_group_name: a, request: {%s}}]\n"
	const url = "url: 'https://a.example.com', "
	checkValues(t, file, map[string]valueCase{
		"by address":                     accepted("url: 'https://[2001:db8::1]:8443/', sni: a.example.com, host: '[2001:db8::1]:8443'"),
		"in capitals":                    accepted("url: 'HTTP://A.EXAMPLE.COM/'"),
		"TLS in capitals":                refused("url: 'HTTP://A.EXAMPLE.COM/', sni: a", httpsOnly),
		"without a host":                 refused("url: 'https:///healthz'", badURL),
		"port 0":                         refused("url: 'https://a:0/'", badURL),
		"control character":              refused(`url: "https://a/\n"`, badURL),
		"a user without a password":      refused("url: 'https://admin@a/'", badURL),
		"longest":                        accepted("url: 'https://a/" + strings.Repeat("p", longestURL-10) + "'"),
		"too long":                       refused("url: 'https://a/"+strings.Repeat("p", longestURL-9)+"'", textTooLong),
		"every status":                   accepted(url + "expect_status: [100, 599]"),
		"status below":                   refused(url+"expect_status: [99]", diag.BadWholeNumber),
		"status as text":                 refused(url+"expect_status: ['200']", diag.BadWholeNumber),
		"status twice":                   refused(url+"expect_status: [200, 204, 200]", diag.ListedTwice),
		"one status":                     refused(url+"expect_status: 200", diag.WrongType),
		"no status":                      refused(url+"expect_status: []", diag.NoValue),
		"an empty body":                  refused(url+"expect_body: ''", diag.NoValue),
		"pattern, longest":               accepted(url + "expect_body: " + strings.Repeat("a", longestPattern)),
		"pattern, RE2":                   accepted(url + `expect_body: '(?i)"status":\s*"up"\p{Greek}'`),
		"pattern with a look-behind":     refused(url+`expect_body: '(?<!a)b'`, badRegexp),
		"timeout just below the run's":   accepted(url + "timeout: 9999ms"),
		"timeout, shortest":              accepted(url + "timeout: 100ms"),
		"timeout, too short":             refused(url+"timeout: 99ms", durationTooShort),
		"timeout that is none":           refused(url+"timeout: soon", diag.BadDuration),
		"host with a space":              refused(url+"host: 'a b'", badHost),
		"host that would add a header":   refused(url+`host: "a\r\nX: y"`, badHost),
		"host with another port":         accepted(url + "host: 'a.example.com:8443'"),
		"either family":                  accepted(url + "ip_family: ipv4"),
		"no family":                      refused(url+"ip_family: IPv4", diag.UnknownChoice),
		"a missing authority":            refused(url+"ca_file: none.pem", fileUnusable),
		"headers, which may be a secret": refused(url+"headers: {a: b}", diag.UnknownKey),
		"a secret":                       refused(url+"access_token: b", secretKey),
	})
}

func TestWhereAPatternIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		pattern string
		column  int // of the problem, with expect_body at column 1
	}{
		"the second of two stars":   {"a*b(*)", 5},
		"at the very beginning":     {"*a", 1},
		"at the end":                {`ab\`, 4}, // just behind it
		"an escape":                 {`\d+\k`, 4},
		"a range":                   {"ab[z-a]", 4},
		"a bracket that stays open": {"ab[c", 3},
		"behind wide letters":       {"äöü(?<=x)", 4},
	} {
		t.Run(name, func(t *testing.T) {
			const before = `target_groups: [{name: a, region: eu-west-1, observer: r, target_group_name: a, request: {url: "https://a", expect_body: '`
			_, err := Parse("x.yaml", []byte(before+c.pattern+"'}}]\nidentities: [{name: r, source: irsa}]\n"))
			got := asProblems(t, err)[0]
			want := len(before) + c.column
			if c.column == 1 {
				want-- // the quote belongs to the whole
			}
			if got.Of != badRegexp || got.Column != want {
				t.Errorf("got column %d, want %d: %s", got.Column, want, got)
			}
		})
	}
}

func TestTheSameTargetGroupMayBeProbedInSeveralWays(t *testing.T) {
	const text = `
clusters: [{name: c, region: eu-west-1, observer: r}, {name: d, region: eu-west-1, observer: r}]
identities: [{name: r, source: irsa}, {name: s, source: irsa}]
target_groups:
  - {name: a, arn: ARN, observer: r}
  - {name: b, arn: ARN, binding: {cluster: c, namespace: n, name: b}}
  - {name: c, arn: ARN, binding: {cluster: d, namespace: n, name: b}}
  - {name: d, target_group_name: shop, region: eu-west-1, observer: r}
  - {name: e, target_group_name: shop, region: us-east-1, observer: r}
  - {name: f, target_group_name: shop, region: us-east-1, observer: s}
  - {name: g, tags: {a: b}, region: us-east-1, observer: s}
  - {name: h, tags: {a: c}, region: us-east-1, observer: s}
  - {name: i, bindings_of: c}
  - {name: j, bindings_of: d}
`
	got, err := Parse("x.yaml", []byte(strings.ReplaceAll(text, "ARN", elb+"shop/0")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{6, 4}, []int{len(got.Groups), len(got.Discoveries)}); diff != "" {
		t.Errorf("numbers differ (-want +got):\n%s", diff)
	}
	for name, entry := range map[string]string{
		"ARN":   "{name: k, arn: ARN, observer: s}",
		"bound": "{name: k, arn: ARN, region: eu-west-1, observer: s, binding: {cluster: d, namespace: n, name: b}}",
		"name":  "{name: k, target_group_name: shop, region: us-east-1, observer: s}",
		"tags":  "{name: k, tags: {a: c}, region: us-east-1, observer: s}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(strings.ReplaceAll(text+"  - "+entry+"\n", "ARN", elb+"shop/0")))
			if problems := asProblems(t, err); len(problems) != 1 || problems[0].Of != duplicateGroup {
				t.Errorf("got %s", problems)
			}
		})
	}
}
