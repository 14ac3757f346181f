// Tests of facts and of filling them into fixes: known names only, and safe to paste into a shell.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commands are the programs that a fix may begin a line with.
var commands = []string{"aws", "kubectl", "curl", "dig", "openssl", "chronyc", "sudo"}

func isCommand(line string) bool {
	program, _, _ := strings.Cut(line, " ")
	return slices.Contains(commands, program)
}

func TestFixPlaceholdersAreFacts(t *testing.T) {
	braces := regexp.MustCompile(`\{[a-z_ ]+\}`)
	for _, row := range Reasons() {
		for _, match := range braces.FindAllString(row.Fix, -1) {
			if name := Fact(strings.Trim(match, "{}")); !slices.Contains(FactNames, name) {
				t.Errorf("%v/%s: the fix names %s, which is no fact", row.Step, row.Reason, match)
			}
		}
	}
}

func TestFactNamesAreUnique(t *testing.T) {
	seen := map[Fact]bool{}
	for _, name := range FactNames {
		if seen[name] || !placeholder.MatchString("{"+string(name)+"}") {
			t.Errorf("fact %q is there twice, or no fix can name it", name)
		}
		seen[name] = true
	}
}

func TestFix(t *testing.T) {
	all := Facts{
		FactRegion: "eu-west-1", FactEKSName: "prod", FactPrincipal: "arn:aws:iam::111122223333:role/ci-deploy", FactExpectedGroups: "deployers,view only", FactAuthMode: "API",
	}
	cases := map[string]struct {
		step   Step
		reason Reason
		facts  Facts
		line   int
		want   string
	}{
		"filled": {StepAccessEntry, ReasonNotMapped, all, 0,
			"aws eks create-access-entry --region eu-west-1 --cluster-name prod --principal-arn arn:aws:iam::111122223333:role/ci-deploy --kubernetes-groups deployers 'view only'"},
		"nothing known": {StepAccessEntry, ReasonNotMapped, nil, 0,
			"aws eks create-access-entry --region <region> --cluster-name <eks_name> --principal-arn <principal> --kubernetes-groups <expected_groups>"},
		"an empty list": {StepAccessEntry, ReasonUnexpectedGroups, Facts{FactGroups: ",, ", FactExpectedGroups: "a"}, 0, "Got <groups>, expected a."},
		"a template is no placeholder": {StepAccessEntry, ReasonUsernameTemplateUnresolved, all, 1,
			"aws eks update-access-entry --region eu-west-1 --cluster-name prod --principal-arn arn:aws:iam::111122223333:role/ci-deploy --username 'deploy:{{SessionName}}'"},
		"a template as a value": {StepAccessEntry, ReasonUnexpectedUsername, Facts{FactExpectedUsername: "ci:{{SessionName}}"}, 1,
			"aws eks update-access-entry --region <region> --cluster-name <eks_name> --principal-arn <principal> --username 'ci:{{SessionName}}'"},
		"JSON is no placeholder": {StepAccessEntry, ReasonUnauthorizedUnexplained, all, 2,
			`aws eks update-cluster-config --region eu-west-1 --name prod --logging '{"clusterLogging":[{"types":["authenticator"],"enabled":true}]}'`},
		"a name that holds a placeholder": {StepToken, ReasonClusterNotFound, Facts{FactRegion: "{eks_name}", FactEKSName: "prod"}, 0, "aws eks list-clusters --region '{eks_name}'"},
		"quotes":                          {StepToken, ReasonClusterNotFound, Facts{FactRegion: `it's "$(id)"`}, 0, `aws eks list-clusters --region 'it'\''s "$(id)"'`},
		"newlines":                        {StepToken, ReasonClusterNotFound, Facts{FactRegion: "a\nrm -rf ~"}, 0, "aws eks list-clusters --region 'a rm -rf ~'"},
		"a secret":                        {StepToken, ReasonClusterNotFound, Facts{FactRegion: "AKIAIOSFODNN7EXAMPLE"}, 0, "aws eks list-clusters --region '[redacted]'"},
		"unknown, seen at a step":         {StepToken, ReasonSTSThrottled, Facts{FactIdentity: "ci"}, 0, "Raise interval, or set reuse_session on identity ci: a run then makes no AssumeRole of its own."},
		"no such reason":                  {StepToken, "no_such", all, 0, ""},
		"a reason of another step":        {StepToken, ReasonNotMapped, all, 0, ""},
	}
	for name, c := range cases {
		if got := strings.Split(Fix(c.step, c.reason, c.facts), "\n")[c.line]; got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestFixLeavesNothingUnfilled(t *testing.T) {
	facts, empty := Facts{}, Facts{}
	for _, name := range FactNames {
		facts[name], empty[name] = "value", ""
	}
	for _, row := range Reasons() {
		if got, want := Fix(row.Step, row.Reason, facts), placeholder.ReplaceAllString(row.Fix, "value"); got != want {
			t.Errorf("%v/%s: got %s\nwant %s", row.Step, row.Reason, got, want)
		}
		if got, want := Fix(row.Step, row.Reason, empty), placeholder.ReplaceAllString(row.Fix, "<$1>"); got != want {
			t.Errorf("%v/%s: got %s\nwant %s", row.Step, row.Reason, got, want)
		}
	}
}

// A real shell reads every command of every fix; whatever the values hold, they must reach it inside of one word each.
func TestFixIsSafeInAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, hostile := range []string{`a'; echo pwned; '`, "`echo pwned`", "$(echo pwned)", "a\necho pwned", `"; echo pwned; "`, "a b", "*", "a > b", `\`, "~", "#x", "é&"} {
		facts := Facts{}
		for _, name := range FactNames {
			facts[name] = hostile
		}
		shown := strings.ReplaceAll(hostile, "\n", " ")
		var script strings.Builder
		var want []string
		for _, row := range Reasons() {
			plain := strings.Split(row.Fix, "\n")
			for i, line := range strings.Split(Fix(row.Step, row.Reason, facts), "\n") {
				if isCommand(line) {
					script.WriteString("printf '%s\\0' " + line + " end\n")
					want = append(want, append(wordsOf(plain[i], shown), "end")...)
				}
			}
		}
		cmd := exec.Command(sh, "-fc", script.String()) // -f: the fixes' own * and ? are the test's, not the shell's
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: the shell says %v: %s", hostile, err, out)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%q: word %d is %q, want %q (after %q)", hostile, i, got[i], want[i], got[max(0, i-6):i])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q: the shell reads %d words, want %d", hostile, len(got), len(want))
		}
	}
}

// wordsOf is how a line of a fix must be read: its quoted words and, in place of each placeholder, the value.
func wordsOf(line, value string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`'[^']*'|[^ ']+`).FindAllString(line, -1) {
		words = append(words, placeholder.ReplaceAllLiteralString(strings.Trim(word, "'"), value))
	}
	return words
}

func TestMerge(t *testing.T) {
	base := Facts{FactRegion: "eu-west-1", FactHost: "a", FactProxy: ""}
	got := base.Merge(Facts{FactHost: "b", FactRegion: ""}, nil, Facts{FactURL: "u"})
	if want := (Facts{FactRegion: "eu-west-1", FactHost: "b", FactURL: "u"}); !maps.Equal(got, want) {
		t.Errorf("merged %v, want %v", got, want)
	}
	if base[FactHost] != "a" {
		t.Error("Merge must leave its receiver alone")
	}
	if got := Facts(nil).Merge(); got == nil || len(got) != 0 {
		t.Errorf("merging nothing gives %v, want an empty map", got)
	}
}
