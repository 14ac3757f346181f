// Who signed a request: the key's owner, and every reason why AWS would not believe it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// A signature is believed from 15 minutes after its date (a slow clock, or a presigned URL's age) to 5 minutes before it (a fast clock).
const (
	sigMaxAge   = 15 * time.Minute
	sigMaxAhead = 5 * time.Minute
)

// awsError is an error answer of an AWS API, spelled as STS spells it.
type awsError struct {
	Status  int
	Code    string
	Message string
}

var (
	errMissingToken        = &awsError{http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token"}
	errIncompleteSignature = &awsError{http.StatusBadRequest, "IncompleteSignature", "Authorization requires 'Credential', 'SignedHeaders' and 'Signature' parameters and an 'X-Amz-Date'."}
	errInvalidToken        = &awsError{http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid."}
	errExpiredToken        = &awsError{http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired"}
	errThrottled           = &awsError{http.StatusBadRequest, "Throttling", "Rate exceeded"}
	errInternal            = &awsError{http.StatusInternalServerError, "InternalFailure", "The request processing has failed because of an unknown error, exception or failure."}
)

func signatureError(message string) *awsError {
	return &awsError{http.StatusForbidden, "SignatureDoesNotMatch", message}
}

// awsCaller is a principal that has proved itself.
type awsCaller struct {
	ARN        string // as GetCallerIdentity spells it
	UserID     string
	AccountID  string
	Session    bool              // an assumed role, so that a further AssumeRole is role chaining
	Policy     string            // the session policy; "" none
	Tags       map[string]string // of the session
	ReadsEKS   bool
	ReadsELB   bool
	ManagesELB bool
	Region     string // of the credential scope
}

// awsKey is what stands behind an access key id.
type awsKey struct {
	caller  awsCaller
	secret  string
	token   string
	expires time.Time // zero: never
	region  string    // the only one that takes it; "" any
}

// key looks an access key id up. The caller holds the lock.
func (s *State) key(id string) (awsKey, bool) {
	if user, ok := s.Users[id]; ok {
		return awsKey{secret: user.SecretKey, caller: awsCaller{
			ARN: user.ARN(), UserID: user.UserID, AccountID: user.AccountID, ReadsEKS: user.ReadsEKS, ReadsELB: user.ReadsELB,
		}}, true
	}
	session, ok := s.Sessions[id]
	if !ok {
		return awsKey{}, false
	}
	roleID, _, _ := strings.Cut(session.UserID, ":")
	may := Role{}
	for _, role := range s.Roles {
		if role.RoleID == roleID {
			may = *role
		}
	}
	return awsKey{secret: session.SecretKey, token: session.SessionToken, expires: session.Expires, region: session.Region, caller: awsCaller{
		ARN: session.ARN, UserID: session.UserID, AccountID: session.AccountID, Session: true, Policy: session.Policy, Tags: session.Tags,
		ReadsEKS: may.ReadsEKS, ReadsELB: may.ReadsELB, ManagesELB: may.ManagesELB,
	}}, true
}

// authenticate proves a request's signature for a service (sts, eks). The caller holds the lock.
func (s *State) authenticate(r *http.Request, body []byte, service string) (awsCaller, *awsError) {
	claim, fault := parseClaim(r)
	if fault != nil {
		return awsCaller{}, fault
	}
	if fault := claim.checkScope(r.Host, service); fault != nil {
		return awsCaller{}, fault
	}
	now := s.now()
	key, ok := s.key(claim.keyID)
	if !ok || key.token != claim.token || key.region != "" && key.region != claim.region || chain.PartitionOf(key.caller.ARN) != partitionOf(claim.region) {
		return awsCaller{}, errInvalidToken
	}
	if !key.expires.IsZero() && !now.Before(key.expires) {
		return awsCaller{}, errExpiredToken
	}
	if fault := claim.checkDate(now); fault != nil {
		return awsCaller{}, fault
	}
	if !claim.matches(key.secret, r, body) {
		return awsCaller{}, signatureError("The request signature we calculated does not match the signature you provided. " +
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	key.caller.Region = claim.region
	return key.caller, nil
}

// checkScope compares the credential scope with the place that was asked. A host that names no region (loopback) takes any known one.
func (c sigClaim) checkScope(host, service string) *awsError {
	switch region := hostRegion(host); {
	case region != "" && c.region != region, region == "" && !slices.Contains(awsRegions, c.region):
		return signatureError("Credential should be scoped to a valid region, not '" + c.region + "'.")
	case c.service != service:
		return signatureError("Credential should be scoped to correct service: '" + service + "'.")
	case c.end != sigTerminator:
		return signatureError("Credential should be scoped with a valid terminator: '" + sigTerminator + "', not '" + c.end + "'.")
	case !slices.Contains(c.headers, "host"):
		return signatureError("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
	}
	return nil
}

func (c sigClaim) checkDate(now time.Time) *awsError {
	signed, err := time.Parse(sigTimeFormat, c.date)
	if err != nil {
		return errIncompleteSignature
	}
	stamp := func(t time.Time) string { return t.UTC().Format(sigTimeFormat) }
	oldest, newest := now.Add(-sigMaxAge).Truncate(time.Second), now.Add(sigMaxAhead).Truncate(time.Second)
	switch {
	case c.day != signed.Format("20060102"):
		return signatureError("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '" +
			c.day + "' != '" + signed.Format("20060102") + "', from '" + c.date + "'.")
	case signed.Before(oldest):
		return signatureError("Signature expired: " + stamp(signed) + " is now earlier than " + stamp(oldest) + " (" + stamp(now) + " - 15 min.)")
	case signed.After(newest):
		return signatureError("Signature not yet current: " + stamp(signed) + " is still later than " + stamp(newest) + " (" + stamp(now) + " + 5 min.)")
	}
	return nil
}
