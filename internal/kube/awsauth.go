// The aws-auth ConfigMap, read with the observer's token and parsed as the authenticator parses it (aws-iam-authenticator v0.7.13, pkg/mapper/configmap ParseMap).
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// AWSAuth reads kube-system/aws-auth. found is false when there is none. The token is the observer's, so every error is an unknown: observer_denied (which wraps an *UnauthorizedError after a 401),
// observer_unavailable; or context.Canceled.
func (c *Conn) AWSAuth(ctx context.Context, token chain.Token) (auth chain.AWSAuth, found bool, err error) {
	got, err := c.call(ctx, token, c.rest.Verb(http.MethodGet).AbsPath("/api/v1").Namespace("kube-system").Resource("configmaps").Name("aws-auth"))
	if errors.Is(err, context.Canceled) {
		return chain.AWSAuth{}, false, err
	}
	var config struct {
		Data map[string]string `json:"data"`
	}
	if err == nil {
		status, kubernetes := readStatus(got.body)
		switch {
		case got.ok():
			err = c.read(got, "ConfigMap", &config)
		case kubernetes && got.status == http.StatusNotFound:
			return chain.AWSAuth{}, false, nil
		case kubernetes && got.status == http.StatusForbidden:
			return chain.AWSAuth{}, false, chain.Unsure(chain.ReasonObserverDenied, "the observer may not read the ConfigMap kube-system/aws-auth: "+chain.Redact(status.Message), answerFacts(got, chain.Redact(status.Message)).Merge(chain.Facts{chain.FactAction: "get configmaps aws-auth in kube-system"}), nil)
		default:
			err = c.answerError(got)
		}
	}
	switch {
	case errors.Is(err, ErrUnauthorized):
		return chain.AWSAuth{}, false, chain.Unsure(chain.ReasonObserverDenied, "the cluster refused the observer's token: "+err.Error(), nil, err)
	case err != nil:
		return chain.AWSAuth{}, false, chain.Unsure(chain.ReasonObserverUnavailable, "reading the ConfigMap kube-system/aws-auth: "+err.Error(), nil, err)
	}
	return parseAWSAuth(config.Data), true, nil
}

// The sections of aws-auth.
const (
	mapRoles    = "mapRoles"
	mapUsers    = "mapUsers"
	mapAccounts = "mapAccounts"
)

var sections = []string{mapRoles, mapUsers, mapAccounts}

// parseAWSAuth reads the three sections apart. Broken[section] is a section that maps nobody; Broken[section[n]], counted from 0, is one entry that is dropped, or kept without the field that is wrong.
// Keys are matched in any case, and told when they are odd. Entries of SSO permission sets (sso:) are passed over: the authenticator matches them only behind an alpha gate that is off by default.
func parseAWSAuth(data map[string]string) chain.AWSAuth {
	auth := chain.AWSAuth{Broken: map[string]string{}}
	auth.Roles = parseMappings(mapRoles, data[mapRoles], &auth)
	auth.Users = parseMappings(mapUsers, data[mapUsers], &auth)
	if text := data[mapAccounts]; !skippable(text) {
		if err := yaml.Unmarshal([]byte(text), &auth.Accounts); err != nil {
			auth.Broken[mapAccounts] = chain.Redact(err.Error())
		}
	}
	for _, section := range slices.Sorted(maps.Keys(data)) {
		if arns := arnsIn(data[section]); !slices.Contains(sections, section) && len(arns) > 0 {
			auth.Strays = append(auth.Strays, chain.Stray{Where: chain.Redact(section), ARNs: arns})
		}
	}
	return auth
}

// skippable is a section that counts as empty, as the authenticator has it.
func skippable(text string) bool {
	return slices.Contains([]string{"", "``", `""`, "''"}, strings.TrimSpace(text))
}

// entry is one line of either section. encoding/json matches its keys in any case, as the authenticator does.
type entry struct {
	RoleARN  string           `json:"rolearn"`
	UserARN  string           `json:"userarn"`
	SSO      *json.RawMessage `json:"sso"`
	Username string           `json:"username"`
	Groups   []string         `json:"groups"`
}

// entryKeys are the keys of a line as the authenticator spells them (pkg/config RoleMapping, UserMapping).
var entryKeys = []string{"rolearn", "userarn", "sso", "username", "groups", "userid"}

func parseMappings(section, text string, auth *chain.AWSAuth) []chain.Mapping {
	if skippable(text) {
		return nil
	}
	var raw []json.RawMessage
	asJSON, err := utilyaml.ToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(asJSON, &raw)
	}
	if err != nil {
		auth.Broken[section] = chain.Redact(err.Error())
		return nil
	}
	var mappings []chain.Mapping
	for i, line := range raw {
		mapping, problem := parseMapping(section, line)
		where := fmt.Sprintf("%s[%d]", section, i)
		if problem != "" {
			auth.Broken[where] = problem
		}
		switch arns := arnsIn(string(line)); {
		case mapping.ARN != "":
			mappings = append(mappings, mapping)
		case problem != "" && len(arns) > 0:
			auth.Strays = append(auth.Strays, chain.Stray{Where: where, Keys: keysOf(line), ARNs: arns})
		}
	}
	return mappings
}

// parseMapping reads one entry. A field of the wrong type is left empty and the entry kept, since encoding/json does so for the authenticator.
func parseMapping(section string, line json.RawMessage) (chain.Mapping, string) {
	var e entry
	problem := ""
	if err := json.Unmarshal(line, &e); err != nil {
		problem = chain.Redact(err.Error())
	}
	odd := slices.DeleteFunc(keysOf(line), func(key string) bool { return slices.Contains(entryKeys, key) })
	mapping := chain.Mapping{ARN: e.RoleARN, Username: e.Username, Groups: e.Groups, OddKeys: odd, Problem: problem}
	key := "rolearn"
	if section == mapUsers {
		mapping.ARN, key = e.UserARN, "userarn"
	}
	switch sso := section == mapRoles && e.SSO != nil; {
	case sso && mapping.ARN != "":
		return chain.Mapping{}, "both rolearn and sso are given"
	case sso:
		return chain.Mapping{}, ""
	case mapping.ARN == "" && problem == "":
		problem = fmt.Sprintf("no %s; its keys: %s", key, cmp.Or(strings.Join(keysOf(line), ", "), "none"))
	}
	return mapping, problem
}

// keysOf returns the keys of a line as they are written, in order of the alphabet.
func keysOf(line json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil
	}
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, chain.Redact(key))
	}
	slices.Sort(keys)
	return keys
}

var arnShape = regexp.MustCompile(`(?i)\barn:aws[a-z-]*:(?:iam|sts)::[^\s"',}\]]+`)

// arnsIn returns the principals' ARNs that a text names.
func arnsIn(text string) []string { return arnShape.FindAllString(text, -1) }
