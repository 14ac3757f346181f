// Section identities: a credential source, and the AssumeRole hops after it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// Durations of an AssumeRole session (AWS STS API reference, AssumeRole: DurationSeconds; role chaining ends after an hour).
const (
	shortestSession = 15 * time.Minute
	longestSession  = 12 * time.Hour
	longestChained  = time.Hour
)

// roleSources are the sources whose own credentials are a role's, so that every AssumeRole after them is role chaining.
var roleSources = []chain.Source{chain.SourceIRSA, chain.SourcePodIdentity, chain.SourceInstanceProfile}

// sourceKeys are the keys that only one source reads.
var sourceKeys = []struct {
	key    string
	source chain.Source
}{
	{"role_arn", chain.SourceIRSA},
	{"token_file", chain.SourceIRSA},
	{"profile", chain.SourceProfile},
}

func (d *decoder) identities(root diag.Fields) *declared[chain.Identity] {
	return declare(d, root, "identities", "identity", func(item *yaml.Node, i int) (diag.Fields, string, chain.Identity) {
		f := d.Mapping(item, fmt.Sprintf("identities[%d]", i),
			"name", "source", "role_arn", "token_file", "profile", "assume_role", "expect_principal", "session_policy", "reuse_session", "labels")
		identity := d.identity(f)
		return f, identity.Name, identity
	})
}

func (d *decoder) identity(f diag.Fields) chain.Identity {
	f.Require("name", "targets refer to the identity by its name")
	f.Require("source", "where the first credentials come from: "+sourceList())
	identity := chain.Identity{
		Name:            f.Text("name"),
		Source:          d.credentialSource(f),
		RoleARN:         d.arn(f, "role_arn", aRole),
		TokenFile:       d.path(f.Text("token_file")),
		Profile:         f.Text("profile"),
		ExpectPrincipal: d.arn(f, "expect_principal", aRoleOrUser),
		SessionPolicy:   diag.Choice(f, "session_policy", []chain.SessionPolicy{chain.SessionPolicyDenyAll, chain.SessionPolicyNone}, chain.SessionPolicyDenyAll),
		Labels:          d.labels(f, accessLabels),
	}
	for i, item := range f.List("assume_role") {
		chained := i > 0 || slices.Contains(roleSources, identity.Source)
		identity.Hops = append(identity.Hops, d.hop(item, i, chained))
	}
	identity.ReuseSession = d.reuseSession(f, identity)
	return identity
}

// credentialSource reads the source, and checks that the other keys fit it.
func (d *decoder) credentialSource(f diag.Fields) chain.Source {
	source := diag.Choice(f, "source", chain.Sources, "")
	if source == "" {
		return ""
	}
	if source == chain.SourceProfile {
		f.Require("profile", "the profile's name in the shared AWS configuration files")
	}
	for _, row := range sourceKeys {
		if f.Has(row.key) && source != row.source {
			d.Report(f.AtKey(row.key), keyNeedsSource, row.key, string(source), row.key, string(row.source))
		}
	}
	return source
}

func (d *decoder) hop(item *yaml.Node, i int, chained bool) chain.Hop {
	f := d.Mapping(item, fmt.Sprintf("assume_role[%d]", i), "role_arn", "external_id_file", "duration")
	f.Require("role_arn", "the role to assume, "+aRole.example)
	hop := chain.Hop{RoleARN: d.arn(f, "role_arn", aRole), ExternalIDFile: d.externalIDFile(f)}
	hop.Duration, _ = f.Duration("duration", shortestSession)
	most := limit{longestSession, "STS grants a role session at most 12 hours"}
	if chained {
		most = limit{longestChained, "a role assumed with another role's session ends after an hour (role chaining)"}
	}
	if d.atLeast(f, "duration", hop.Duration, limit{shortestSession, "STS grants no shorter session"}) {
		d.atMost(f, "duration", hop.Duration, most)
	}
	return hop
}

// reuseSession reads how long a session may serve; no longer than the last hop's session lives. Only the session of a role that the exporter assumes can: irsa's own, or a hop's.
func (d *decoder) reuseSession(f diag.Fields, identity chain.Identity) time.Duration {
	reuse, given := f.Duration("reuse_session", 0)
	if given && identity.Source != "" && identity.Source != chain.SourceIRSA {
		f.Require("assume_role", "reuse_session keeps the session of an assumed role, and this identity assumes none: add assume_role, or remove reuse_session")
	}
	if hops := identity.Hops; len(hops) > 0 {
		d.atMost(f, "reuse_session", reuse, limit{hops[len(hops)-1].Duration, "a session cannot serve longer than it lives: raise the duration of the last assume_role, or lower reuse_session"})
	}
	return reuse
}

func sourceList() string {
	names := make([]string, len(chain.Sources))
	for i, source := range chain.Sources {
		names[i] = string(source)
	}
	return strings.Join(names, ", ")
}
