// What may be a secret is recognized, and no excerpt shows it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"
)

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
		`  authorization: Bearer abc`:           `  authorization: `,
		`  hint: Bearer abc`:                    `  hint: Bearer `,
		`  name: AKIAIOSFODNN7EXAMPLE`:          `  name: `,
		`  name: "k8s-aws-v1.aHR0cHM6"`:         `  name: "`,
		`  region: eu-west-1 # the token is ok`: `  region: eu-west-1 # the token is ok`,
		`  X: {secrets: [abc]}`:                 `  X: {secrets: `,
		`  tls_config: {key: abc}`:              `  tls_config: {key: `,
		`  "key" : "abc"`:                       `  "key" : `,
		`  key_file: /etc/key.pem`:              `  key_file: /etc/key.pem`,
		`  client_certificate_key: abc`:         `  client_certificate_key: `,
		`  client_certificate_key_id: abc`:      `  client_certificate_key_id: abc`,
		`  proxy_connect_header: {A: [abc]}`:    `  proxy_connect_header: `,
		`  basic_auth: abc`:                     `  basic_auth: `,
		`  basic_auth: {username: abc}`:         `  basic_auth: {username: abc}`,
		`  authorization: "abc"`:                `  authorization: "`,
		`  name: monkey: abc`:                   `  name: monkey: abc`,
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
	if last := problems[len(problems)-1]; last.Message != `unknown key "nome"` || strings.Contains(last.String(), "^") {
		t.Errorf("got %s, want the unknown key without a caret", last)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the secret is shown:\n%s", err)
	}
}
