// The regions that the sandbox knows, and what an AWS host name says of them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net"
	"strings"
)

// awsRegions are the regions in which a credential scope is valid (AWS General Reference, "AWS service endpoints").
var awsRegions = []string{
	"af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2",
	"ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ca-central-1", "ca-west-1",
	"eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3",
	"il-central-1", "me-central-1", "me-south-1", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
	"us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1",
}

// partitionOf is the partition of a region.
func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// serviceNames are the names on a service's certificate: loopback, the wildcard, the global host and every regional one.
func serviceNames(service string) []string {
	names := []string{"127.0.0.1", "localhost", "*.amazonaws.com", service + ".amazonaws.com"}
	for _, region := range awsRegions {
		names = append(names, service+"."+region+domainOf(region))
	}
	return names
}

func domainOf(region string) string {
	if partitionOf(region) == "aws-cn" {
		return ".amazonaws.com.cn"
	}
	return ".amazonaws.com"
}

// hostRegion is the region in which a host wants its requests signed: the one in its name, us-east-1 for a global host, "" for a host that is not AWS's.
func hostRegion(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	name, ok := strings.CutSuffix(host, ".amazonaws.com")
	if !ok {
		if name, ok = strings.CutSuffix(host, ".amazonaws.com.cn"); !ok {
			return ""
		}
	}
	if _, region, ok := strings.Cut(name, "."); ok {
		return region
	}
	return "us-east-1"
}
