// AssumeRole, and the sessions that it and AssumeRoleWithWebIdentity hand out.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	minSession     = 900   // seconds
	defaultSession = 3600  // seconds; also the longest session of a chained role
	maxSession     = 43200 // seconds
	maxPolicyRunes = 2048
	minSweep       = 1000 // sessions
)

var (
	sessionName = regexp.MustCompile(`^[\w+=,.@-]*$`)
	roleARN     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)
)

// stsAssumed is the result of AssumeRole.
type stsAssumed struct {
	AssumedRoleUser  stsRoleUser
	Credentials      stsCredentials
	PackedPolicySize int `xml:",omitempty"` // percent of what is allowed
}

type stsRoleUser struct {
	AssumedRoleID string `xml:"AssumedRoleId"`
	Arn           string
}

type stsCredentials struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      string // RFC 3339
}

// assumption is what both calls ask for.
type assumption struct {
	roleARN  string
	session  string
	policy   string
	duration time.Duration
}

func validationError(message string) *awsError {
	return &awsError{http.StatusBadRequest, "ValidationError", message}
}

// constraint is STS's message for a parameter outside its bounds.
func constraint(parameter, value, rule string) *awsError {
	return validationError("1 validation error detected: Value '" + value + "' at '" + parameter + "' failed to satisfy constraint: Member must " + rule)
}

// parseAssumption checks the parameters that do not depend on the account.
func parseAssumption(r stsRequest) (assumption, *awsError) {
	a := assumption{roleARN: r.values.Get("RoleArn"), session: r.values.Get("RoleSessionName"), policy: r.values.Get("Policy"), duration: defaultSession * time.Second}
	switch {
	case len(a.roleARN) < 20:
		return a, constraint("roleArn", a.roleARN, "have length greater than or equal to 20")
	case !roleARN.MatchString(a.roleARN):
		return a, validationError(a.roleARN + " is invalid")
	case len(a.session) < 2:
		return a, constraint("roleSessionName", a.session, "have length greater than or equal to 2")
	case len(a.session) > 64:
		return a, constraint("roleSessionName", a.session, "have length less than or equal to 64")
	case !sessionName.MatchString(a.session):
		return a, constraint("roleSessionName", a.session, `satisfy regular expression pattern: [\w+=,.@-]*`)
	}
	if text := r.values.Get("DurationSeconds"); text != "" {
		seconds, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return a, &awsError{http.StatusBadRequest, "MalformedInput", "DurationSeconds is not a number"}
		case seconds < minSession:
			return a, constraint("durationSeconds", text, "have value greater than or equal to "+strconv.Itoa(minSession))
		case seconds > maxSession:
			return a, constraint("durationSeconds", text, "have value less than or equal to "+strconv.Itoa(maxSession))
		}
		a.duration = time.Duration(seconds) * time.Second
	}
	return a, a.checkPolicy()
}

// checkPolicy refuses a session policy that is too large (its packed size is taken to be its length) or damaged.
func (a assumption) checkPolicy() *awsError {
	if a.policy == "" {
		return nil
	}
	if a.packedSize() > 100 {
		return &awsError{
			http.StatusBadRequest, "PackedPolicyTooLarge",
			fmt.Sprintf("Packed policy consumes %d%% of allotted space, please use smaller policy.", a.packedSize()),
		}
	}
	if _, err := parsePolicy(a.policy); err != nil {
		return &awsError{http.StatusBadRequest, "MalformedPolicyDocument", "This policy contains invalid Json"}
	}
	return nil
}

func (a assumption) packedSize() int {
	return (utf8.RuneCountInString(a.policy)*100 + maxPolicyRunes - 1) / maxPolicyRunes
}

func (s *State) assumeRole(r stsRequest) (any, *awsError) {
	caller, fault := s.authenticate(r.http, r.body, "sts")
	if fault != nil {
		return nil, fault
	}
	if s.Disabled[caller.Region] {
		return nil, regionDisabled(caller.AccountID)
	}
	wanted, fault := parseAssumption(r)
	if fault != nil {
		return nil, fault
	}
	refused := "sts:AssumeRole"
	if len(caller.Tags) > 0 {
		refused = "sts:TagSession" // what STS names for a session with transitive tags, whatever the cause: a missing external id too, as public reports show
	}
	denied := "User: " + caller.ARN + " is not authorized to perform: " + refused + " on resource: " + wanted.roleARN
	if decision := caller.sessionPolicy("sts:AssumeRole", wanted.roleARN); decision != policyAllows {
		return nil, &awsError{http.StatusForbidden, "AccessDenied", denied + decision.suffix("sts:AssumeRole")}
	}
	role, ok := s.Roles[wanted.roleARN]
	if !ok || chain.PartitionOf(role.ARN) != chain.PartitionOf(caller.ARN) || !role.trusts(caller, r.values.Get("ExternalId")) {
		return nil, &awsError{http.StatusForbidden, "AccessDenied", denied}
	}
	if caller.Session && wanted.duration > defaultSession*time.Second {
		return nil, validationError("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	}
	session, fault := s.open(role, wanted)
	if fault != nil {
		return nil, fault
	}
	session.Tags = caller.Tags
	return session.assumed(wanted), nil
}

func regionDisabled(account string) *awsError {
	return &awsError{
		http.StatusForbidden, "RegionDisabledException", "STS is not activated in this region for account:" + account +
			". Your account administrator can activate STS in this region using the IAM Console.",
	}
}

// open makes a session of a role that trusts the caller.
func (s *State) open(role *Role, wanted assumption) (*Session, *awsError) {
	longest := max(role.MaxSession, defaultSession*time.Second)
	if wanted.duration > longest {
		return nil, validationError("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	account := chain.AccountOf(role.ARN)
	name := role.ARN[strings.LastIndex(role.ARN, "/")+1:]
	session := &Session{
		AccessKeyID: "ASIA" + rand.Text()[:16], SecretKey: randomBase64(30), SessionToken: randomBase64(270),
		ARN:       "arn:" + chain.PartitionOf(role.ARN) + ":sts::" + account + ":assumed-role/" + name + "/" + wanted.session,
		UserID:    role.RoleID + ":" + wanted.session,
		AccountID: account, Policy: wanted.policy,
		Expires: s.now().Add(wanted.duration).Truncate(time.Second),
	}
	s.sweep()
	s.Sessions[session.AccessKeyID] = session
	return session, nil
}

// sweep forgets sessions that ended more than an hour ago, so that an account may run for weeks; the others still answer ExpiredToken. It looks only when their number has doubled.
func (s *State) sweep() {
	if len(s.Sessions) < s.sweepAt {
		return
	}
	past := s.now().Add(-time.Hour)
	maps.DeleteFunc(s.Sessions, func(_ string, session *Session) bool {
		return !session.Expires.IsZero() && session.Expires.Before(past)
	})
	s.sweepAt = max(minSweep, 2*len(s.Sessions))
}

func (s *Session) assumed(wanted assumption) stsAssumed {
	return stsAssumed{
		AssumedRoleUser: stsRoleUser{AssumedRoleID: s.UserID, Arn: s.ARN},
		Credentials: stsCredentials{
			AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretKey, SessionToken: s.SessionToken, Expiration: s.Expires.UTC().Format(time.RFC3339),
		},
		PackedPolicySize: wanted.packedSize(),
	}
}

// randomBase64 is n random bytes in base64, as keys and session tokens look.
func randomBase64(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never returns an error
	return base64.StdEncoding.EncodeToString(b)
}
