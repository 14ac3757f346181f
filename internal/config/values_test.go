// The borders of every value: what is just accepted, and what is just refused with which message.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// valueCase is one value in an otherwise good file: the messages that it gets, none when it is accepted.
type valueCase struct {
	value string
	want  []*diag.Message
}

// checkValues puts each value into a file at %s.
func checkValues(t *testing.T, file string, cases map[string]valueCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("testdata/good/x.yaml", []byte(fmt.Sprintf(file, c.value)))
			var problems Problems
			errors.As(err, &problems)
			var got []*diag.Message
			for _, p := range problems {
				got = append(got, p.Of)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("messages differ (-want +got):\n%s\n%s", diff, problems)
			}
		})
	}
}

func refused(value string, ids ...*diag.Message) valueCase { return valueCase{value, ids} }
func accepted(value string) valueCase                      { return valueCase{value, nil} }

func TestNames(t *testing.T) {
	checkValues(t, "identities: [{name: %s, source: irsa}]\n", map[string]valueCase{
		"letters digits signs": accepted("Az0_.-"),
		"longest":              accepted(strings.Repeat("n", 128)),
		"too long":             refused(strings.Repeat("n", 129), badName),
		"at sign":              refused("'a@b'", badName),
		"slash":                refused("a/b", badName),
		"space":                refused("a b", badName),
		"no ASCII":             refused("größe", badName),
		"a number":             refused("17", diag.WrongType),
		"a quoted number":      accepted("'17'"),
		"a boolean":            refused("true", diag.WrongType),
		"empty":                refused("''", diag.NoValue),
		"null":                 refused("~", diag.NoValue),
		"line break":           refused(`"a\n"`, badName),
		"a mapping":            refused("{a: b}", diag.WrongType),
	})
}

func TestClusterValues(t *testing.T) {
	const file = "clusters: [{name: a, region: eu-west-1, observer: r, %s}]\nidentities: [{name: r, source: irsa}]\n"
	checkValues(t, file, map[string]valueCase{
		"account":                    accepted(`account_id: "000000000000"`),
		"account of 13 digits":       refused(`account_id: "0000000000000"`, badAccountID),
		"account unquoted":           refused(`account_id: 1`, quoteAccountID),
		"account as octal":           refused(`account_id: 0o17`, diag.WrongType),
		"account as a list":          refused(`account_id: ["111122223333"]`, diag.WrongType),
		"EKS name":                   accepted("eks_name: 0-a_B"),
		"longest EKS name":           accepted("eks_name: " + strings.Repeat("e", 100)),
		"EKS name too long":          refused("eks_name: "+strings.Repeat("e", 101), badEKSName),
		"EKS name with a dot":        refused("eks_name: a.b", badEKSName),
		"endpoint":                   accepted(`endpoint: "https://ABC.gr7.eu-west-1.eks.amazonaws.com"`),
		"endpoint with port":         accepted(`endpoint: "https://[::1]:6443/"`),
		"endpoint with a path":       accepted(`endpoint: "https://proxy/k8s/clusters/c-1"`),
		"endpoint, largest port":     accepted(`endpoint: "https://a:65535"`),
		"endpoint, port 0":           refused(`endpoint: "https://a:0"`, badEndpoint),
		"endpoint without a scheme":  refused(`endpoint: "eks.internal:443"`, badEndpoint),
		"endpoint with a fragment":   refused(`endpoint: "https://a#b"`, badEndpoint),
		"endpoint without a host":    refused(`endpoint: "https://:443"`, badEndpoint),
		"CA file":                    accepted("ca_file: ca.pem"),
		"CA file without PEM":        refused("ca_file: canary.yaml", noCertificate),
		"CA file is a device":        refused("ca_file: /dev/null", fileUnusable),
		"CA file with a zero byte":   refused(`ca_file: "a\0b"`, fileUnusable),
		"label":                      accepted(`labels: {_a1: "x y"}`),
		"label begins with one _":    accepted("labels: {_cluster: x}"),
		"label with a colon":         refused("labels: {'a:b': x}", badLabelName),
		"empty label":                refused("labels: {a: ''}", diag.NoValue),
		"labels as a list":           refused("labels: [a]", diag.WrongType),
		"unknown observer elsewhere": refused("observers: r", diag.UnknownKey),
	})
}

func TestHopValues(t *testing.T) {
	const role = `{role_arn: "arn:aws:iam::111122223333:role/a", `
	for source, longest := range map[string]string{"environment": "12h", "irsa": "1h", "default": "12h", "profile, profile: p": "12h"} {
		t.Run(source, func(t *testing.T) {
			checkValues(t, "identities: [{name: a, source: "+source+", assume_role: ["+role+"duration: %s}]}]\n", map[string]valueCase{
				"shortest":  accepted("15m"),
				"too short": refused("14m59s", durationTooShort),
				"longest":   accepted(longest),
				"too long":  refused(longest+"1s", durationTooLong),
				"no unit":   refused("900", diag.BadDuration),
				"no number": refused("m", diag.BadDuration),
				"negative":  refused("-15m", diag.BadDuration),
				"huge":      refused("999999999999y", diag.BadDuration),
			})
		})
	}
	checkValues(t, "identities: [{name: a, source: environment, assume_role: ["+role+"duration: 30m}], reuse_session: %s}]\n", map[string]valueCase{
		"never":                     accepted("0"),
		"as long as the session":    accepted("30m"),
		"longer than the session":   refused("31m", durationTooLong),
		"milliseconds are accepted": accepted("100ms"),
	})
}

func TestScheduleValues(t *testing.T) {
	const file = "clusters: [{name: a, region: eu-west-1, observer: r}]\nidentities: [{name: r, source: irsa}, {name: i, source: irsa}]\naccess: [{cluster: a, identity: i, %s}]\n"
	checkValues(t, file, map[string]valueCase{
		"equal":                             accepted("interval: 1s, timeout: 1s"),
		"timeout alone":                     accepted("timeout: 15s"),
		"timeout above the default":         refused("timeout: 16s", timeoutAboveInterval),
		"interval below the default":        refused("interval: 9s", timeoutAboveInterval),
		"interval too short":                refused("interval: 999ms, timeout: 1s", durationTooShort),
		"both too short":                    refused("interval: 1ms, timeout: 2ms", durationTooShort, durationTooShort),
		"a list":                            refused("interval: [1m]", diag.WrongType),
		"no value":                          refused("interval: ~", diag.NoValue),
		"username with both placeholders":   accepted("expect: {username: '{{AccountID}}:{{SessionName}}'}"),
		"username with another placeholder": refused("expect: {username: '{{SessionNameRaw}}:{{accountid}}'}", badTemplate, badTemplate),
		"groups as text":                    refused("expect: {groups: a}", diag.WrongType),
		"a group that is a number":          refused("expect: {groups: [a, 1]}", diag.WrongType),
		"an empty rbac":                     accepted("rbac: {}"),
		"a rule that is a mapping":          refused("rbac: {allow: [{get: pods}]}", diag.WrongType),
		"a dry run of every kind":           accepted("rbac: {dry_run: [create pods in a, update pods x in a, patch apps/deployments x, delete nodes x, {manifest_file: canary.yaml}]}"),
		"a dry run that reads":              refused("rbac: {dry_run: [list pods, '* pods', deletecollection pods]}", dryRunVerb, dryRunVerb, dryRunVerb),
		"a dry run of every resource":       refused("rbac: {dry_run: ['create */pods', 'delete * x']}", dryRunObject, dryRunObject),
		"a manifest with more":              refused("rbac: {dry_run: [{manifest_file: canary.yaml, verb: create}]}", diag.UnknownKey),
		"the same rule spelt twice":         refused("rbac: {deny: ['get pods', 'get  pods']}", diag.ListedTwice),
		"allowed and denied":                refused("rbac: {allow: [get pods], deny: [get pods]}", allowedAndDenied),
		"allowed and dry run":               accepted("rbac: {allow: [create pods], dry_run: [create pods]}"),
	})
}

func TestRates(t *testing.T) {
	checkValues(t, "aws_api_budget: {eks_reads_per_second: %s}\n", map[string]valueCase{
		"fraction":  accepted("0.1"),
		"largest":   accepted("1000"),
		"too large": refused("1000.1", badRate),
		"zero":      refused("0", badRate),
		"negative":  refused("-1", badRate),
		"no number": refused(".nan", badRate),
		"infinite":  refused(".inf", badRate),
		"text":      refused("'1'", badRate),
		"boolean":   refused("true", badRate),
		"no value":  refused("", diag.NoValue),
		"a list":    refused("[1]", diag.WrongType),
	})
}

func TestIdentityReadsOnlyWhatItsSourceHas(t *testing.T) {
	const role = `role_arn: "arn:aws:iam::111122223333:role/a"`
	for source, c := range map[chain.Source]struct{ profile, role, tokenFile []*diag.Message }{
		chain.SourceIRSA:            {[]*diag.Message{keyNeedsSource}, nil, nil},
		chain.SourceEnvironment:     {[]*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}},
		chain.SourceDefault:         {[]*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}},
		chain.SourceProfile:         {nil, []*diag.Message{diag.MissingKey, keyNeedsSource}, []*diag.Message{diag.MissingKey, keyNeedsSource}},
		chain.SourcePodIdentity:     {[]*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}},
		chain.SourceInstanceProfile: {[]*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}, []*diag.Message{keyNeedsSource}},
	} {
		t.Run(string(source), func(t *testing.T) {
			checkValues(t, "identities: [{name: a, source: "+string(source)+", %s}]\n", map[string]valueCase{
				"profile": {"profile: p", c.profile}, "role": {role, c.role}, "token file": {"token_file: /t", c.tokenFile},
			})
		})
	}
}

// A role that is assumed with a role's session lives an hour at most, whoever opened the first session.
func TestChainedRolesLiveAnHour(t *testing.T) {
	for source, chained := range map[chain.Source]bool{
		chain.SourceIRSA: true, chain.SourcePodIdentity: true, chain.SourceInstanceProfile: true, chain.SourceEnvironment: false, chain.SourceDefault: false,
	} {
		t.Run(string(source), func(t *testing.T) {
			longer := accepted("61m")
			if chained {
				longer = refused("61m", durationTooLong)
			}
			checkValues(t, "identities: [{name: a, source: "+string(source)+`, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/a", duration: %s}]}]`+"\n",
				map[string]valueCase{"an hour": accepted("1h"), "longer": longer})
		})
	}
}

// A manifest is one object, among any number of empty documents, as the probe reads it.
func TestManifests(t *testing.T) {
	for name, text := range map[string]string{
		"an object": "apiVersion: v1\nkind: ConfigMap\n", "JSON": `{"apiVersion":"v1","kind":"ConfigMap"}`, "comments around": "---\n# a comment\n---\napiVersion: v1\nkind: Secret\n---\n",
		"a kind that ends in List": "apiVersion: example.com/v1\nkind: AllowList\nspec: {}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkManifest([]byte(text)); err != nil {
				t.Errorf("got %v, want it to be good", err)
			}
		})
	}
}

func TestTargetsAreSortedByName(t *testing.T) {
	config, err := Parse("x.yaml", []byte("clusters: [{name: b, region: eu-west-1, observer: r}, {name: a, region: eu-west-1, observer: r}]\n"+
		"identities: [{name: r, source: irsa}, {name: z, source: irsa}, {name: i, source: irsa}]\n"+
		"access: [{cluster: b, identity: z}, {cluster: b, identity: i, interval: 1m}, {cluster: a, identity: z}, {cluster: a, identity: i}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Duration{}
	names := make([]string, 0, len(config.Access))
	for _, target := range config.Access {
		names = append(names, target.Name)
		got[target.Name] = target.Interval
	}
	if diff := cmp.Diff([]string{"i@a", "i@b", "z@a", "z@b"}, names); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
	want := map[string]time.Duration{"i@a": 15 * time.Second, "i@b": time.Minute, "z@a": 15 * time.Second, "z@b": 15 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("intervals differ (-want +got):\n%s", diff)
	}
}
