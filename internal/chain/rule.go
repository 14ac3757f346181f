// A rule is one access review, written as VERB [GROUP/]RESOURCE[/SUBRESOURCE] [NAME] [in NAMESPACE].
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is one question to the authorizer; empty fields mean what they mean in a SelfSubjectAccessReview: core group, whole resource, any name, all namespaces.
type Rule struct {
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Name        string
	Namespace   string
}

// RuleVerbs are the verbs that Kubernetes' RBAC knows for resources (kubernetes.io "Authorization", request verbs).
var RuleVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind", "escalate", "approve", "sign", "use", "*"}

var (
	ruleResource  = regexp.MustCompile(`^(\*|[a-z][a-z0-9]*)$`)
	ruleGroup     = regexp.MustCompile(`^(\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$`)
	ruleSub       = regexp.MustCompile(`^(\*|[a-z][a-z0-9-]*)$`)
	ruleNamespace = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// RuleError says which word of a rule expression is wrong, at its byte offset.
type RuleError struct {
	Offset int
	Text   string
	Hint   string
}

// Error implements error.
func (e *RuleError) Error() string { return e.Text }

// ParseRule reads a rule expression; every error is a *RuleError.
//
// GROUP/RESOURCE and RESOURCE/SUBRESOURCE look alike with one slash: after a core resource (pods/log) it is read as the latter. A resource that is not of the core group
// and comes without its group is an error, since the cluster would only answer that nobody may touch it.
func ParseRule(expression string) (Rule, error) {
	words, offsets := splitWords(expression)
	if len(words) < 2 {
		return Rule{}, &RuleError{append(offsets, 0)[0], fmt.Sprintf("rule %q is incomplete", expression), `write VERB [GROUP/]RESOURCE[/SUBRESOURCE] [NAME] [in NAMESPACE], such as "create apps/deployments in shop"`}
	}
	if !slices.Contains(RuleVerbs, words[0]) {
		return Rule{}, &RuleError{offsets[0], fmt.Sprintf("unknown verb %q", words[0]), "verbs: " + strings.Join(RuleVerbs, ", ")}
	}
	rule := Rule{Verb: words[0]}
	if err := rule.parseResource(words[1], offsets[1]); err != nil {
		return Rule{}, err
	}
	rest, at := words[2:], offsets[2:]
	if len(rest) > 0 && rest[0] != "in" {
		if !utf8.ValidString(rest[0]) || strings.ContainsFunc(rest[0], func(r rune) bool { return !unicode.IsPrint(r) }) {
			return Rule{}, &RuleError{at[0], fmt.Sprintf("%q is no name", rest[0]), "a name has no control characters"}
		}
		rule.Name, rest, at = rest[0], rest[1:], at[1:]
	}
	switch {
	case len(rest) == 0:
		return rule, nil
	case rest[0] != "in":
		return Rule{}, &RuleError{at[0], fmt.Sprintf("unexpected word %q", rest[0]), "after the resource comes at most one NAME, then: in NAMESPACE"}
	case len(rest) == 1:
		return Rule{}, &RuleError{at[0], `"in" names no namespace`, "write: in NAMESPACE"}
	case len(rest) > 2:
		return Rule{}, &RuleError{at[2], fmt.Sprintf("unexpected word %q", rest[2]), "a rule ends after: in NAMESPACE"}
	case !ruleNamespace.MatchString(rest[1]):
		return Rule{}, &RuleError{at[1], fmt.Sprintf("%q is no namespace name", rest[1]), "a namespace is a lower-case DNS label of at most 63 characters"}
	}
	rule.Namespace = rest[1]
	return rule, nil
}

// String returns the expression that ParseRule reads back.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Verb + " ")
	if r.Group != "" {
		b.WriteString(r.Group + "/")
	}
	b.WriteString(r.Resource)
	if r.Subresource != "" {
		b.WriteString("/" + r.Subresource)
	}
	if r.Name != "" {
		b.WriteString(" " + r.Name)
	}
	if r.Namespace != "" {
		b.WriteString(" in " + r.Namespace)
	}
	return b.String()
}

// coreResources are the resources of the core group with their subresources, a closed set (Kubernetes API v1), and the two that exist only to be impersonated.
var coreResources = map[string][]string{
	"bindings":               nil,
	"componentstatuses":      nil,
	"configmaps":             nil,
	"endpoints":              nil,
	"events":                 nil,
	"groups":                 nil,
	"limitranges":            nil,
	"namespaces":             {"status", "finalize"},
	"nodes":                  {"proxy", "status", "metrics", "stats", "log", "spec", "configz", "healthz", "pods", "checkpoint"},
	"persistentvolumeclaims": {"status"},
	"persistentvolumes":      {"status"},
	"pods":                   {"log", "exec", "attach", "portforward", "proxy", "eviction", "status", "binding", "ephemeralcontainers", "resize"},
	"podtemplates":           nil,
	"replicationcontrollers": {"scale", "status"},
	"resourcequotas":         {"status"},
	"secrets":                nil,
	"serviceaccounts":        {"token"},
	"services":               {"proxy", "status"},
	"users":                  nil,
}

func (r *Rule) parseResource(word string, offset int) error {
	parts := strings.Split(word, "/")
	_, core := coreResources[parts[0]]
	switch {
	case slices.Contains(parts, ""):
		return &RuleError{offset, fmt.Sprintf("%q has an empty part", word), "write [GROUP/]RESOURCE[/SUBRESOURCE], and leave the core group out"}
	case len(parts) > 3:
		return &RuleError{offset, fmt.Sprintf("%q has too many slashes", word), "write [GROUP/]RESOURCE[/SUBRESOURCE]"}
	case len(parts) == 3:
		r.Group, r.Resource, r.Subresource = parts[0], parts[1], parts[2]
	case len(parts) == 2 && core:
		r.Resource, r.Subresource = parts[0], parts[1]
	case len(parts) == 2:
		r.Group, r.Resource = parts[0], parts[1]
	default:
		r.Resource = parts[0]
	}
	return r.checkResource(offset)
}

func (r *Rule) checkResource(offset int) error {
	subresources, core := coreResources[r.Resource]
	switch {
	case r.Group != "" && !ruleGroup.MatchString(r.Group):
		return &RuleError{offset, fmt.Sprintf("%q is no API group", r.Group), "such as apps, batch or rbac.authorization.k8s.io"}
	case !ruleResource.MatchString(r.Resource):
		return &RuleError{offset, fmt.Sprintf("%q is no resource", r.Resource), "use the lower-case plural, such as deployments (kubectl api-resources lists them)"}
	case r.Subresource != "" && !ruleSub.MatchString(r.Subresource):
		return &RuleError{offset, fmt.Sprintf("%q is no subresource", r.Subresource), "such as status, scale or log"}
	case r.Group != "" && r.Subresource == "" && (r.Resource == "status" || r.Resource == "scale"):
		return &RuleError{offset, fmt.Sprintf("%s/%s lacks its API group", r.Group, r.Resource), fmt.Sprintf("write GROUP/%s/%s, such as apps/deployments/scale", r.Group, r.Resource)}
	case r.Group != "" || r.Resource == "*":
		return nil
	case !core:
		return &RuleError{offset, fmt.Sprintf("%q is no resource of the core group", r.Resource), "put its API group before it, such as apps/deployments (kubectl api-resources shows it)"}
	case r.Subresource != "" && r.Subresource != "*" && !slices.Contains(subresources, r.Subresource):
		return &RuleError{offset, fmt.Sprintf("%s has no subresource %q", r.Resource, r.Subresource), "it has: " + cmp.Or(strings.Join(subresources, ", "), "none")}
	}
	return nil
}

// splitWords cuts at blanks and line breaks, and says at which byte each word begins.
func splitWords(s string) (words []string, offsets []int) {
	for at := 0; at < len(s); {
		if strings.IndexByte(" \t\r\n", s[at]) >= 0 {
			at++
			continue
		}
		end := len(s)
		if length := strings.IndexAny(s[at:], " \t\r\n"); length >= 0 {
			end = at + length
		}
		words, offsets = append(words, s[at:end]), append(offsets, at)
		at = end
	}
	return words, offsets
}
