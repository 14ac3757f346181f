// The aws-auth parser against a transcript of the authenticator's own: what it maps, we map, and nothing else.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var awsAuths = map[string]struct {
	data map[string]string
	want chain.AWSAuth
}{
	"all sections": {
		map[string]string{
			"mapRoles":    "- rolearn: arn:aws:iam::111122223333:role/ci\n  username: ci:{{SessionName}}\n  groups: [deployers, viewers]\n- rolearn: arn:aws:iam::111122223333:role/team/x\n  username: x\n",
			"mapUsers":    "- userarn: arn:aws:iam::111122223333:user/ada\n  username: ada\n  groups:\n  - system:masters\n",
			"mapAccounts": "- \"111122223333\"\n- 012345678901\n",
		},
		chain.AWSAuth{
			Roles:    []chain.Mapping{{ARN: "arn:aws:iam::111122223333:role/ci", Username: "ci:{{SessionName}}", Groups: []string{"deployers", "viewers"}}, {ARN: "arn:aws:iam::111122223333:role/team/x", Username: "x"}},
			Users:    []chain.Mapping{{ARN: "arn:aws:iam::111122223333:user/ada", Username: "ada", Groups: []string{"system:masters"}}},
			Accounts: []string{"111122223333", "012345678901"},
		},
	},
	"keys in any case":  {map[string]string{"mapRoles": "- roleARN: a\n  UserName: b\n  GROUPS: [c]\n"}, chain.AWSAuth{Roles: []chain.Mapping{{ARN: "a", Username: "b", Groups: []string{"c"}, OddKeys: []string{"GROUPS", "UserName", "roleARN"}}}}},
	"a section in JSON": {map[string]string{"mapRoles": `[{"rolearn":"a"}]`}, chain.AWSAuth{Roles: []chain.Mapping{{ARN: "a"}}}},
	"duplicates stay in order": {map[string]string{"mapRoles": "- {rolearn: a, groups: [admins]}\n- {rolearn: A, groups: [shop]}\n"},
		chain.AWSAuth{Roles: []chain.Mapping{{ARN: "a", Groups: []string{"admins"}}, {ARN: "A", Groups: []string{"shop"}}}}},
	"empty sections": {map[string]string{"mapRoles": " \n", "mapUsers": "''", "mapAccounts": "``"}, chain.AWSAuth{}},
	"nothing":        {nil, chain.AWSAuth{}},
	"C35 one section does not parse": {map[string]string{"mapUsers": "- userarn: a: b\n", "mapRoles": "- rolearn: a\n"},
		chain.AWSAuth{Roles: []chain.Mapping{{ARN: "a"}}, Broken: map[string]string{"mapUsers": "mapping values are not allowed"}}},
	"C35 a tab":      {map[string]string{"mapRoles": "-\trolearn: a\n\tusername: b\n"}, chain.AWSAuth{Broken: map[string]string{"mapRoles": "found character that cannot start any token"}}},
	"no list":        {map[string]string{"mapRoles": "rolearn: a\n"}, chain.AWSAuth{Broken: map[string]string{"mapRoles": "cannot unmarshal object"}}},
	"accounts: text": {map[string]string{"mapAccounts": "111122223333"}, chain.AWSAuth{Broken: map[string]string{"mapAccounts": "cannot unmarshal"}}},
	"a misspelt key": {map[string]string{"mapRoles": "- {roleam: a, username: b}\n- rolearn: c\n"},
		chain.AWSAuth{Roles: []chain.Mapping{{ARN: "c"}}, Broken: map[string]string{"mapRoles[0]": "no rolearn; its keys: roleam, username"}}},
	"a wrong type keeps the entry": {map[string]string{"mapRoles": "- {rolearn: a, groups: system:masters, username: b}\n"},
		chain.AWSAuth{
			Roles:  []chain.Mapping{{ARN: "a", Username: "b", Problem: "json: cannot unmarshal string into Go struct field entry.groups of type []string"}},
			Broken: map[string]string{"mapRoles[0]": "cannot unmarshal string"},
		}},
	"a misspelt key under a known one": {map[string]string{"mapRoles": "- {rolearn: a, user: b, group: [c]}\n"},
		chain.AWSAuth{Roles: []chain.Mapping{{ARN: "a", OddKeys: []string{"group", "user"}}}}},
	"a misspelt key of an ARN": {map[string]string{"mapRoles": "- {rolearm: 'arn:aws:iam::111122223333:role/ci', username: b}\n"}, chain.AWSAuth{
		Strays: []chain.Stray{{Where: "mapRoles[0]", Keys: []string{"rolearm", "username"}, ARNs: []string{"arn:aws:iam::111122223333:role/ci"}}},
		Broken: map[string]string{"mapRoles[0]": "no rolearn; its keys: rolearm, username"},
	}},
	"a misspelt section": {map[string]string{"maproles": "- rolearn: arn:aws:iam::111122223333:role/ci\n  username: b\n- userarn: \"arn:aws-cn:iam::111122223333:user/ada\"\n", "_example": "nothing"},
		chain.AWSAuth{Strays: []chain.Stray{{Where: "maproles", ARNs: []string{"arn:aws:iam::111122223333:role/ci", "arn:aws-cn:iam::111122223333:user/ada"}}}}},
	"null entry":     {map[string]string{"mapUsers": "- null\n- {}\n"}, chain.AWSAuth{Broken: map[string]string{"mapUsers[0]": "no userarn; its keys: none", "mapUsers[1]": "no userarn; its keys: none"}}},
	"permission set": {map[string]string{"mapRoles": "- sso: {permissionSetName: Admin, accountID: \"111122223333\"}\n  username: b\n"}, chain.AWSAuth{}},
	"both":           {map[string]string{"mapRoles": "- rolearn: a\n  sso: {permissionSetName: Admin, accountID: \"111122223333\"}\n"}, chain.AWSAuth{Broken: map[string]string{"mapRoles[0]": "both rolearn and sso"}}},
	"placeholders":   {map[string]string{"mapRoles": "- rolearn: <ARN of instance role>\n  username: <name>\n"}, chain.AWSAuth{Roles: []chain.Mapping{{ARN: "<ARN of instance role>", Username: "<name>"}}}},
}

func TestParseAWSAuth(t *testing.T) {
	for name, c := range awsAuths {
		t.Run(name, func(t *testing.T) {
			got := parseAWSAuth(c.data)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(chain.AWSAuth{}, "Broken")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Broken) != len(c.want.Broken) {
				t.Errorf("broken: %v, want %v", got.Broken, c.want.Broken)
			}
			for section, text := range c.want.Broken {
				if !strings.Contains(got.Broken[section], text) {
					t.Errorf("broken %s: %q, want %q in it", section, got.Broken[section], text)
				}
			}
			likeTheAuthenticator(t, c.data, got)
		})
	}
}

// theirs is the authenticator's reading of one section, transcribed: pkg/mapper/configmap ParseMap with the types and Validate of pkg/config (v0.7.13). The whole list is decoded at once there, and
// what was decoded before and after a wrong type is kept. Entries of permission sets match nobody and are left out here.
func theirs(section, text string) (mappings []chain.Mapping, broken bool) {
	if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed == "``" || trimmed == "\"\"" || trimmed == "''" {
		return nil, false
	}
	asJSON, err := utilyaml.ToJSON([]byte(text))
	if err != nil {
		return nil, true
	}
	type sso struct {
		PermissionSetName string `json:"permissionSetName"`
		AccountID         string `json:"accountID"`
		Partition         string `json:"partition,omitempty"`
	}
	var roles []struct {
		RoleARN  string   `json:"rolearn,omitempty"`
		SSO      *sso     `json:"sso,omitempty"`
		Username string   `json:"username"`
		Groups   []string `json:"groups"`
		UserID   string   `json:"userid,omitempty"`
	}
	var users []struct {
		UserARN  string   `json:"userarn"`
		Username string   `json:"username"`
		Groups   []string `json:"groups"`
		UserID   string   `json:"userid,omitempty"`
	}
	if section == "mapUsers" {
		err = json.Unmarshal(asJSON, &users)
	} else {
		err = json.Unmarshal(asJSON, &roles)
	}
	for _, r := range roles {
		if r.RoleARN != "" && r.SSO == nil {
			mappings = append(mappings, chain.Mapping{ARN: r.RoleARN, Username: r.Username, Groups: r.Groups})
		} else if r.SSO == nil || r.RoleARN != "" {
			broken = true
		}
	}
	for _, u := range users {
		if u.UserARN != "" {
			mappings = append(mappings, chain.Mapping{ARN: u.UserARN, Username: u.Username, Groups: u.Groups})
		} else {
			broken = true
		}
	}
	return mappings, broken || err != nil
}

func likeTheAuthenticator(t *testing.T, data map[string]string, got chain.AWSAuth) {
	t.Helper()
	for section, mappings := range map[string][]chain.Mapping{"mapRoles": got.Roles, "mapUsers": got.Users} {
		want, wantBroken := theirs(section, data[section])
		if diff := cmp.Diff(want, mappings, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(chain.Mapping{}, "OddKeys", "Problem")); diff != "" {
			t.Errorf("%s: the authenticator's reading (-) differs (+):\n%s", section, diff)
		}
		broken := false
		for where := range got.Broken {
			broken = broken || strings.HasPrefix(where, section)
		}
		if broken && !wantBroken {
			t.Errorf("%s: the authenticator finds no error, we find %v", section, got.Broken)
		}
	}
}

func FuzzParseAWSAuth(f *testing.F) {
	for _, c := range awsAuths {
		f.Add(c.data["mapRoles"], c.data["mapUsers"])
	}
	f.Fuzz(func(t *testing.T, roles, users string) {
		data := map[string]string{"mapRoles": roles, "mapUsers": users}
		likeTheAuthenticator(t, data, parseAWSAuth(data))
	})
}

const awsAuthPath = "/api/v1/namespaces/kube-system/configmaps/aws-auth"

func TestAWSAuthRead(t *testing.T) {
	for name, c := range map[string]struct {
		answer scripted
		found  bool
		reason chain.Reason // of an unknown; "" none
	}{
		"there":              {scripted{200, `{"kind":"ConfigMap","apiVersion":"v1","data":{"mapRoles":"- rolearn: a\n"}}`}, true, ""},
		"empty":              {scripted{200, `{"kind":"ConfigMap","apiVersion":"v1"}`}, true, ""},
		"not there":          {scripted{404, statusBody(404, "NotFound", `configmaps "aws-auth" not found`)}, false, ""},
		"somebody's 404":     {scripted{404, "<html>"}, false, chain.ReasonObserverUnavailable},
		"observer forbidden": {scripted{403, statusBody(403, "Forbidden", `configmaps "aws-auth" is forbidden: User "o" cannot get resource "configmaps" in API group "" in the namespace "kube-system"`)}, false, chain.ReasonObserverDenied},
		"observer unmapped":  {scripted{401, statusBody(401, "Unauthorized", "Unauthorized")}, false, chain.ReasonObserverDenied},
		"500":                {scripted{500, statusBody(500, "InternalError", "etcd")}, false, chain.ReasonObserverUnavailable},
		"a secret instead":   {scripted{200, `{"kind":"Secret","data":{"mapRoles":"LQ=="}}`}, false, chain.ReasonObserverUnavailable},
		"binary keys":        {scripted{200, `{"kind":"ConfigMap","data":{"mapRoles":7}}`}, false, chain.ReasonObserverUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			world := &script{answers: map[string]scripted{awsAuthPath: c.answer}}
			auth, found, err := connect(t, serve(t, ready(world))).AWSAuth(within(t, ample), testToken)
			if found != c.found || !slices.Equal(world.asked, []string{"GET " + awsAuthPath}) || len(world.bad) != 0 {
				t.Errorf("found %v, asked %v", found, world.asked)
			}
			if c.reason != "" {
				wantFailure(t, err, chain.StepNone, c.reason)
				if errors.Is(err, ErrUnauthorized) != (c.answer.status == 401) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || (name == "there") != (len(auth.Roles) == 1) {
				t.Errorf("got %+v, %v", auth, err)
			}
		})
	}
}
