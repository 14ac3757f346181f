// Tests of what a target expects and of how it and its cluster are named.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "testing"

func TestIdentityExpected(t *testing.T) {
	hops := []Hop{{RoleARN: "first"}, {RoleARN: "last"}}
	cases := map[string]struct {
		identity Identity
		want     string
	}{
		"configured goes first":     {Identity{Source: SourceIRSA, RoleARN: "base", Hops: hops, ExpectPrincipal: "configured"}, "configured"},
		"the last hop":              {Identity{Source: SourceIRSA, RoleARN: "base", Hops: hops}, "last"},
		"the web identity's role":   {Identity{Source: SourceIRSA, RoleARN: "base"}, "base"},
		"a role of no web identity": {Identity{Source: SourceProfile, RoleARN: "base"}, ""},
		"anybody":                   {Identity{Source: SourceEnvironment}, ""},
	}
	for name, c := range cases {
		if got := c.identity.Expected(); got != c.want {
			t.Errorf("%s: expects %q, want %q", name, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	if got := AccessName("ci", "prod"); got != "ci@prod" {
		t.Errorf("access target is named %q", got)
	}
	if !(Review{Username: "system:anonymous"}).Anonymous() || (Review{Username: "ci"}).Anonymous() || (Review{}).Anonymous() {
		t.Error("only system:anonymous is anonymous")
	}
}

func TestClusterKey(t *testing.T) {
	prod := Cluster{Name: "prod", Region: "eu-west-1", EKSName: "p", Observer: "ro"}
	same, other := prod, prod
	same.Name, same.Labels, same.AccountID = "again", map[string]string{"a": "b"}, "111122223333"
	other.Observer = "another account's"
	if prod.Key() != same.Key() || prod.Key() == other.Key() {
		t.Errorf("keys are %v, %v and %v", prod.Key(), same.Key(), other.Key())
	}
}

// The name of the certificate is that of the handshake, not of the URL.
func TestTLSNameOfTheFix(t *testing.T) {
	for sni, want := range map[string]string{"": "lb.example.test", "shop.example.test": "shop.example.test"} {
		facts := TargetGroup{Request: &Request{URL: "https://lb.example.test:8443/", SNI: sni}}.facts("shop")
		if facts[FactTLSName] != want || facts[FactHost] != "lb.example.test" {
			t.Errorf("sni %q: %v", sni, facts)
		}
	}
}
