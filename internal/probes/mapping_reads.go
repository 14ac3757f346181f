// The observer's reads of whom a cluster maps a principal to: the access entry and the aws-auth ConfigMap.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// entryARN returns the ARN that an access entry of the caller would hold: STS shows no path, the configuration may.
func entryARN(identity chain.Identity, caller chain.Principal) string {
	if expected := identity.Expected(); expected != "" && chain.SamePrincipal(expected, caller.ARN) {
		return chain.CanonicalARN(expected)
	}
	return caller.Canonical()
}

// findEntry looks for the entry of an identity's principal.
func (r *accessRun) findEntry(ctx context.Context, identity chain.Identity, caller chain.Principal) (chain.AccessEntry, bool, error) {
	return r.prober.entries.find(ctx, r.target, entryARN(identity, caller), caller.ARN)
}

// readAWSAuth reads the ConfigMap with the observer's token, over the run's own connection. found is false when there is none.
func (r *accessRun) readAWSAuth(ctx context.Context) (auth chain.AWSAuth, found bool, err error) {
	token, err := r.prober.Observer.Token(ctx, r.target)
	if err != nil {
		return chain.AWSAuth{}, false, err
	}
	return r.conn.AWSAuth(ctx, token)
}

// whatAWSAuth names the ConfigMap, and what reading it takes.
const whatAWSAuth = "aws-auth (the observer needs get on the ConfigMap kube-system/aws-auth)"

// mapped is what could be read of whom the cluster maps the run's principal to.
type mapped struct {
	mode   string
	entry  *chain.AccessEntry // nil: there is none, or none was read
	lines  []chain.Mapping    // its lines in aws-auth; the last one counts, unless there is an entry
	unread []string
}

// readMapping reads the entry, and the lines of aws-auth where they count or are hidden by the entry.
func (r *accessRun) readMapping(ctx context.Context) mapped {
	if r.target.Cluster.Observer == "" {
		return mapped{unread: []string{noObserver}}
	}
	if r.principal.ARN == "" {
		return mapped{unread: []string{noCaller}}
	}
	info, err := r.prober.clusters.get(ctx, r.target)
	m := mapped{mode: info.AuthMode}
	if m.mode == "" {
		if err != nil {
			m.notRead("DescribeCluster", err)
		}
		return m
	}
	if m.mode != chain.AuthModeConfigMap {
		entry, found, err := r.findEntry(ctx, r.target.Identity, r.principal)
		switch {
		case err != nil:
			m.notRead("the access entry", err)
			return m
		case found:
			m.entry = &entry
		}
	}
	if m.mode != chain.AuthModeAPI {
		auth, _, err := r.readAWSAuth(ctx)
		if err != nil {
			m.notRead(whatAWSAuth, err)
		}
		m.lines = linesOf(auth, r.principal)
	}
	return m
}

func (m *mapped) notRead(what string, err error) {
	m.unread = append(m.unread, what+": "+chain.AsError(err).Error())
}
