// What is generated for a fleet is compared as a whole; the rest are the cases in which less is known.
//
// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func fleet(t *testing.T) Probes {
	t.Helper()
	cfg, err := config.Load(filepath.Join("testdata", "fleet.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return Probes{Targets: append(cfg.Access, cfg.Groups...), Discoveries: cfg.Discoveries}
}

func TestFleet(t *testing.T) {
	probes := fleet(t)
	for name, write := range map[string]func(io.Writer) error{
		"iam.json":  func(w io.Writer) error { return WriteIAM(w, IAM(probes)) },
		"rbac.yaml": func(w io.Writer) error { return WriteRBAC(w, RBAC(probes)) },
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", name, diff)
			}
		})
	}
}

const (
	reader = "arn:aws:iam::111122223333:role/reader"
	deploy = "arn:aws:iam::111122223333:role/deploy"
)

// target is an access target in eu-west-1 whose account is not configured.
func target(identity, observer chain.Identity) chain.Target {
	return chain.Target{Kind: chain.KindAccess, Identity: identity, Observer: observer, Cluster: chain.Cluster{Name: "prod", Region: "eu-west-1", EKSName: "prod", Observer: observer.Name}}
}

// told is a policy in short: a line for each action on each resource.
func told(policies []Policy) []string {
	var lines []string
	for _, p := range policies {
		for _, s := range p.Document.Statement {
			for _, resource := range s.Resource {
				lines = append(lines, fmt.Sprintf("%s (%s): %s on %s", p.Principal, strings.Join(p.Identities, " "), strings.Join(s.Action, " "), resource))
			}
		}
	}
	return lines
}

func TestIAM(t *testing.T) {
	observer := chain.Identity{Name: "reader", Source: chain.SourceIRSA, RoleARN: reader}
	unknown := chain.Identity{Name: "reader", Source: chain.SourceInstanceProfile}
	const (
		cluster = "eks:DescribeCluster eks:ListAccessEntries on arn:aws:eks:eu-west-1:%s:cluster/prod"
		entries = "eks:DescribeAccessEntry eks:ListAssociatedAccessPolicies on arn:aws:eks:eu-west-1:%s:access-entry/prod/*"
	)
	reads := func(who, account string) []string {
		return []string{who + fmt.Sprintf(cluster, account), who + fmt.Sprintf(entries, account)}
	}
	for name, c := range map[string]struct {
		identity, observer chain.Identity
		want               []string
	}{
		"nobody reads": {identity: chain.Identity{Name: "job", Source: chain.SourceEnvironment}},
		"the observer's account is the cluster's": {
			chain.Identity{Name: "deploy", Source: chain.SourceIRSA, RoleARN: deploy}, observer,
			append(reads(reader+" (reader): ", "111122223333"), reader+" (reader): iam:GetRole on "+deploy),
		},
		"a user under test": {
			chain.Identity{Name: "job", Source: chain.SourceEnvironment, ExpectPrincipal: "arn:aws:iam::111122223333:user/ci/job"}, observer,
			append(reads(reader+" (reader): ", "111122223333"), reader+" (reader): iam:GetUser on arn:aws:iam::111122223333:user/ci/job"),
		},
		"IAM knows no other account's principals": {
			chain.Identity{Name: "deploy", Source: chain.SourceIRSA, RoleARN: "arn:aws:iam::444455556666:role/deploy"}, observer,
			reads(reader+" (reader): ", "111122223333"),
		},
		"anybody under test": {
			chain.Identity{Name: "job", Source: chain.SourceEnvironment}, observer,
			append(reads(reader+" (reader): ", "111122223333"),
				reader+" (reader): iam:GetRole iam:GetUser on arn:aws:iam::111122223333:role/*", reader+" (reader): iam:GetRole iam:GetUser on arn:aws:iam::111122223333:user/*"),
		},
		"any role, and an observer of whom nothing is known": {
			chain.Identity{Name: "pod", Source: chain.SourcePodIdentity}, unknown,
			append(reads("the role of the instance profile (reader): ", "*"), "the role of the instance profile (reader): iam:GetRole on arn:aws:iam::*:role/*"),
		},
		"hops are walked one after another, from whom another identity tells": {
			chain.Identity{Name: "deploy", Source: chain.SourceInstanceProfile, Hops: []chain.Hop{{RoleARN: reader}, {RoleARN: deploy}}},
			chain.Identity{Name: "node", Source: chain.SourceInstanceProfile, ExpectPrincipal: "arn:aws:iam::111122223333:role/node"},
			append(append([]string{"arn:aws:iam::111122223333:role/node (deploy node): sts:AssumeRole on " + reader}, reads("arn:aws:iam::111122223333:role/node (deploy node): ", "111122223333")...),
				"arn:aws:iam::111122223333:role/node (deploy node): iam:GetRole on "+deploy, reader+" (deploy): sts:AssumeRole on "+deploy),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := told(IAM(Probes{Targets: []chain.Target{target(c.identity, c.observer)}}))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("policies differ (-want +got):\n%s", diff)
			}
		})
	}
}

// EKS' own account goes before the observer's, and that before none.
func TestAccountOfACluster(t *testing.T) {
	known := chain.Identity{Source: chain.SourceIRSA, RoleARN: reader}
	for name, c := range map[string]struct {
		cluster  chain.Cluster
		observer chain.Identity
		want     string
	}{
		"configured": {chain.Cluster{AccountID: "444455556666"}, known, "444455556666"},
		"observer's": {chain.Cluster{}, known, "111122223333"},
		"unknown":    {chain.Cluster{}, chain.Identity{Source: chain.SourceIRSA}, "*"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := accountOf(c.cluster, c.observer); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What one identity's origin tells must not be said of another's.
func TestOriginsAreToldApart(t *testing.T) {
	seen := map[string]chain.Identity{}
	for _, identity := range []chain.Identity{
		{Source: chain.SourceIRSA}, {Source: chain.SourceIRSA, TokenFile: "/token"}, {Source: chain.SourceIRSA, RoleARN: reader}, {Source: chain.SourcePodIdentity}, {Source: chain.SourceInstanceProfile},
		{Source: chain.SourceProfile, Profile: "a"}, {Source: chain.SourceProfile, Profile: "b"}, {Source: chain.SourceEnvironment}, {Source: chain.SourceDefault},
	} {
		name := newPrincipals(Probes{}).base(identity)
		if other, twice := seen[name]; twice || name == "" || name == "unknown" {
			t.Errorf("%q stands for %+v and %+v", name, identity, other)
		}
		seen[name] = identity
	}
}

func TestELBReadsAreBoundToTheirRegions(t *testing.T) {
	group := func(region string) chain.Target {
		return chain.Target{Kind: chain.KindALB, Group: chain.TargetGroup{Region: region, Observer: chain.Identity{Name: "reader", Source: chain.SourceIRSA, RoleARN: reader}}}
	}
	got := IAM(Probes{Targets: []chain.Target{group("eu-west-1"), group("us-east-1")}})
	want := []Policy{{Principal: reader, Identities: []string{"reader"}, Document: Document{Version: "2012-10-17", Statement: []Statement{{
		Sid: "ReadTargetGroups", Effect: "Allow", Resource: []string{"*"},
		Action: []string{
			"elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeTargetGroupAttributes", "elasticloadbalancing:DescribeTargetGroups",
			"elasticloadbalancing:DescribeTargetHealth",
		},
		Condition: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"eu-west-1", "us-east-1"}}},
	}}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policies differ (-want +got):\n%s", diff)
	}
}

// What internal/awsapi calls with an observer's session is what the policies allow: a call that is added there without a permission would be refused everywhere.
func TestPoliciesAllowWhatIsCalled(t *testing.T) {
	probes := fleet(t)
	user := probes.Targets[1]
	user.Identity = chain.Identity{Name: "user", Source: chain.SourceEnvironment, ExpectPrincipal: "arn:aws:iam::111122223333:user/ci"}
	probes.Targets = append(probes.Targets, user)
	allowed, called := set{}, set{}
	for _, p := range IAM(probes) {
		for _, s := range p.Document.Statement {
			allowed.add(s.Action...)
		}
	}
	delete(allowed, "sts:AssumeRole")
	delete(allowed, "sts:TagSession")
	call := regexp.MustCompile(`\bapi\.([A-Z]\w+)\(ctx`)
	for pattern, service := range map[string]string{"eks*.go": "eks", "iam.go": "iam", "elb*.go": "elasticloadbalancing"} {
		files, err := filepath.Glob(filepath.Join("..", "awsapi", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range call.FindAllSubmatch(text, -1) {
				if !strings.HasSuffix(file, "_test.go") {
					called.add(service + ":" + string(found[1]))
				}
			}
		}
	}
	if diff := cmp.Diff(called.sorted(), allowed.sorted()); diff != "" {
		t.Errorf("actions differ (-called +allowed):\n%s", diff)
	}
}

// grants lists what a cluster's objects allow: VERB GROUP/RESOURCE [NAMES] in NAMESPACE. Each role must be bound to the group, after it was made.
func grants(t *testing.T, objects []any) []string {
	t.Helper()
	var lines []string
	for i := 0; i+1 < len(objects); i += 2 {
		var rules []rbacv1.PolicyRule
		var namespace string
		var subjects []rbacv1.Subject
		var ref rbacv1.RoleRef
		switch made := objects[i].(type) {
		case *rbacv1.ClusterRole:
			bound, ok := objects[i+1].(*rbacv1.ClusterRoleBinding)
			if !ok {
				t.Fatalf("%T follows %T", objects[i+1], made)
			}
			rules, subjects, ref = made.Rules, bound.Subjects, bound.RoleRef
		case *rbacv1.Role:
			bound, ok := objects[i+1].(*rbacv1.RoleBinding)
			if !ok || bound.Namespace != made.Namespace {
				t.Fatalf("%T follows %T", objects[i+1], made)
			}
			rules, namespace, subjects, ref = made.Rules, made.Namespace, bound.Subjects, bound.RoleRef
		}
		if len(subjects) != 1 || subjects[0].Name != Group || subjects[0].Kind != "Group" || ref.Name != roleName {
			t.Errorf("bound %+v to %+v", ref, subjects)
		}
		for _, rule := range rules {
			lines = append(lines, fmt.Sprintf("%s %s/%s %v in %q", rule.Verbs[0], rule.APIGroups[0], rule.Resources[0], rule.ResourceNames, namespace))
		}
	}
	return lines
}

func TestRBAC(t *testing.T) {
	observer := chain.Identity{Name: "reader", Source: chain.SourceIRSA, RoleARN: reader}
	access := target(chain.Identity{Name: "job", Source: chain.SourceEnvironment}, observer)
	bound := access
	bound.Kind, bound.Group = chain.KindALB, chain.TargetGroup{Region: "eu-west-1", Observer: observer, Binding: chain.BindingRef{Namespace: "shop", Name: "web"}}
	every := bound
	every.Group.Binding = chain.BindingRef{}
	unobserved := access
	unobserved.Observer, unobserved.Cluster.Observer = chain.Identity{}, ""
	alone := every
	alone.Cluster, alone.Observer = chain.Cluster{}, chain.Identity{}
	awsAuth := `get /configmaps [aws-auth] in "kube-system"`
	wide := []string{`list elbv2.k8s.aws/targetgroupbindings [] in ""`, `list /nodes [] in ""`}
	behind := func(names, namespace string) []string {
		lines := []string{"get elbv2.k8s.aws/targetgroupbindings " + names, "get /services []", "list discovery.k8s.io/endpointslices []", "list /pods []", "list /events []"}
		for i := range lines {
			lines[i] += fmt.Sprintf(" in %q", namespace)
		}
		return lines
	}
	for name, c := range map[string]struct {
		probes Probes
		want   []string
	}{
		"access alone":              {Probes{Targets: []chain.Target{access}}, []string{awsAuth}},
		"nobody reads":              {Probes{Targets: []chain.Target{unobserved}}, nil},
		"a target group alone":      {Probes{Targets: []chain.Target{alone}, Discoveries: []chain.Discovery{{Template: alone}}}, nil},
		"a binding":                 {Probes{Targets: []chain.Target{bound}}, append(wide[:2:2], behind("[web]", "shop")...)},
		"a binding beside access":   {Probes{Targets: []chain.Target{bound, access}}, append(append(wide[:2:2], awsAuth), behind("[web]", "shop")...)},
		"every binding":             {Probes{Discoveries: []chain.Discovery{{BindingsOf: true, Template: every}}}, append(wide[:2:2], behind("[]", "")...)},
		"every binding and one too": {Probes{Targets: []chain.Target{bound}, Discoveries: []chain.Discovery{{BindingsOf: true, Template: every}}}, append(wide[:2:2], behind("[]", "")...)},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, cluster := range RBAC(c.probes) {
				if cluster.Cluster.Name != "prod" || cluster.Observer.Name != "reader" {
					t.Errorf("got cluster %q, read by %q", cluster.Cluster.Name, cluster.Observer.Name)
				}
				got = append(got, grants(t, cluster.Objects)...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("grants differ (-want +got):\n%s", diff)
			}
		})
	}
}
