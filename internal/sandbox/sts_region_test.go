// What the sandbox reads out of an AWS host name, and the names that its certificates bear.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func TestHostRegion(t *testing.T) {
	for host, want := range map[string]string{
		"sts.amazonaws.com":                   "us-east-1",
		"sts.eu-west-1.amazonaws.com":         "eu-west-1",
		"sts.eu-west-1.amazonaws.com:443":     "eu-west-1",
		"sts.cn-north-1.amazonaws.com.cn":     "cn-north-1",
		"eks.us-gov-west-1.amazonaws.com:443": "us-gov-west-1",
		"127.0.0.1:40123":                     "",
		"localhost":                           "",
		"[::1]:443":                           "",
		"sts.eu-west-1.amazonaws.com.evil":    "",
		"":                                    "",
	} {
		t.Run(host, func(t *testing.T) { wantSame(t, hostRegion(host), want) })
	}
}

func TestPartitionOf(t *testing.T) {
	for region, want := range map[string]string{
		"eu-west-1":     "aws",
		"us-gov-west-1": "aws-us-gov",
		"cn-north-1":    "aws-cn",
		"":              "aws",
	} {
		t.Run(region, func(t *testing.T) { wantSame(t, partitionOf(region), want) })
	}
}

// TestCertificateNames asks the SDK's own endpoint resolvers which host a client would dial in every region that the sandbox knows.
func TestCertificateNames(t *testing.T) {
	ca, err := NewCA()
	must(t, err)
	cert, err := ca.Issue(IssueOptions{Names: serviceNames("sts")})
	must(t, err)
	eksCert, err := ca.Issue(IssueOptions{Names: serviceNames("eks")})
	must(t, err)
	for _, region := range awsRegions {
		t.Run(region, func(t *testing.T) {
			endpoint, err := sts.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), sts.EndpointParameters{Region: &region, UseGlobalEndpoint: new(bool), UseDualStack: new(bool), UseFIPS: new(bool)})
			must(t, err)
			must(t, cert.Leaf.VerifyHostname(endpoint.URI.Hostname()))
			wantSame(t, hostRegion(endpoint.URI.Host), region)

			endpoint, err = eks.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(), eks.EndpointParameters{Region: &region, UseDualStack: new(bool), UseFIPS: new(bool)})
			must(t, err)
			must(t, eksCert.Leaf.VerifyHostname(endpoint.URI.Hostname()))
			wantSame(t, hostRegion(endpoint.URI.Host), region)
		})
	}
	for _, host := range []string{"127.0.0.1", "localhost", "sts.amazonaws.com", "sts-fips.amazonaws.com"} {
		t.Run(host, func(t *testing.T) { must(t, cert.Leaf.VerifyHostname(host)) })
	}
}
