// Whom callers are mapped to: authentication modes, access entries, aws-auth and templates.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// caller is a session of the role team/ci, whose path STS does not show.
var caller = identity{
	arn: "arn:aws:sts::111122223333:assumed-role/ci/bob@example.com", canonicalARN: "arn:aws:iam::111122223333:role/ci",
	accountID: testAccount, userID: "AROACI", sessionName: "bob@example.com", accessKeyID: "ASIATEST",
}

// entryFor is the access entry of the role team/ci.
func entryFor(username, kind, roleID string, groups ...string) *Entry {
	return &Entry{AccessEntry: chain.AccessEntry{PrincipalARN: "arn:aws:iam::111122223333:role/team/ci", Username: username, Type: kind, Groups: groups}, RoleID: roleID}
}

func TestMapCaller(t *testing.T) {
	onInstance := caller
	onInstance.arn, onInstance.sessionName = "arn:aws:sts::111122223333:assumed-role/ci/i-0123456789abcdef0", "i-0123456789abcdef0"
	mapRoles := map[string]string{"mapRoles": "- {rolearn: 'arn:aws:iam::111122223333:role/ci', username: from-aws-auth, groups: [old]}"}
	const notMapped = "identity is not mapped"
	const both, entriesOnly, mapOnly = chain.AuthModeAPIAndConfigMap, chain.AuthModeAPI, chain.AuthModeConfigMap
	tests := map[string]struct {
		mode     string
		entry    *Entry
		awsAuth  map[string]string
		caller   identity
		username string
		groups   []string
		err      string
	}{
		"the entry hides aws-auth":             {both, entryFor("ci", "STANDARD", "AROACI", "new"), mapRoles, caller, "ci", []string{"new"}, ""},
		"without an entry aws-auth counts":     {both, nil, mapRoles, caller, "from-aws-auth", []string{"old"}, ""},
		"a recreated role falls to aws-auth":   {both, entryFor("ci", "STANDARD", "AROAOLD", "new"), mapRoles, caller, "from-aws-auth", []string{"old"}, ""},
		"CONFIG_MAP knows no entries":          {mapOnly, entryFor("ci", "STANDARD", "AROACI", "new"), mapRoles, caller, "from-aws-auth", []string{"old"}, ""},
		"API knows no aws-auth":                {entriesOnly, nil, mapRoles, caller, "", nil, notMapped},
		"a recreated role under API":           {entriesOnly, entryFor("ci", "STANDARD", "AROAOLD"), nil, caller, "", nil, notMapped},
		"an entry that never knew the id":      {entriesOnly, entryFor("ci", "STANDARD", ""), nil, caller, "ci", []string{}, ""},
		"no ConfigMap":                         {mapOnly, nil, nil, caller, "", nil, notMapped},
		"an account":                           {mapOnly, nil, map[string]string{"mapAccounts": "- '111122223333'"}, caller, "arn:aws:iam::111122223333:role/ci", []string{}, ""},
		"another account":                      {mapOnly, nil, map[string]string{"mapAccounts": "- '444455556666'"}, caller, "", nil, notMapped},
		"the default username has no path":     {entriesOnly, entryFor("", "STANDARD", "AROACI"), nil, caller, "arn:aws:sts::111122223333:assumed-role/ci/bob-example.com", []string{}, ""},
		"templates":                            {entriesOnly, entryFor("{{AccountID}}:{{SessionName}}:{{SessionNameRaw}}:{{AccessKeyID}}", "STANDARD", "AROACI", "in-{{AccountID}}"), nil, caller, "111122223333:bob-example.com:bob@example.com:ASIATEST", []string{"in-111122223333"}, ""},
		"a node":                               {entriesOnly, entryFor("", "EC2_LINUX", "AROACI"), nil, onInstance, "system:node:ip-10-188-222-240.eu-west-1.compute.internal", []string{"system:nodes"}, ""},
		"a node's role in other hands":         {both, entryFor("", "EC2_LINUX", "AROACI"), mapRoles, caller, "", nil, `error rendering username template "system:node:{{EC2PrivateDNSName}}": SessionName did not contain an instance id`},
		"Fargate":                              {entriesOnly, entryFor("", "FARGATE_LINUX", "AROACI"), nil, caller, "system:node:bob-example.com", []string{"system:nodes"}, ""},
		"a node by aws-auth in other hands":    {mapOnly, nil, map[string]string{"mapRoles": "- {rolearn: 'arn:aws:iam::111122223333:role/ci', username: 'n:{{EC2PrivateDNSName}}'}"}, caller, "", nil, `error rendering username template "n:{{EC2PrivateDNSName}}": SessionName did not contain an instance id`},
		"aws-auth with the role's path":        {mapOnly, nil, map[string]string{"mapRoles": "- {rolearn: 'arn:aws:iam::111122223333:role/team/ci', username: x}"}, caller, "", nil, notMapped},
		"aws-auth with the assumed role's ARN": {mapOnly, nil, map[string]string{"mapRoles": "- {rolearn: 'arn:aws:sts::111122223333:assumed-role/ci/bob@example.com', username: x}"}, caller, "", nil, notMapped},
		"aws-auth in other case":               {mapOnly, nil, map[string]string{"mapRoles": "- {rolearn: 'ARN:aws:IAM::111122223333:role/CI', username: x}"}, caller, "x", []string{}, ""},
		"a role among the users":               {mapOnly, nil, map[string]string{"mapUsers": "- {userarn: 'arn:aws:iam::111122223333:role/ci', username: x}"}, caller, "x", []string{}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := &Cluster{Name: "prod", Region: testRegion, AuthMode: test.mode, AWSAuth: test.awsAuth}
			if test.entry != nil {
				c.Entries = map[string]*Entry{test.entry.PrincipalARN: test.entry}
			}
			m, err := c.mapCaller(test.caller, false)
			if got := errorText(err); got != test.err {
				t.Errorf("error %q, want %q", got, test.err)
			}
			wantSame(t, m.username, test.username)
			wantSame(t, m.groups, test.groups)
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseAWSAuth(t *testing.T) {
	tests := map[string]struct {
		data  map[string]string
		exact bool
		want  awsAuth
	}{
		"nothing": {},
		"all sections": {
			data: map[string]string{
				"mapRoles":    "- rolearn: arn:aws:iam::1:role/A\n  username: a\n  groups:\n  - g\n  - h\n",
				"mapUsers":    "- userarn: arn:aws:iam::1:user/B\n  username: b\n",
				"mapAccounts": "- 111122223333\n- \"000000000001\"\n",
			},
			want: awsAuth{
				roles:    map[string]mapping{"arn:aws:iam::1:role/a": {"a", []string{"g", "h"}}},
				users:    map[string]mapping{"arn:aws:iam::1:user/b": {"b", nil}},
				accounts: []string{"111122223333", "000000000001"},
			},
		},
		"the last line wins": {
			data: map[string]string{"mapRoles": "- {rolearn: r, username: first, groups: [a]}\n- {rolearn: R, username: last}\n"},
			want: awsAuth{roles: map[string]mapping{"r": {"last", nil}}},
		},
		"keys in any case": {
			data: map[string]string{"mapRoles": "- {roleARN: r, UserName: u, GROUPS: [g]}"},
			want: awsAuth{roles: map[string]mapping{"r": {"u", []string{"g"}}}},
		},
		"keys in any case, exact": {data: map[string]string{"mapRoles": "- {roleARN: r, username: u}\n- {rolearn: s, username: v, GROUPS: [g]}"}, exact: true,
			want: awsAuth{roles: map[string]mapping{"s": {"v", nil}}}},
		"sections are exact": {data: map[string]string{"maproles": "- {rolearn: r, username: u}"}},
		"a broken section is alone": {
			data: map[string]string{"mapRoles": "- rolearn: r\n username: u: v\n", "mapUsers": "- {userarn: u, username: u}", "mapAccounts": "- [\n"},
			want: awsAuth{users: map[string]mapping{"u": {"u", nil}}},
		},
		"a broken section, exact": {data: map[string]string{"mapRoles": "- rolearn: r\n username: u: v\n"}, exact: true},
		"no list":                 {data: map[string]string{"mapRoles": "rolearn: r", "mapUsers": `""`, "mapAccounts": "''"}},
		"a wrong type is skipped": {
			data: map[string]string{"mapRoles": "- {rolearn: r, username: u, groups: deployers}\n- {rolearn: s, username: v}"},
			want: awsAuth{roles: map[string]mapping{"r": {"u", nil}, "s": {"v", nil}}},
		},
		"a line without an ARN": {data: map[string]string{"mapRoles": "- {arn: r, username: u}", "mapUsers": "- {username: u}"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.want.roles == nil {
				test.want.roles = map[string]mapping{}
			}
			if test.want.users == nil {
				test.want.users = map[string]mapping{}
			}
			if diff := cmp.Diff(test.want, parseAWSAuth(test.data, test.exact), cmp.AllowUnexported(awsAuth{}, mapping{})); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
