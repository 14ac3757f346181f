// The caret stands under the right characters, positions are in order, and an excerpt shows no secret.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"
)

func TestUnderline(t *testing.T) {
	for name, c := range map[string]struct {
		line        string
		caret, long int
		want        string
	}{
		"plain":                       {"ab: cd", 4, 2, "    ^^"},
		"tabs are kept":               {"\ta:\tb", 4, 1, "\t  \t^"},
		"wide characters":             {"日本: x", 4, 1, "      ^"},
		"wide characters underlined":  {"x: 日本", 3, 2, "   ^^^^"},
		"combining characters":        {"e\u0301: x", 4, 1, "   ^"},
		"just past the end":           {"name:", 5, 1, "     ^"},
		"multi-byte, not wide":        {"größe: x", 7, 1, "       ^"},
		"a tab inside the underlined": {"a\tb", 0, 3, "^^^"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := underline(c.line, c.caret, c.long); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestProblemsAreInOrderAndFormatted(t *testing.T) {
	problems := Problems{
		{File: "x.yaml", Line: 14, Column: 5, Message: `unknown key "asume_role"`, Hint: `did you mean "assume_role"?`, Source: "    asume_role:", caret: 4, width: 10},
		{File: "x.yaml", Line: 2, Column: 9, Message: "b"},
		{File: "x.yaml", Line: 2, Column: 9, Message: "a"},
		{File: "x.yaml", Line: 2, Column: 1, Message: "c"},
	}
	problems.sort()
	const want = `x.yaml:2:1: c
x.yaml:2:9: a
x.yaml:2:9: b
x.yaml:14:5: unknown key "asume_role"
  14 |     asume_role:
     |     ^^^^^^^^^^
     hint: did you mean "assume_role"?`
	if got := problems.Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSecretStart(t *testing.T) {
	for line, want := range map[string]string{
		`  external_id: abc`:                    `  external_id: `,
		`  externalId : abc`:                    `  externalId : `,
		`  "password": abc`:                     `  "password": `,
		`{a: b, client-secret: abc, c: d}`:      `{a: b, client-secret: `,
		`  external_id_file: /etc/id`:           `  external_id_file: /etc/id`,
		`  token_file: /var/run/token`:          `  token_file: /var/run/token`,
		`  endpoint: https://u:p@host/`:         `  endpoint: https://`,
		`  endpoint: https://host/a@b`:          `  endpoint: https://host/a@b`,
		`  authorization: Bearer abc`:           `  authorization: Bearer `,
		`  name: AKIAIOSFODNN7EXAMPLE`:          `  name: `,
		`  name: "k8s-aws-v1.aHR0cHM6"`:         `  name: "`,
		`  region: eu-west-1 # the token is ok`: `  region: eu-west-1 # the token is ok`,
		"  name: caf\xe9 \u2028 日本":             "  name: caf\xe9 \u2028 日本",
	} {
		t.Run(line, func(t *testing.T) {
			if got := line[:secretStart(line)]; got != want {
				t.Errorf("shown is %q, want %q", got, want)
			}
		})
	}
}

func TestSecretKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"secret": true, "AWS_SECRET_ACCESS_KEY": true, "accessKeyId": true, "external-id": true, "db_password": true, "token": true,
		"external_id_file": false, "token_file": false, "secrets": false, "secret_store": false, "tokenless": false, "monkey": false,
	} {
		if got := isSecretKey(key); got != want {
			t.Errorf("isSecretKey(%q) = %t, want %t", key, got, want)
		}
	}
}

func TestSecretsInLongLinesStayHidden(t *testing.T) {
	text := "identities: [{name: a, source: irsa}, " + strings.Repeat("{name: b, source: env}, ", 30) + "{password: " + strings.Repeat("hunter2", 40) + ", nome: x}]"
	_, err := Parse("x.yaml", []byte(text))
	problems := asProblems(t, err)
	if last := problems[len(problems)-1]; last.Message != `unknown key "nome"` || last.width != 0 {
		t.Errorf("got %s, want the unknown key without a caret", last)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the secret is shown:\n%s", err)
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"assume_role", "name", "labels", "region"}
	for word, want := range map[string]string{
		"asume_role": "assume_role", "lables": "labels", "Name": "name", "nmae": "", "zone": "", "regions": "region", "": "", strings.Repeat("name", 20): "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
