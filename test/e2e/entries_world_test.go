// The world of the entry tests: one real cluster in the mode API, whose authenticator knows entries by the unique ids of their principals, and observers that see more or less of it.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/test/e2e/harness"
)

// The roles of the entry tests; ci-deploy was deleted and made again, and stranger has no entry.
const (
	releaseRole = "arn:aws:iam::" + account + ":role/ci-release"
	nodeRole    = "arn:aws:iam::" + account + ":role/node"    // its entry is for EC2 instances
	watcherRole = "arn:aws:iam::" + account + ":role/watcher" // an observer with an entry, which may read IAM
	readerRole  = "arn:aws:iam::" + account + ":role/reader"  // an observer with an entry
	outsideRole = "arn:aws:iam::" + account + ":role/outside" // an observer without one
)

// startEntries starts it healthy but for ci-deploy, and gives the test the environment of the exporter in it.
func startEntries(t *testing.T) *world {
	t.Helper()
	w := &world{
		aws: startAccount(t, deployRole, releaseRole, nodeRole, strangeRole, watcherRole, readerRole, outsideRole, canaryRole),
		dir: t.TempDir(), configuration: entriesConfiguration, real: map[string]chain.Run{},
	}
	entries := []harness.Entry{
		{RoleMapping: harness.RoleMapping{RoleARN: deployRole, Username: "deploy:{{SessionName}}", Groups: []string{"deployers"}}, RoleID: "AROAEXAMPLEFORMERLY"},
		{RoleMapping: harness.RoleMapping{RoleARN: releaseRole, Username: "release:{{SessionName}}", Groups: []string{"deployers"}}, RoleID: roleID(releaseRole)},
		{RoleMapping: harness.RoleMapping{RoleARN: nodeRole, Username: "system:node:{{EC2PrivateDNSName}}", Groups: []string{"system:nodes"}}, RoleID: roleID(nodeRole)},
		{RoleMapping: harness.RoleMapping{RoleARN: watcherRole, Username: "watcher", Groups: []string{"aws-auth-readers"}}, RoleID: roleID(watcherRole)},
		{RoleMapping: harness.RoleMapping{RoleARN: readerRole, Username: "reader", Groups: []string{"aws-auth-readers"}}, RoleID: roleID(readerRole)},
	}
	w.cluster = harness.StartCluster(t.Context(), t, harness.Options{ClusterID: "prod", AWS: w.aws, Entries: entries, AWSAuth: true})
	w.aws.State.Change(func(s *sandbox.State) {
		for _, arn := range []string{watcherRole, readerRole, outsideRole} {
			s.Roles[arn].ReadsEKS, s.Roles[arn].ReadsIAM = true, arn == watcherRole
		}
		s.Roles[deployRole].Created = time.Now().Add(-time.Hour)
		s.Clusters["prod"] = &sandbox.Cluster{
			Name: "prod", AccountID: account, Region: region, Status: chain.ClusterStatusActive, AuthMode: chain.AuthModeAPI, Endpoint: w.cluster.URL, CAPEM: w.cluster.CA,
			Entries: described(entries),
		}
	})
	w.aws.Setenv(t, w.aws.State.Users[userKey.AccessKeyID])
	w.files(t)
	w.rbac(t)
	await(t, func() bool { // the authenticator serves before it has read its file
		_, status := w.cluster.Review(t.Context(), t, mint(t, w.aws, releaseRole, "prod"))
		return status == http.StatusCreated
	})
	return w
}

// described are entries as EKS tells them: without the unique id. They were made a day ago.
func described(entries []harness.Entry) map[string]*sandbox.Entry {
	all := map[string]*sandbox.Entry{}
	for _, e := range entries {
		all[e.RoleARN] = &sandbox.Entry{AccessEntry: chain.AccessEntry{
			PrincipalARN: e.RoleARN, Username: e.Username, Groups: e.Groups, Type: "STANDARD", Created: time.Now().Add(-24 * time.Hour),
		}}
	}
	return all
}

// entriesConfiguration has the cluster prod under the name of each of its observers, and without one.
const entriesConfiguration = `probe: {interval: 30s, timeout: 20s}
clusters:
  - {name: watched, eks_name: prod, region: eu-west-1, account_id: "111122223333", observer: watcher}
  - {name: "read", eks_name: prod, region: eu-west-1, observer: reader}
  - {name: outside, eks_name: prod, region: eu-west-1, observer: outside}
  - {name: unwatched, eks_name: prod, region: eu-west-1, endpoint: "URL", ca_file: ca.pem}
identities:
  - {name: watcher, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/watcher"}]}
  - {name: reader, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/reader"}]}
  - {name: outside, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/outside"}]}
  - {name: deploy, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/ci-deploy"}]}
  - {name: release, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/ci-release"}]}
  - {name: node, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/node"}]}
  - {name: stranger, source: environment, assume_role: [{role_arn: "arn:aws:iam::111122223333:role/stranger"}]}
access:
  - `
