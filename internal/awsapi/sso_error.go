// SSO errors: the one place that tells a login that has ended, which only a person can renew, from a service that did not answer.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
)

// ssoServices are those that a login is turned into credentials with, as the SDK spells them.
var ssoServices = map[string]bool{"SSO": true, "SSO OIDC": true}

// loginEnded reports whether a profile's SSO login is missing, past its end, or refused. For a profile with sso_session the SDK has no type for what is wrong with the kept
// login, and no call is made; each of its texts names the "cached SSO token" (aws-sdk-go-v2 credentials/ssocreds v1.21.0, sso_token_provider.go and sso_cached_token.go).
func (a answer) loginEnded() bool {
	if _, ok := errors.AsType[*ssocreds.InvalidTokenError](a.err); ok {
		return true
	}
	if a.service == "" {
		return strings.Contains(a.err.Error(), "cached SSO token")
	}
	return ssoServices[a.service] && a.code != "" && a.status < 500
}

// ssoSilent reports whether SSO was asked and said nothing that counts: no answer, a fault of its own, or somebody else's answer.
func (a answer) ssoSilent() bool { return ssoServices[a.service] && (a.code == "" || a.status >= 500) }
