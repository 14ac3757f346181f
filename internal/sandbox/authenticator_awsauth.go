// The aws-auth ConfigMap as aws-iam-authenticator v0.7.13 reads it (pkg/mapper/configmap): sections apart, a broken one maps nobody.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// awsAuth is the parsed ConfigMap.
type awsAuth struct {
	roles, users map[string]mapping // by lower-case ARN; the last of several lines wins
	accounts     []string
}

// awsAuthLine is one line of mapRoles or mapUsers.
type awsAuthLine struct {
	RoleARN  string   `json:"rolearn" yaml:"rolearn"`
	UserARN  string   `json:"userarn" yaml:"userarn"`
	Username string   `json:"username" yaml:"username"`
	Groups   []string `json:"groups" yaml:"groups"`
}

// parseAWSAuth reads what can be read. Section names are exact; the keys inside are not, unless exactKeys.
func parseAWSAuth(data map[string]string, exactKeys bool) awsAuth {
	auth := awsAuth{roles: map[string]mapping{}, users: map[string]mapping{}}
	for _, line := range awsAuthLines(data["mapRoles"], exactKeys) {
		if line.RoleARN != "" {
			auth.roles[strings.ToLower(line.RoleARN)] = mapping{line.Username, line.Groups}
		}
	}
	for _, line := range awsAuthLines(data["mapUsers"], exactKeys) {
		if line.UserARN != "" {
			auth.users[strings.ToLower(line.UserARN)] = mapping{line.Username, line.Groups}
		}
	}
	_ = yaml.Unmarshal([]byte(data["mapAccounts"]), &auth.accounts) // what was good counts, as below
	return auth
}

// awsAuthLines decodes one section. A YAML error ends it; after a value of the wrong type the decoders go on, and what was good counts, as in the real one.
func awsAuthLines(section string, exactKeys bool) (lines []awsAuthLine) {
	if exactKeys {
		_ = yaml.Unmarshal([]byte(section), &lines)
		return lines
	}
	if asJSON, err := utilyaml.ToJSON([]byte(section)); err == nil {
		_ = json.Unmarshal(asJSON, &lines) // folds the case of keys
	}
	return lines
}

// find looks a caller up: roles, then users. The ARN must be the line's, but for its case: a line with a role's path, or with an assumed-role ARN, matches nobody.
func (a awsAuth) find(canonicalARN string) (mapping, bool) {
	key := strings.ToLower(canonicalARN)
	if m, found := a.roles[key]; found {
		return m, true
	}
	m, found := a.users[key]
	return m, found
}
