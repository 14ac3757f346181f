// AssumeRoleWithWebIdentity: an unsigned call, proved by a token of an OIDC issuer that the account knows.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// stsWebAssumed is the result of AssumeRoleWithWebIdentity.
type stsWebAssumed struct {
	stsAssumed
	SubjectFromWebIdentityToken string
	Audience                    string
	Provider                    string // the provider's ARN
}

func identityError(message string) *awsError {
	return &awsError{http.StatusBadRequest, "InvalidIdentityToken", message}
}

// assumeRoleWithWebIdentity asks, in this order: is the region on, does the account know the issuer, is the token its own and fresh, is it meant for AWS, does the role trust it.
func (s *State) assumeRoleWithWebIdentity(r stsRequest) (any, *awsError) {
	wanted, fault := parseAssumption(r)
	if fault != nil {
		return nil, fault
	}
	region, account := hostRegion(r.http.Host), chain.AccountOf(wanted.roleARN)
	if s.Disabled[region] {
		return nil, regionDisabled(account)
	}
	id, fault := s.webIdentity(r.values.Get("WebIdentityToken"), region, chain.PartitionOf(wanted.roleARN))
	if fault != nil {
		return nil, fault
	}
	role, ok := s.Roles[wanted.roleARN]
	if !ok || !role.trustsIdentity(id) {
		return nil, &awsError{http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"}
	}
	session, fault := s.open(role, wanted)
	if fault != nil {
		return nil, fault
	}
	return stsWebAssumed{
		stsAssumed: session.assumed(wanted), SubjectFromWebIdentityToken: id.Subject, Audience: id.Audience[0],
		Provider: "arn:" + chain.PartitionOf(role.ARN) + ":iam::" + account + ":oidc-provider/" + issuerHost(id.Issuer),
	}, nil
}

// webIdentity proves a token. A role of another partition than the host's has no provider there.
func (s *State) webIdentity(token, region, partition string) (webIdentity, *awsError) {
	issuer, err := issuerOf(token)
	if err != nil {
		return webIdentity{}, identityError("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	}
	provider, ok := s.Providers[issuer]
	switch {
	case !ok, provider.Removed, region != "" && partitionOf(region) != partition:
		return webIdentity{}, identityError("No OpenIDConnect provider found in your account for " + issuer)
	case provider.Stale:
		return webIdentity{}, identityError("OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint")
	}
	keys, ok := s.Issuers[issuer]
	if !ok {
		return webIdentity{}, errNoVerificationKey
	}
	id, err := keys.verify(token)
	if err != nil {
		return webIdentity{}, errNoVerificationKey
	}
	if now := s.now(); !now.Before(id.Expires) {
		return webIdentity{}, &awsError{
			http.StatusBadRequest, "ExpiredTokenException",
			fmt.Sprintf("Token expired: current date/time %d must be before the expiration date/time %d", now.Unix(), id.Expires.Unix()),
		}
	}
	if !slices.ContainsFunc(id.Audience, func(audience string) bool { return slices.Contains(provider.Audiences, audience) }) {
		return webIdentity{}, identityError("Incorrect token audience")
	}
	return id, nil
}

// errNoVerificationKey is STS's answer when no key of the issuer verifies the token. The two spaces are STS's own.
var errNoVerificationKey = identityError("Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements")
