// Tests of the two spellings of a principal.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "testing"

func TestCanonicalARN(t *testing.T) {
	cases := map[string]struct{ arn, want string }{
		"assumed role":             {"arn:aws:sts::111122223333:assumed-role/ci/run-1", "arn:aws:iam::111122223333:role/ci"},
		"China":                    {"arn:aws-cn:sts::111122223333:assumed-role/ci/run-1", "arn:aws-cn:iam::111122223333:role/ci"},
		"GovCloud":                 {"arn:aws-us-gov:sts::111122223333:assumed-role/ci/run-1", "arn:aws-us-gov:iam::111122223333:role/ci"},
		"session with @":           {"arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0123/me@example.com", "arn:aws:iam::111122223333:role/AWSReservedSSO_Admin_0123"},
		"role with a path":         {"arn:aws:sts::111122223333:assumed-role/team/ci/run-1", "arn:aws:iam::111122223333:role/team/ci"},
		"no session":               {"arn:aws:sts::111122223333:assumed-role/ci", "arn:aws:sts::111122223333:assumed-role/ci"},
		"role":                     {"arn:aws:iam::111122223333:role/team/ci", "arn:aws:iam::111122223333:role/team/ci"},
		"user":                     {"arn:aws:iam::111122223333:user/jane", "arn:aws:iam::111122223333:user/jane"},
		"root":                     {"arn:aws:iam::111122223333:root", "arn:aws:iam::111122223333:root"},
		"federated user":           {"arn:aws:sts::111122223333:federated-user/jane", "arn:aws:sts::111122223333:federated-user/jane"},
		"another service's assume": {"arn:aws:s3:::assumed-role/a/b", "arn:aws:s3:::assumed-role/a/b"},
		"no ARN":                   {"assumed-role/ci/run-1", "assumed-role/ci/run-1"},
		"empty":                    {"", ""},
	}
	for name, c := range cases {
		if got := CanonicalARN(c.arn); got != c.want {
			t.Errorf("%s: CanonicalARN(%q) = %q, want %q", name, c.arn, got, c.want)
		}
		if got := (Principal{ARN: c.arn}).Canonical(); got != c.want {
			t.Errorf("%s: Canonical of %q = %q, want %q", name, c.arn, got, c.want)
		}
	}
}

func TestSessionName(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:sts::111122223333:assumed-role/ci/run-1":              "run-1",
		"arn:aws:sts::111122223333:assumed-role/node/i-0123456789abcd": "i-0123456789abcd",
		"arn:aws:sts::111122223333:assumed-role/ci":                    "",
		"arn:aws:iam::111122223333:user/jane":                          "",
		"arn:aws:sts::111122223333:federated-user/jane":                "",
		"": "",
	} {
		if got := (Principal{ARN: arn}).SessionName(); got != want {
			t.Errorf("session of %q is %q, want %q", arn, got, want)
		}
	}
}

func TestStripPath(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:iam::111122223333:role/team/x/ci":           "arn:aws:iam::111122223333:role/ci",
		"arn:aws-cn:iam::111122223333:role/team/ci":          "arn:aws-cn:iam::111122223333:role/ci",
		"arn:aws:iam::111122223333:role/ci":                  "arn:aws:iam::111122223333:role/ci",
		"arn:aws:iam::111122223333:user/division/jane":       "arn:aws:iam::111122223333:user/jane",
		"arn:aws:iam::111122223333:root":                     "arn:aws:iam::111122223333:root",
		"arn:aws:sts::111122223333:assumed-role/team/ci/run": "arn:aws:sts::111122223333:assumed-role/team/ci/run",
		"role/team/ci": "role/team/ci",
		"":             "",
	} {
		if got := StripPath(arn); got != want {
			t.Errorf("StripPath(%q) = %q, want %q", arn, got, want)
		}
	}
}

func TestSamePrincipal(t *testing.T) {
	const session = "arn:aws:sts::111122223333:assumed-role/ci/run-1"
	cases := map[string]struct {
		expected, caller string
		want             bool
	}{
		"role and its session":   {"arn:aws:iam::111122223333:role/ci", session, true},
		"role with a path":       {"arn:aws:iam::111122223333:role/team/ci", session, true},
		"session as expectation": {"arn:aws:sts::111122223333:assumed-role/ci/other", session, true},
		"user with a path":       {"arn:aws:iam::111122223333:user/jane", "arn:aws:iam::111122223333:user/division/jane", true},
		"root":                   {"arn:aws:iam::111122223333:root", "arn:aws:iam::111122223333:root", true},
		"another role":           {"arn:aws:iam::111122223333:role/ci-deploy", session, false},
		"path's end is no name":  {"arn:aws:iam::111122223333:role/ci/deploy", session, false},
		"another account":        {"arn:aws:iam::444455556666:role/ci", session, false},
		"another partition":      {"arn:aws-cn:iam::111122223333:role/ci", session, false},
		"user of a role's name":  {"arn:aws:iam::111122223333:user/ci", session, false},
		"root against a role":    {"arn:aws:iam::111122223333:root", session, false},
		"case counts":            {"arn:aws:iam::111122223333:role/CI", session, false},
		"nothing expected":       {"", session, false},
	}
	for name, c := range cases {
		if got := SamePrincipal(c.expected, c.caller); got != c.want {
			t.Errorf("%s: SamePrincipal(%q, %q) = %v, want %v", name, c.expected, c.caller, got, c.want)
		}
	}
}

func TestIsInstanceID(t *testing.T) {
	for session, want := range map[string]bool{
		"i-0123456789abcdef0": true, "i-01234567": true,
		"": false, "i-": false, "i-0123456": false, "i-012345678": false, "i-0123456789abcdef01": false, "i-0123456789ABCDEF0": false, "run-i-01234567": false, "i-01234567\n": false, "i-0123456g": false,
	} {
		if got := IsInstanceID(session); got != want {
			t.Errorf("IsInstanceID(%q) = %v, want %v", session, got, want)
		}
	}
}

func TestPartsOfARN(t *testing.T) {
	for arn, want := range map[string][2]string{
		"arn:aws:iam::111122223333:role/ci":                          {"aws", "111122223333"},
		"arn:aws-us-gov:sts::111122223333:assumed-role/ci/a:b":       {"aws-us-gov", "111122223333"},
		"arn:aws-cn:eks:cn-north-1:111122223333:cluster/prod":        {"aws-cn", "111122223333"},
		"arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy": {"aws", "aws"},
		"urn:aws:iam::111122223333:role/ci":                          {},
		"arn:aws:iam::111122223333":                                  {},
		"":                                                           {},
	} {
		if got := [2]string{PartitionOf(arn), AccountOf(arn)}; got != want {
			t.Errorf("partition and account of %q are %q, want %q", arn, got, want)
		}
	}
}
