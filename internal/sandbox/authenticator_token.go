// The format of a token, judged as aws-iam-authenticator v0.7.13 judges it (pkg/token), against the sandbox's clock.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"sigs.k8s.io/aws-iam-authenticator/pkg/endpoints"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	tokenPrefix     = "k8s-aws-v1."
	tokenMaxBytes   = 4096
	tokenDateFormat = "20060102T150405Z"
	clusterIDHeader = "x-k8s-aws-id"
)

var tokenParameters = map[string]bool{
	"action": true, "version": true, "x-amz-algorithm": true, "x-amz-credential": true, "x-amz-date": true,
	"x-amz-expires": true, "x-amz-security-token": true, "x-amz-signature": true, "x-amz-signedheaders": true,
}

// presigned is the GetCallerIdentity URL inside a token.
type presigned struct {
	url         *url.URL
	region      string // the second label of its host, or global
	accessKeyID string
}

// parseToken opens a token. Every error is a *refusal whose text is aws-iam-authenticator's.
func parseToken(token, clusterRegion string, now time.Time) (presigned, error) {
	if len(token) > tokenMaxBytes {
		return presigned{}, formatError("token is too large")
	}
	encoded, found := strings.CutPrefix(token, tokenPrefix)
	if !found {
		return presigned{}, formatError("token is missing expected %q prefix", tokenPrefix)
	}
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return presigned{}, formatError("%s", err)
	}
	parsed, err := url.Parse(string(decoded))
	if err != nil {
		return presigned{}, formatError("%s", chain.Redact(err.Error())) // it quotes the URL
	}
	if parsed.Scheme != "https" {
		return presigned{}, formatError("unexpected scheme %q in pre-signed URL", parsed.Scheme)
	}
	region, err := checkHost(parsed.Host, clusterRegion)
	if err != nil {
		return presigned{}, err
	}
	if parsed.Path != "/" {
		return presigned{}, formatError("unexpected path in pre-signed URL")
	}
	parameters, err := tokenQuery(parsed.RawQuery)
	if err != nil {
		return presigned{}, err
	}
	if err := checkParameters(parameters, now); err != nil {
		return presigned{}, err
	}
	accessKeyID, _, _ := strings.Cut(parameters.Get("x-amz-credential"), "/")
	return presigned{url: parsed, region: region, accessKeyID: accessKeyID}, nil
}

// tokenQuery returns the parameters by lower-case name: each known, each once.
func tokenQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, formatError("malformed query parameter")
	}
	lower := url.Values{}
	for key := range query {
		if lower.Has(strings.ToLower(key)) {
			return nil, formatError("duplicate query parameter found: %q", key)
		}
		lower[strings.ToLower(key)] = nil
	}
	for key, values := range query {
		if !tokenParameters[strings.ToLower(key)] {
			return nil, formatError("non-whitelisted query parameter %q", key)
		}
		if len(values) != 1 {
			return nil, formatError("query parameter with multiple values not supported")
		}
		lower.Set(strings.ToLower(key), values[0])
	}
	return lower, nil
}

// checkParameters checks what was signed and when. A date in the future is left to STS, as the real authenticator leaves it.
func checkParameters(parameters url.Values, now time.Time) error {
	if parameters.Get("action") != "GetCallerIdentity" {
		return formatError("unexpected action parameter in pre-signed URL")
	}
	signed := strings.Split(parameters.Get("x-amz-signedheaders"), ";")
	if !slices.ContainsFunc(signed, func(header string) bool { return strings.EqualFold(header, clusterIDHeader) }) {
		return formatError("client did not sign the %s header in the pre-signed URL", clusterIDHeader)
	}
	if expires, err := strconv.Atoi(parameters.Get("x-amz-expires")); err != nil || expires < 0 || expires > 900 {
		return formatError("invalid X-Amz-Expires parameter in pre-signed URL: %d", expires)
	}
	date := parameters.Get("x-amz-date")
	if date == "" {
		return formatError("X-Amz-Date parameter must be present in pre-signed URL")
	}
	at, err := time.Parse(tokenDateFormat, date)
	if err != nil {
		return formatError("error parsing X-Amz-Date parameter %s into format %s: %s", date, tokenDateFormat, err)
	}
	if now.After(at.Add(chain.TokenLifetime)) {
		return formatError("X-Amz-Date parameter is expired (%.f minute expiration) %s", chain.TokenLifetime.Minutes(), at)
	}
	return nil
}

var regionShape = regexp.MustCompile(`^[[:alnum:]]([[:alnum:]\-]*[[:alnum:]])?$`)

// checkHost accepts the STS hosts of the cluster's partition and returns the region that the host names. Whether that region exists is not asked.
func checkHost(host, clusterRegion string) (region string, err error) {
	partition := partitionOf(clusterRegion)
	labels := strings.Split(host, ".")
	switch {
	case host == "":
		return "", formatError("could not parse region for pre-signed URL %s, %v", host, errors.New("host is empty"))
	case len(labels) < 3:
		return "", formatError("could not parse region for pre-signed URL %s, %v", host, fmt.Errorf("invalid host format: %v", host))
	case host == "sts.amazonaws.com" && partition == endpoints.AwsPartitionID:
		return "global", nil
	case host == "sts.amazonaws.com":
		return "", formatError("global endpoint unsupported in partition %s", partition)
	case !regionShape.MatchString(labels[1]):
		return "", formatError("invalid region identifier format provided: %s", labels[1])
	}
	domain, err := endpoints.GetSTSPartitionDomain(partition)
	if err != nil {
		return "", formatError("%s", err)
	}
	dualStack := endpoints.GetSTSDualStackPartitionDomain(partition)
	if !slices.Contains(stsHosts(labels[1]), host) {
		if host == "sts."+clusterRegion+"."+domain || dualStack != "" && host == "sts."+clusterRegion+"."+dualStack {
			return labels[1], nil // a region that the SDK does not know yet
		}
		return "", formatError("unexpected hostname %q in pre-signed URL", host)
	}
	if actual := strings.Join(labels[2:], "."); actual != domain && actual != dualStack {
		return "", formatError("partition {%s} does not support hostname %s", partition, host)
	}
	return labels[1], nil
}

// stsHosts are the four hosts that the SDK resolves for a region: with and without FIPS and dual stack.
func stsHosts(region string) []string {
	resolver := sts.NewDefaultEndpointResolverV2()
	var hosts []string
	for _, fips := range []bool{true, false} {
		for _, dualStack := range []bool{true, false} {
			resolved, err := resolver.ResolveEndpoint(context.Background(), sts.EndpointParameters{
				Region: aws.String(region), UseFIPS: aws.Bool(fips), UseDualStack: aws.Bool(dualStack),
			})
			if err == nil { // not every region has every kind
				hosts = append(hosts, resolved.URI.Host)
			}
		}
	}
	return hosts
}
