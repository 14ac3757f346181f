// Regions: a well-formed name, its partition, and the canonical regional STS endpoint.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// regionShape is what the SDK's partition table makes of a region, without its list of continents (aws-sdk-go-v2 internal/endpoints/awsrulesfn).
var regionShape = regexp.MustCompile(`^[a-z]{2,5}(-[a-z]+)+-[0-9]+$`)

// checkRegion refuses what would make an STS host name with an empty or a wrong label.
func checkRegion(region string) error {
	switch {
	case region == "":
		return chain.Fail(chain.StepCredentials, chain.ReasonRegionUnset,
			"the cluster has no region, so no STS host can be named; AWS_REGION is not used", nil, nil)
	case !regionShape.MatchString(region):
		return chain.Fail(chain.StepCredentials, chain.ReasonRegionUnset,
			fmt.Sprintf("%q is not the name of a region, so no STS host can be named; AWS_REGION is not used", region), chain.Facts{chain.FactRegion: region}, nil)
	}
	return nil
}

// partitions are the prefixes of regions outside the partition aws, each with the region whose STS every account of the partition may use (awsrulesfn/partitions.json).
var partitions = []struct{ prefix, partition, home string }{
	{"cn-", "aws-cn", "cn-north-1"},
	{"us-gov-", "aws-us-gov", "us-gov-west-1"},
	{"us-iso-", "aws-iso", "us-iso-east-1"},
	{"us-isob-", "aws-iso-b", "us-isob-east-1"},
	{"eu-isoe-", "aws-iso-e", "eu-isoe-west-1"},
	{"us-isof-", "aws-iso-f", "us-isof-south-1"},
	{"eusc-", "aws-eusc", "eusc-de-east-1"},
}

func regionPartition(region string) (partition, home string) {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition, p.home
		}
	}
	return "aws", "us-east-1"
}

// canonicalSTS is the one host per region that the authenticator accepts in a token: neither FIPS nor dual-stack nor an endpoint override.
func canonicalSTS(ctx context.Context, region string) (*url.URL, error) {
	endpoint, err := sts.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, sts.EndpointParameters{
		Region: aws.String(region), UseFIPS: aws.Bool(false), UseDualStack: aws.Bool(false), UseGlobalEndpoint: aws.Bool(false),
	})
	if err != nil {
		return nil, fmt.Errorf("resolving the STS endpoint of region %s: %w", region, err)
	}
	return &endpoint.URI, nil
}

// override is AWS_ENDPOINT_URL_STS, as the SDK's configuration has it; nil when there is none.
func (c *Client) override() (*url.URL, error) {
	base := sts.NewFromConfig(c.base).Options().BaseEndpoint
	if base == nil {
		return nil, nil
	}
	u, err := url.Parse(*base)
	if err != nil || u.Host == "" {
		return nil, errors.New("reading the STS endpoint override: it is no URL with a host") // which may hold a password
	}
	return u, nil
}
