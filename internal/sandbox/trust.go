// IAM's decisions, as far as they matter here: a role's trust policy and a session's inline policy.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// trusts reports whether a statement of the trust policy lets the caller assume the role with the external id.
func (r *Role) trusts(caller awsCaller, externalID string) bool {
	return slices.ContainsFunc(r.Trust, func(t Trust) bool {
		return (len(caller.Tags) == 0 || !t.Untagged) && (t.ExternalID == "" || t.ExternalID == externalID) && slices.ContainsFunc(t.Principals, caller.is)
	})
}

// trustsService reports whether a statement of the trust policy lets an AWS service assume the role, with tags on the session or without.
func (r *Role) trustsService(service string, tagged bool) bool {
	return slices.ContainsFunc(r.Trust, func(t Trust) bool { return (!tagged || !t.Untagged) && slices.Contains(t.Principals, service) })
}

// is compares the caller with a trust policy's principal: an account, an assumed-role session, or a user or role. Names are unique in an account whatever their path, so paths do not matter.
func (c awsCaller) is(principal string) bool {
	switch {
	case principal == c.AccountID, principal == "arn:"+chain.PartitionOf(c.ARN)+":iam::"+c.AccountID+":root":
		return true
	case strings.HasPrefix(principal, "arn:"+chain.PartitionOf(principal)+":sts:"):
		return principal == c.ARN
	}
	return chain.SamePrincipal(principal, c.ARN)
}

// trustsIdentity reports whether a statement of the trust policy takes the web identity.
func (r *Role) trustsIdentity(id webIdentity) bool {
	return slices.ContainsFunc(r.Trust, func(t Trust) bool {
		return t.Issuer != "" && t.Issuer == issuerHost(id.Issuer) &&
			(t.Subject == "" || t.Subject == id.Subject) && (t.Audience == "" || slices.Contains(id.Audience, t.Audience))
	})
}

// policyDecision is what a session policy says of an action.
type policyDecision uint8

const (
	policySilent policyDecision = iota // no statement matches: an implicit deny
	policyAllows
	policyDenies
)

// suffix is how an access-denied message ends.
func (d policyDecision) suffix(action string) string {
	switch d {
	case policyDenies:
		return " with an explicit deny in a session policy"
	case policySilent:
		return " because no session policy allows the " + action + " action"
	case policyAllows:
	}
	return ""
}

// policyStatement is a statement of a session policy. NotAction, NotResource and Condition are not known here, and refused when the session is made.
type policyStatement struct {
	Sid      string
	Effect   string
	Action   oneOrMany[string]
	Resource oneOrMany[string]
}

type policyDocument struct {
	Version   string
	ID        string `json:"Id"`
	Statement oneOrMany[policyStatement]
}

// oneOrMany is IAM's "one value or a list of them".
type oneOrMany[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *oneOrMany[T]) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return unmarshalStrict(data, (*[]T)(l))
	}
	*l = make([]T, 1)
	return unmarshalStrict(data, &(*l)[0])
}

// unmarshalStrict refuses unknown fields and anything after the value.
func unmarshalStrict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading JSON: something follows the value")
	}
	return nil
}

// parsePolicy reads a session policy strictly.
func parsePolicy(text string) (policyDocument, error) {
	var document policyDocument
	if err := unmarshalStrict([]byte(text), &document); err != nil {
		return policyDocument{}, fmt.Errorf("reading a session policy: %w", err)
	}
	if len(document.Statement) == 0 {
		return policyDocument{}, errors.New("reading a session policy: it has no Statement")
	}
	for _, s := range document.Statement {
		if s.Effect != "Allow" && s.Effect != "Deny" || len(s.Action) == 0 || len(s.Resource) == 0 {
			return policyDocument{}, fmt.Errorf("reading a session policy: statement %q needs Effect, Action and Resource", s.Sid)
		}
	}
	return document, nil
}

// sessionPolicy asks the caller's session policy. Without one it does not limit the role.
func (c awsCaller) sessionPolicy(action, resource string) policyDecision {
	if c.Policy == "" {
		return policyAllows
	}
	document, err := parsePolicy(c.Policy)
	if err != nil {
		return policyDenies
	}
	decision := policySilent
	for _, s := range document.Statement {
		if !matchesAny(s.Action, action) || !matchesAny(s.Resource, resource) {
			continue
		}
		if s.Effect == "Deny" {
			return policyDenies
		}
		decision = policyAllows
	}
	return decision
}

// matchesAny reports whether one of the patterns, in which * is any text and ? any character, matches. Case does not matter: IAM ignores that of actions, and no two ARNs here differ in it alone.
func matchesAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		return regexp.MustCompile(`^(?is:` + quoted + `)$`).MatchString(text)
	})
}
