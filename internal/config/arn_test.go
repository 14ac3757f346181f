// Regions, and the ARNs that are accepted; the refused ones are bad files.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestRegions(t *testing.T) {
	for _, region := range []string{
		"eu-west-1", "ap-southeast-7", "us-gov-west-1", "cn-northwest-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "us-isof-south-1", "eusc-de-east-1",
	} {
		if !regionShape.MatchString(region) {
			t.Errorf("region %q is refused", region)
		}
	}
	for _, region := range []string{"eu-west", "eu-west-1a", "eu-west-10", "EU-WEST-1", "europe-west-1", "aws-global", " eu-west-1", "eu--west-1", "eu-west-1\n"} {
		if regionShape.MatchString(region) {
			t.Errorf("region %q is accepted", region)
		}
	}
}

func TestAcceptedPrincipals(t *testing.T) {
	for name, arn := range map[string]string{
		"plain role":   "arn:aws:iam::111122223333:role/ci",
		"with a path":  "arn:aws:iam::111122223333:role/team/shop/ci",
		"punctuation":  "arn:aws-cn:iam::111122223333:role/a+b=c,d.e@f-g_h",
		"gov":          "arn:aws-us-gov:iam::012345678901:role/ci",
		"sovereign":    "arn:aws-eusc:iam::012345678901:role/ci",
		"user, expect": "arn:aws:iam::111122223333:user/people/alice",
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("identities: [{name: a, source: irsa, expect_principal: %q}]", arn)
			config, err := Parse("x.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := config.Identities["a"].ExpectPrincipal; got != arn {
				t.Errorf("got %q, want %q", got, arn)
			}
		})
	}
}

func TestForeignPartition(t *testing.T) {
	const cn, aws = "arn:aws-cn:iam::111122223333:role/x", "arn:aws:iam::111122223333:role/x"
	for name, c := range map[string]struct {
		identity chain.Identity
		region   string
		want     string
	}{
		"nothing known":          {chain.Identity{}, "eu-west-1", ""},
		"region unknown":         {chain.Identity{RoleARN: cn}, "", ""},
		"at home":                {chain.Identity{RoleARN: cn, Hops: []chain.Hop{{RoleARN: cn}}}, "cn-north-1", ""},
		"role":                   {chain.Identity{RoleARN: aws}, "cn-north-1", "aws"},
		"second hop":             {chain.Identity{Hops: []chain.Hop{{RoleARN: aws}, {RoleARN: cn}}}, "eu-west-1", "aws-cn"},
		"expected principal":     {chain.Identity{ExpectPrincipal: cn}, "us-gov-west-1", "aws-cn"},
		"gov is not the default": {chain.Identity{RoleARN: aws}, "us-gov-east-1", "aws"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := foreignPartition(c.identity, c.region); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
