// ARNs, partitions and regions: their shapes, and that they belong together.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// partitions are the AWS partitions, by the prefix of their regions' names (botocore partitions.json). Regions with none of the prefixes are in partition aws.
var partitions = []struct{ regionPrefix, partition string }{
	{"cn-", "aws-cn"},
	{"us-gov-", "aws-us-gov"},
	{"us-iso-", "aws-iso"},
	{"us-isob-", "aws-iso-b"},
	{"eu-isoe-", "aws-iso-e"},
	{"us-isof-", "aws-iso-f"},
	{"eusc-", "aws-eusc"},
	{"", "aws"},
}

// regionShape is two letters (or eusc, the European Sovereign Cloud), words, and one digit.
var regionShape = regexp.MustCompile(`^(?:[a-z]{2}|eusc)(?:-[a-z]+)+-\d$`)

func partitionOfRegion(region string) string {
	for _, row := range partitions {
		if strings.HasPrefix(region, row.regionPrefix) {
			return row.partition
		}
	}
	return ""
}

var accountShape = regexp.MustCompile(`^\d{12}$`)

// principalKind is what an ARN must name.
type principalKind struct {
	what    string
	shape   *regexp.Regexp // of the ARN's resource (IAM API reference: path, RoleName, UserName)
	example string
}

var (
	aRole       = principalKind{"an IAM role", regexp.MustCompile(`^role/(?:[!-~]+/)?[\w+=,.@-]{1,64}$`), "arn:aws:iam::111122223333:role/NAME"}
	aRoleOrUser = principalKind{"an IAM role or user", regexp.MustCompile(`^(?:role|user)/(?:[!-~]+/)?[\w+=,.@-]{1,64}$`), "arn:aws:iam::111122223333:role/NAME"}
)

// arn reads the ARN of a principal; "" when it is not given or wrong.
func (f fields) arn(key string, kind principalKind) string {
	text := f.text(key)
	if text == "" {
		return ""
	}
	before := len(f.d.problems)
	f.checkARN(key, text, kind)
	if len(f.d.problems) > before {
		return ""
	}
	return text
}

func (f fields) checkARN(key, text string, kind principalKind) {
	at, parts := f.at(key), strings.SplitN(text, ":", 6)
	known := func(partition string) bool {
		return slices.ContainsFunc(partitions, func(row struct{ regionPrefix, partition string }) bool { return row.partition == partition })
	}
	switch {
	case len(parts) != 6 || parts[0] != "arn":
		f.d.report(at, arnShape, text, kind.example)
	case !known(parts[1]):
		f.d.report(at, arnPartition, parts[1], text, partitionHint())
	case chain.CanonicalARN(text) != text:
		f.d.report(at, arnSession, text, chain.CanonicalARN(text))
	case parts[2] != "iam":
		f.d.report(at, arnService, text, parts[2], kind.example)
	case !accountShape.MatchString(parts[4]):
		f.d.report(at, arnAccount, parts[4], text)
	case parts[3] != "" || !kind.shape.MatchString(parts[5]):
		f.d.report(at, arnResource, text, kind.what, kind.example)
	}
}

func partitionHint() string {
	names := make([]string, 0, len(partitions))
	for _, row := range partitions {
		names = append(names, row.partition)
	}
	slices.Sort(names)
	return "partitions: " + strings.Join(names, ", ")
}

// foreignPartition returns the first partition among an identity's ARNs that is not that of the cluster's region; "" when all fit or nothing is known.
func foreignPartition(identity chain.Identity, region string) string {
	home := partitionOfRegion(region)
	arns := []string{identity.RoleARN}
	for _, hop := range identity.Hops {
		arns = append(arns, hop.RoleARN)
	}
	for _, arn := range append(arns, identity.ExpectPrincipal) {
		if p := chain.PartitionOf(arn); p != "" && region != "" && p != home {
			return p
		}
	}
	return ""
}
