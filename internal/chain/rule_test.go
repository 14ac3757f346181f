// Tests of rule expressions: what is read, what is refused and at which word, and that writing and reading agree.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRule(t *testing.T) {
	cases := map[string]struct {
		expression string
		want       Rule
	}{
		"core, cluster-wide":       {"list nodes", Rule{Verb: "list", Resource: "nodes"}},
		"core, namespaced":         {"get secrets in kube-system", Rule{Verb: "get", Resource: "secrets", Namespace: "kube-system"}},
		"group":                    {"create apps/deployments in shop", Rule{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "shop"}},
		"dotted group":             {"bind rbac.authorization.k8s.io/clusterroles", Rule{Verb: "bind", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}},
		"core subresource":         {"get pods/log in shop", Rule{Verb: "get", Resource: "pods", Subresource: "log", Namespace: "shop"}},
		"all subresources":         {"get pods/*", Rule{Verb: "get", Resource: "pods", Subresource: "*"}},
		"group and subresource":    {"patch apps/deployments/scale in shop", Rule{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "shop"}},
		"name":                     {"get configmaps aws-auth in kube-system", Rule{Verb: "get", Resource: "configmaps", Name: "aws-auth", Namespace: "kube-system"}},
		"name, cluster-wide":       {"get namespaces shop", Rule{Verb: "get", Resource: "namespaces", Name: "shop"}},
		"name with slashes":        {"impersonate users arn:aws:sts::111122223333:assumed-role/ci/x", Rule{Verb: "impersonate", Resource: "users", Name: "arn:aws:sts::111122223333:assumed-role/ci/x"}},
		"group of masters":         {"impersonate groups system:masters", Rule{Verb: "impersonate", Resource: "groups", Name: "system:masters"}},
		"everything":               {"* */*", Rule{Verb: "*", Group: "*", Resource: "*"}},
		"every core resource":      {"get * in shop", Rule{Verb: "get", Resource: "*", Namespace: "shop"}},
		"every group":              {"* */*/*", Rule{Verb: "*", Group: "*", Resource: "*", Subresource: "*"}},
		"blanks and tabs":          {"  list\t\tnodes  ", Rule{Verb: "list", Resource: "nodes"}},
		"lines of a YAML block":    {"get pods\n  in shop\n", Rule{Verb: "get", Resource: "pods", Namespace: "shop"}},
		"longest namespace":        {"get pods in " + strings.Repeat("a", 63), Rule{Verb: "get", Resource: "pods", Namespace: strings.Repeat("a", 63)}},
		"subresource with a dash":  {"get x.io/things/guest-info", Rule{Verb: "get", Group: "x.io", Resource: "things", Subresource: "guest-info"}},
		"custom resource in group": {"create elbv2.k8s.aws/targetgroupbindings in shop", Rule{Verb: "create", Group: "elbv2.k8s.aws", Resource: "targetgroupbindings", Namespace: "shop"}},
	}
	for name, c := range cases {
		got, err := ParseRule(c.expression)
		if err != nil || got != c.want {
			t.Errorf("%s: ParseRule(%q) = %+v, %v; want %+v", name, c.expression, got, err, c.want)
			continue
		}
		if again, err := ParseRule(got.String()); err != nil || again != got {
			t.Errorf("%s: %q is written as %q, which reads as %+v, %v", name, c.expression, got.String(), again, err)
		}
	}
}

func TestRuleString(t *testing.T) {
	rule := Rule{Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale", Name: "web", Namespace: "shop"}
	if got, want := rule.String(), "get apps/deployments/scale web in shop"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// The caret of each case stands under the word that its error must point at.
func TestParseRuleErrors(t *testing.T) {
	cases := map[string]struct{ expression, caret, want string }{
		"nothing":                    {"", "^", `rule "" is incomplete`},
		"a verb alone":               {"  get", "  ^", `rule "  get" is incomplete`},
		"verb":                       {" read pods", " ^", `unknown verb "read"`},
		"verb in capitals":           {"GET pods", "^", `unknown verb "GET"`},
		"resource in capitals":       {"get Pods", "    ^", `"Pods" is no resource`},
		"a group in capitals":        {"get Apps/deployments", "    ^", `"Apps" is no API group`},
		"a forgotten group":          {"create deployments in shop", "       ^", `"deployments" is no resource of the core group`},
		"a group of a subresource":   {"patch deployments/scale in shop", "      ^", "deployments/scale lacks its API group"},
		"an unknown subresource":     {"get  pods/logs", "     ^", `pods has no subresource "logs"`},
		"no subresource at all":      {"get secrets/data", "    ^", `secrets has no subresource "data"`},
		"subresource in capitals":    {"get apps/deployments/Scale", "    ^", `"Scale" is no subresource`},
		"an empty group":             {"get /pods", "    ^", `"/pods" has an empty part`},
		"an empty group of three":    {"get /pods/log", "    ^", `"/pods/log" has an empty part`},
		"an empty resource":          {"get apps/", "    ^", `"apps/" has an empty part`},
		"an empty subresource":       {"get apps/deployments/", "    ^", `"apps/deployments/" has an empty part`},
		"too many slashes":           {"get a/b/c/d", "    ^", `"a/b/c/d" has too many slashes`},
		"in without a namespace":     {"get pods in", "         ^", `"in" names no namespace`},
		"a name, in, no namespace":   {"get pods web in", "             ^", `"in" names no namespace`},
		"two names":                  {"get pods web db", "             ^", `unexpected word "db"`},
		"a word after the namespace": {"get pods in shop now", "                 ^", `unexpected word "now"`},
		"namespace in capitals":      {"get pods in Shop", "            ^", `"Shop" is no namespace name`},
		"namespace too long":         {"get pods in " + strings.Repeat("a", 64), "            ^", `"` + strings.Repeat("a", 64) + `" is no namespace name`},
		"a control character":        {"get pods a\x00b", "         ^", `"a\x00b" is no name`},
		"a name in broken UTF-8":     {"get pods \xff", "         ^", `"\xff" is no name`},
		"after tabs and two bytes":   {"get\t\tpöds", "\t\t\t\t\t^", `"pöds" is no resource`},
	}
	for name, c := range cases {
		rule, err := ParseRule(c.expression)
		var bad *RuleError
		if !errors.As(err, &bad) {
			t.Errorf("%s: ParseRule(%q) = %+v, %v; want a *RuleError", name, c.expression, rule, err)
			continue
		}
		if bad.Error() != c.want || bad.Offset != len(c.caret)-1 {
			t.Errorf("%s: error %q at %d, want %q at %d", name, bad, bad.Offset, c.want, len(c.caret)-1)
		}
		if bad.Hint == "" || rule != (Rule{}) {
			t.Errorf("%s: hint %q, rule %+v; want a hint and no rule", name, bad.Hint, rule)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{
		"list nodes", "create apps/deployments in shop", "get pods/log in shop", "get configmaps aws-auth in kube-system", "* */*", "get /foos/status", "get pods in in", "impersonate users a/b c", "get a/b/c/d", " get\tpods\n", "patch deployments/scale", "get secrets \xff", "get pods/*",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		rule, err := ParseRule(expression)
		if err != nil {
			var bad *RuleError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(expression) || bad.Hint == "" {
				t.Fatalf("ParseRule(%q): %#v must be a *RuleError with a hint and an offset inside", expression, err)
			}
			if at := expression[bad.Offset:]; bad.Offset > 0 && (strings.TrimLeft(at, " \t\r\n") != at || strings.Trim(expression[bad.Offset-1:bad.Offset], " \t\r\n") != "") {
				t.Fatalf("ParseRule(%q): offset %d is not the beginning of a word", expression, bad.Offset)
			}
			return
		}
		again, err := ParseRule(rule.String())
		if err != nil || again != rule {
			t.Fatalf("ParseRule(%q) = %+v, written %q, reads back as %+v, %v", expression, rule, rule.String(), again, err)
		}
	})
}
