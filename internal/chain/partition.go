// Partitions: which one a region is in, and what an ARN says of its region.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"regexp"
	"strings"
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

// Partitions lists every AWS partition.
func Partitions() []string {
	names := make([]string, 0, len(partitions))
	for _, row := range partitions {
		names = append(names, row.partition)
	}
	return names
}

// PartitionOfRegion returns the partition that a region is in, such as aws-cn.
func PartitionOfRegion(region string) string {
	for _, row := range partitions {
		if strings.HasPrefix(region, row.regionPrefix) {
			return row.partition
		}
	}
	return ""
}

// regionShape is what the SDK's partition table makes of a region, without its list of continents (aws-sdk-go-v2 internal/endpoints/awsrulesfn).
var regionShape = regexp.MustCompile(`^[a-z]{2,5}(?:-[a-z]{1,12}){1,3}-[0-9]{1,2}$`)

// RegionOf returns the region of an ARN; "" when it is no ARN, or one without the name of a region: ARNs are foreign text, and regions become labels and parts of host names.
func RegionOf(arn string) string {
	if fields := strings.SplitN(arn, ":", 6); len(fields) == 6 && fields[0] == "arn" && regionShape.MatchString(fields[3]) {
		return fields[3]
	}
	return ""
}
