// A good file becomes exactly these targets; files that cannot be read are no Problems.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestFullFile(t *testing.T) {
	const role = "arn:aws:iam::111122223333:role/"
	reader := chain.Identity{
		Name: "reader", Source: chain.SourceIRSA, SessionPolicy: chain.SessionPolicyDenyAll,
		Hops: []chain.Hop{{RoleARN: role + "reader", Duration: 15 * time.Minute}},
	}
	ci := chain.Identity{
		Name: "ci", Source: chain.SourceIRSA, RoleARN: role + "base", TokenFile: "/var/run/token",
		Hops:            []chain.Hop{{RoleARN: role + "team/ci", ExternalIDFile: "testdata/good/secrets/external-id", Duration: 30 * time.Minute}},
		ExpectPrincipal: role + "team/ci", SessionPolicy: chain.SessionPolicyNone, ReuseSession: 5 * time.Minute,
		Labels: map[string]string{"team": "shop", "env": "prod"},
	}
	laptop := chain.Identity{Name: "laptop", Source: chain.SourceProfile, Profile: "staging", SessionPolicy: chain.SessionPolicyDenyAll}
	job := chain.Identity{Name: "job", Source: chain.SourceEnvironment, SessionPolicy: chain.SessionPolicyDenyAll}
	prod := chain.Cluster{Name: "prod", Region: "eu-west-1", EKSName: "prod-v2", AccountID: "012345678901", Observer: "reader", Labels: map[string]string{"env": "prod"}}
	private := chain.Cluster{Name: "private.cn", Region: "cn-north-1", EKSName: "private", Endpoint: "https://eks.internal:8443", CAFile: "testdata/good/ca.pem"}
	allow := []chain.Rule{{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "shop"}, {Verb: "list", Resource: "nodes"}}
	deny := []chain.Rule{{Verb: "get", Resource: "secrets", Namespace: "kube-system"}}
	want := &Config{
		Access: []chain.Target{
			{
				Name: "ci@prod", Kind: chain.KindAccess, Identity: ci, Cluster: prod, Observer: reader,
				Expect: chain.Expect{Username: "ci:{{SessionName}}", Groups: []string{"deployers", "viewers"}},
				Allow:  allow, Deny: deny,
				DryRun:   []chain.DryRun{{Rule: chain.Rule{Verb: "create", Resource: "configmaps", Namespace: "shop"}}, {ManifestFile: "testdata/good/canary.yaml"}},
				Interval: time.Minute, Timeout: 20 * time.Second,
			},
			{
				Name: "job@prod", Kind: chain.KindAccess, Identity: job, Cluster: prod, Observer: reader,
				Allow: allow, Deny: deny,
				DryRun:   []chain.DryRun{{Rule: chain.Rule{Verb: "delete", Resource: "configmaps", Name: "canary", Namespace: "shop"}}},
				Interval: 20 * time.Second, Timeout: 12 * time.Second,
			},
			{Name: "laptop@private.cn", Kind: chain.KindAccess, Identity: laptop, Cluster: private, Interval: 20 * time.Second, Timeout: 12 * time.Second},
		},
		Identities:   map[string]chain.Identity{"reader": reader, "ci": ci, "laptop": laptop, "job": job},
		Clusters:     map[string]chain.Cluster{"prod": prod, "private.cn": private},
		Probe:        Probe{20 * time.Second, 12 * time.Second},
		AWSAPIBudget: AWSAPIBudget{EKSReadsPerSecond: 0.5, ELBReadsPerSecond: 4},
	}
	got, err := Load(filepath.Join("testdata", "good", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checkConfigs(t, want, got)
}

func checkConfigs(t *testing.T, want, got *Config) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(chain.Secret{})); diff != "" {
		t.Errorf("configuration differs (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	got, err := Parse("x.yaml", []byte("access: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Identities: map[string]chain.Identity{}, Clusters: map[string]chain.Cluster{},
		Probe: Probe{15 * time.Second, 10 * time.Second}, AWSAPIBudget: AWSAPIBudget{EKSReadsPerSecond: 1, ELBReadsPerSecond: 2},
	}
	checkConfigs(t, want, got)
}

func TestLoadOfAMissingFile(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	var problems Problems
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &problems) {
		t.Errorf("got %v, want fs.ErrNotExist and no Problems", err)
	}
}

func TestLoadReadsNoMoreThanItMay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "big.yaml")
	for name, c := range map[string]struct {
		size int
		want bool
	}{
		"at the limit":   {maxSize, true},
		"above it":       {maxSize + 1, false},
		"far beyond it":  {3 * maxSize, false},
		"a usual length": {1000, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := "access: []\n"
			if err := os.WriteFile(file, []byte(text+strings.Repeat("#", c.size-len(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(file); (err == nil) != c.want {
				t.Errorf("got %v, want success: %t", err, c.want)
			}
		})
	}
}

// Problems of good parts must not hide behind those of bad ones, nor one mistake show up as many.
func TestAMistakeIsReportedOnceAndAllMistakesAre(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a wrong probe section is not a mistake of every target": {
			"probe: {interval: 1m, timeout: 2m}\nclusters: [{name: a, region: eu-west-1, observer: r}]\nidentities: [{name: r, source: irsa}, {name: i, source: irsa}]\naccess: [{cluster: a, identity: i}]\n",
			[]string{"timeout 2m is longer than interval 1m"},
		},
		"a wrong cluster may still be referred to": {
			"clusters: [{name: a, region: nowhere, observer: r}]\nidentities: [{name: r, source: irsa}, {name: i, source: irsa}]\naccess: [{cluster: a, identity: i}]\n",
			[]string{`"nowhere" is no AWS region`},
		},
		"a cluster whose observer is unknown is not one without": {
			"clusters: [{name: a, region: eu-west-1, observer: x}]\nidentities: [{name: y, source: irsa}]\ntarget_groups: [{name: b, bindings_of: a}]\n",
			[]string{`there is no identity named "x"`},
		},
		"an unreadable section may declare anything": {
			"clusters: {a: b}\nidentities: [{source: irsa}]\naccess: [{cluster: a, identity: i}]\n",
			[]string{"clusters must be a list, not a mapping", `missing key "name"`},
		},
		"sections are read though others are wrong": {
			"query: {}\nidentities: [{name: i, source: nothing}]\naws_api_budget: {eks_reads_per_second: -1}\n",
			[]string{"query names no place to read from", `unknown source "nothing"`, "eks_reads_per_second must be a number from 0.01 to 1000"},
		},
		"what aliases repeat is reported at its anchor alone": {
			"access:\n  - &a {cluster: x, identity: y}\n  - *a\n  - *a\n",
			[]string{`there is no cluster named "x"`, `there is no identity named "y"`},
		},
		"merged keys are overridden without a word": {
			"identities:\n  - &a {name: a, source: irsa}\n  - {<<: *a, name: b}\n  - {<<: [{name: c}, *a]}\n", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(c.text))
			var problems Problems
			errors.As(err, &problems)
			var got []string
			for _, p := range problems {
				got = append(got, p.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("messages differ (-want +got):\n%s", diff)
			}
		})
	}
}
