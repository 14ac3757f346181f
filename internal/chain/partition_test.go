// Every partition has regions that are found to be in it.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"slices"
	"strings"
	"testing"
)

func TestPartitionOfRegion(t *testing.T) {
	left := Partitions()
	for region, want := range map[string]string{
		"eu-west-1": "aws", "ap-southeast-7": "aws", "us-gov-west-1": "aws-us-gov", "cn-northwest-1": "aws-cn", "us-iso-east-1": "aws-iso",
		"us-isob-east-1": "aws-iso-b", "eu-isoe-west-1": "aws-iso-e", "us-isof-south-1": "aws-iso-f", "eusc-de-east-1": "aws-eusc",
	} {
		if got := PartitionOfRegion(region); got != want {
			t.Errorf("region %s: got partition %q, want %q", region, got, want)
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == want })
	}
	if len(left) > 0 {
		t.Errorf("partitions without a region here: %v", left)
	}
}

func TestRegionOf(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef": "eu-west-1",
		"arn:aws:iam::111122223333:role/ci":                                                     "",
		"arn:aws:elasticloadbalancing:evil.example.com#:1:targetgroup/a/b":                      "",
		"arn:aws:elasticloadbalancing:eu-west-1/x:1:targetgroup/a/b":                            "",
		"arn:aws:elasticloadbalancing:eu-" + strings.Repeat("a", 99) + "-1:1:targetgroup/a/b":   "",
		"arn:aws-iso-b:elasticloadbalancing:us-isob-east-1:1:targetgroup/a/b":                   "us-isob-east-1",
		"arn:aws-eusc:elasticloadbalancing:eusc-de-east-1:1:targetgroup/a/b":                    "eusc-de-east-1",
		"eu-west-1":           "",
		"a:b:c:eu-west-1:e:f": "",
		"":                    "",
	} {
		if got := RegionOf(arn); got != want {
			t.Errorf("%q: got %q, want %q", arn, got, want)
		}
	}
}
