// Faults of the step access_entry: the cluster answers, and takes the caller for somebody else, or for nobody.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"slices"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var accessEntryFaults = slices.Concat(entryFaults, awsAuthFaults, authenticatorFaults)

// mappedRunner is the user behind runner@prod, of whose mapping the configuration declares nothing.
const mappedRunner = "arn:aws:iam::" + SceneAccount + ":user/ci-runner"

var entryFaults = []Fault{
	failing(chain.StepAccessEntry, chain.ReasonNotMapped, Fault{Name: "not-mapped", Target: releaseTarget, Meaning: "the access entry was edited in Terraform and never applied", apply: cluster("prod", func(c *Cluster) {
		delete(c.Entries, sceneRole("ci-release"))
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAccessEntryInvalidGroup, Fault{Name: "entry-invalid-group", Target: releaseTarget, Meaning: "a migration copied system:masters from aws-auth into an entry, and nobody read the refusal", apply: cluster("prod", func(c *Cluster) {
		delete(c.Entries, sceneRole("ci-release"))
		c.admitObserver()
		c.AWSAuth = map[string]string{"mapRoles": awsAuthRole(sceneRole("ci-release"), "release", "system:masters")}
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAccessEntryPrincipalRecreated, Fault{Name: "principal-recreated", Target: deployTarget, Meaning: "the role was deleted and made again under its name", apply: state(func(s *State) {
		s.Roles[exporterRole].ReadsIAM = true
		s.recreate(sceneRole("ci-deploy"))
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAccessEntryPrincipalRecreated, Fault{Name: "principal-recreated-unread", Target: deployTarget, Meaning: "the same, and the observer, who gets in, may not read IAM", apply: state(func(s *State) {
		s.Clusters["prod"].admitObserver()
		s.recreate(sceneRole("ci-deploy"))
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAccessEntryShadowsAWSAuth, Fault{Name: "entry-shadows-aws-auth", Target: deployTarget, Meaning: "a bare entry, made for the migration, hides the groups of aws-auth", apply: cluster("prod", func(c *Cluster) {
		c.bothModes(map[string]string{"mapRoles": awsAuthRole(sceneRole("ci-deploy"), "deploy:{{SessionName}}", "deployers")})
		c.Entries[sceneRole("ci-deploy")].Groups = nil
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAccessEntryShadowsAWSAuth, Fault{Name: "entry-shadows-aws-auth-denied", Target: runnerTarget, Meaning: "the same, where only a denial shows it", apply: cluster("prod", func(c *Cluster) {
		c.bothModes(map[string]string{"mapUsers": "- userarn: " + mappedRunner + "\n  username: runner\n  groups: [deployers]\n"})
		c.Entries[mappedRunner].Groups = nil
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUsernameTemplateUnresolved, Fault{Name: "entry-of-a-node", Target: deployTarget, Meaning: "the entry's user name needs an instance id", apply: cluster("prod", func(c *Cluster) {
		c.Entries[sceneRole("ci-deploy")].Username = "system:node:{{EC2PrivateDNSName}}"
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUnexpectedGroups, Fault{Name: "unexpected-groups", Target: deployTarget, Meaning: "the entry's groups were changed", apply: cluster("prod", func(c *Cluster) {
		c.Entries[sceneRole("ci-deploy")].Groups = []string{"readers"}
	})}),
}

var awsAuthFaults = []Fault{
	failing(chain.StepAccessEntry, chain.ReasonNotMapped, Fault{Name: "not-mapped-aws-auth", Target: viewerTarget, Meaning: "a tool rewrote aws-auth without the role", apply: cluster("staging", func(c *Cluster) {
		c.mapViewer(sceneRole("somebody-else"), "viewer:{{SessionName}}")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthRolePath, Fault{Name: "aws-auth-role-path", Target: viewerTarget, Meaning: "aws-auth has the role with a path", apply: cluster("staging", func(c *Cluster) {
		c.mapViewer("arn:aws:iam::"+SceneAccount+":role/team/viewer", "viewer:{{SessionName}}")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthAssumedRoleARN, Fault{Name: "aws-auth-assumed-role", Target: viewerTarget, Meaning: "aws-auth has a session's ARN", apply: cluster("staging", func(c *Cluster) {
		c.mapViewer("arn:aws:sts::"+SceneAccount+":assumed-role/viewer/somebody", "viewer:{{SessionName}}")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthUnknownKey, Fault{Name: "aws-auth-misspelt-key", Target: viewerTarget, Meaning: "a key of the role's line in aws-auth is misspelt", apply: cluster("staging", func(c *Cluster) {
		c.rewriteAWSAuth("rolearn: "+sceneRole("viewer"), "rolearm: "+sceneRole("viewer"))
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthUnknownKey, Fault{Name: "aws-auth-key-case", Target: viewerTarget, Meaning: "a key of the role's line is in other case, under an authenticator that takes keys exactly", apply: func(s *Scene) error {
		s.Stage.RequireExactKeys(true)
		return cluster("staging", func(c *Cluster) { c.rewriteAWSAuth("rolearn: "+sceneRole("viewer"), "roleARN: "+sceneRole("viewer")) })(s)
	}}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthDuplicateEntry, Fault{Name: "aws-auth-duplicate", Target: viewerTarget, Meaning: "a second line for the role was added, and replaces the first", apply: cluster("staging", func(c *Cluster) {
		c.AWSAuth["mapRoles"] += awsAuthRole(sceneRole("viewer"), "viewer:{{SessionName}}", "guests")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthUnparseable, Fault{Name: "aws-auth-damaged", Target: viewerTarget, Meaning: "mapRoles is no YAML any more; the observer gets in by an entry", apply: cluster("staging", func(c *Cluster) {
		c.bothModes(map[string]string{"mapRoles": "- rolearn: " + sceneRole("viewer") + "\n username: viewer: x\n"})
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAWSAuthUnparseable, Fault{Name: "aws-auth-no-list", Target: viewerTarget, Meaning: "the groups of the role's line are no list", apply: cluster("staging", func(c *Cluster) {
		c.rewriteAWSAuth("groups: [viewers]", "groups: viewers")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUnexpectedUsername, Fault{Name: "aws-auth-placeholders", Target: viewerTarget, Meaning: "an installer left the placeholders of its template in aws-auth", apply: cluster("staging", func(c *Cluster) {
		c.mapViewer(sceneRole("viewer"), "<user name>")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUnexpectedUsername, Fault{Name: "aws-auth-user-key", Target: viewerTarget, Meaning: "the role's line in aws-auth has user in place of username, so it gives an empty one", apply: cluster("staging", func(c *Cluster) {
		c.rewriteAWSAuth("username: viewer", "user: viewer")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUsernameTemplateUnresolved, Fault{Name: "username-template", Target: viewerTarget, Meaning: "the role is mapped as a node", apply: cluster("staging", func(c *Cluster) {
		c.mapViewer(sceneRole("viewer"), "system:node:{{EC2PrivateDNSName}}")
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUsernameTemplateUnresolved, Fault{Name: "group-template", Target: viewerTarget, Meaning: "a group of the role needs an instance id", apply: cluster("staging", func(c *Cluster) {
		c.rewriteAWSAuth("groups: [viewers]", `groups: ["of-{{EC2PrivateDNSName}}"]`)
	})}),
	failing(chain.StepAccessEntry, chain.ReasonUnexpectedUsername, Fault{Name: "unexpected-username", Target: viewerTarget, Meaning: "the mapping's username was changed", apply: cluster("staging", func(c *Cluster) {
		c.mapViewer(sceneRole("viewer"), "somebody")
	})}),
}

var authenticatorFaults = []Fault{
	failing(chain.StepAccessEntry, chain.ReasonAuthenticatorUnavailable, Fault{Name: "authenticator-down", Target: deployTarget, Meaning: "the authenticator is down, and the observer, who has an entry, is refused too", apply: cluster("prod", func(c *Cluster) {
		c.admitObserver()
		c.Fault.Authenticator = AuthenticatorDown
	})}),
	failing(chain.StepAccessEntry, chain.ReasonAuthenticatorThrottled, Fault{Name: "authenticator-throttled", Target: deployTarget, Meaning: "STS throttles what the authenticator asks it, and the apiserver asks the authenticator again and again", apply: func(s *Scene) error {
		s.Config = strings.Replace(s.Config, "{interval: 5s, timeout: 3s}", "{interval: 8s, timeout: 8s}", 1)
		return state(func(st *State) { st.Throttle[presignedCall+"GetCallerIdentity"] = true })(s)
	}}),
	failing(chain.StepAccessEntry, chain.ReasonUnauthorizedUnexplained, Fault{Name: "unauthorized", Target: deployTarget, Meaning: "the authenticator is down: all refused, and nobody says why, since the observer has no entry", apply: cluster("prod", func(c *Cluster) {
		delete(c.Entries, exporterRole)
		c.Fault.Authenticator = AuthenticatorDown
	})}),
}

// recreate makes a role anew, with another unique id.
func (s *State) recreate(arn string) {
	role := s.Roles[arn]
	role.RoleID, role.Created = role.RoleID+"2", s.now().Add(-time.Minute).Truncate(time.Second)
}

// awsAuthRole is a line of mapRoles.
func awsAuthRole(arn, username string, groups ...string) string {
	return "- rolearn: " + arn + "\n  username: \"" + username + "\"\n  groups: [\"" + strings.Join(groups, `", "`) + "\"]\n"
}

// mapViewer rewrites the viewer's line of aws-auth, and leaves the observer's.
func (c *Cluster) mapViewer(arn, username string) {
	c.AWSAuth = map[string]string{"mapRoles": awsAuthRole(arn, username, "viewers") + awsAuthRole(exporterRole, "exporter", "aws-auth-readers")}
}

// rewriteAWSAuth replaces a text of mapRoles.
func (c *Cluster) rewriteAWSAuth(old, replacement string) {
	c.AWSAuth["mapRoles"] = strings.Replace(c.AWSAuth["mapRoles"], old, replacement, 1)
}

// admitObserver gives the exporter's own role an access entry with which it may read aws-auth.
func (c *Cluster) admitObserver() {
	if c.Entries == nil {
		c.Entries = map[string]*Entry{}
	}
	c.Entries[exporterRole] = &Entry{
		AccessEntry: chain.AccessEntry{PrincipalARN: exporterRole, Groups: []string{"aws-auth-readers"}, Type: "STANDARD", Created: time.Now().Add(-24 * time.Hour)}, RoleID: "AROASCENEEXPORTER",
	}
	c.Grants = append(c.Grants, Grant{Subject: "aws-auth-readers", Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"configmaps"}, Names: []string{"aws-auth"}, Namespace: "kube-system"})
}

// bothModes is a cluster in the middle of its migration from aws-auth to entries.
func (c *Cluster) bothModes(awsAuth map[string]string) {
	c.AuthMode, c.AWSAuth = chain.AuthModeAPIAndConfigMap, awsAuth
	c.admitObserver()
}
