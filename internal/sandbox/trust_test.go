// IAM's decisions: principals of trust policies and the reading of session policies.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import "testing"

func TestCallerIs(t *testing.T) {
	session := awsCaller{ARN: "arn:aws:sts::111122223333:assumed-role/ci/run-1", AccountID: "111122223333"}
	for name, c := range map[string]struct {
		principal string
		want      bool
	}{
		"its role":             {"arn:aws:iam::111122223333:role/ci", true},
		"its role with a path": {"arn:aws:iam::111122223333:role/team/ci", true},
		"its account":          {"111122223333", true},
		"its account's root":   {"arn:aws:iam::111122223333:root", true},
		"its session":          {"arn:aws:sts::111122223333:assumed-role/ci/run-1", true},
		"another session":      {"arn:aws:sts::111122223333:assumed-role/ci/run-2", false},
		"another role":         {"arn:aws:iam::111122223333:role/ci2", false},
		"another account":      {"444455556666", false},
		"another's role":       {"arn:aws:iam::444455556666:role/ci", false},
		"another partition":    {"arn:aws-cn:iam::111122223333:root", false},
		"a user of that name":  {"arn:aws:iam::111122223333:user/ci", false},
		"nothing":              {"", false},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, session.is(c.principal), c.want) })
	}
}

func TestSessionPolicy(t *testing.T) {
	const role = "arn:aws:iam::111122223333:role/ci"
	for name, c := range map[string]struct {
		policy string
		want   policyDecision
	}{
		"none":      {"", policyAllows},
		"deny all":  {denyAll, policyDenies},
		"allow all": {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, policyAllows},
		"allow, then deny": {
			`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"sts:*","Resource":"*"}]}`,
			policyDenies,
		},
		"deny elsewhere": {
			`{"Statement":[{"Effect":"Allow","Action":["sts:AssumeRole"],"Resource":["*"]},{"Effect":"Deny","Action":"sts:*","Resource":"arn:aws:iam::*:role/admin"}]}`,
			policyAllows,
		},
		"case of an action":          {`{"Statement":{"Effect":"Allow","Action":"STS:assumerole","Resource":"*"}}`, policyAllows},
		"one character":              {`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRol?","Resource":"*"}}`, policyAllows},
		"the dot is a dot":           {`{"Statement":{"Effect":"Allow","Action":"sts.AssumeRole","Resource":"*"}}`, policySilent},
		"other actions":              {`{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}`, policySilent},
		"unreadable denies for ever": {"x", policyDenies},
	} {
		t.Run(name, func(t *testing.T) {
			wantSame(t, awsCaller{Policy: c.policy}.sessionPolicy("sts:AssumeRole", role), c.want)
		})
	}
}

func TestParsePolicyRefuses(t *testing.T) {
	for name, policy := range map[string]string{
		"no JSON":            `allow`,
		"something after it": denyAll + `x`,
		"no statement":       `{"Version":"2012-10-17"}`,
		"unknown element":    `{"Statement":{"Effect":"Deny","Action":"*","Resource":"*","Condition":{}}}`,
		"unknown effect":     `{"Statement":{"Effect":"Perhaps","Action":"*","Resource":"*"}}`,
		"no action":          `{"Statement":{"Effect":"Deny","Resource":"*"}}`,
		"no resource":        `{"Statement":[{"Effect":"Deny","Action":"*"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if document, err := parsePolicy(policy); err == nil {
				t.Errorf("read as %+v, want an error", document)
			}
		})
	}
}
