// The one place that owns the wording of what a configuration file can get wrong, beside what is wrong with YAML itself.
//
// SPDX-License-Identifier: Apache-2.0

package config

import "github.com/eks-slo/eks-slo-exporter/internal/diag"

// ownHints are those of the reader's messages that say more of a configuration.
var ownHints = map[*diag.Message]string{
	diag.EmptyFile:     "write at least identities and target_groups, or clusters, identities and access",
	diag.TooManyValues: "use fewer aliases of aliases, or split the targets over several exporters",
}

// messages is the catalogue: all that message made.
var messages []*diag.Message

// message adds a row to the catalogue.
func message(text, hint string) *diag.Message {
	m := &diag.Message{Text: text, Hint: hint}
	messages = append(messages, m)
	return m
}

var (
	secretKey = message("secrets never go into this file: key %q", "%s")

	durationTooShort     = message("%s %s is shorter than %s", "%s")
	durationTooLong      = message("%s %s is longer than %s", "%s")
	timeoutAboveInterval = message("timeout %s is longer than interval %s", "a probe must end before its next slot: set both, timeout at most interval (defaults: %s and %s)")
	badRate              = message("%s must be a number from 0.01 to 1000", "requests per second, such as 1 or 0.5")
	badName              = message("%q is no name", "use letters, digits and . _ - only, at most 128 of them")
	duplicateName        = message("duplicate %s name %q", "first used at line %d, column %d")
	unknownReference     = message("there is no %s named %q", "%s")
	fileUnusable         = message("%s %q: %s", "a relative path starts at the directory of the configuration file")
	noCertificate        = message("ca_file %q holds no PEM certificate", "write %s")
	badManifest          = message("manifest_file %q: %s", "write one Kubernetes object to it, with apiVersion and kind")
	emptyExternalID      = message("external_id_file %q is empty", "write the external id to it, as the role's trust policy has it")

	badRegion      = message("%q is no AWS region", "such as eu-west-1 or us-gov-west-1; an availability zone's letter does not belong here")
	quoteAccountID = message("account_id must be quoted", "unquoted, YAML reads a number and drops leading zeros; write account_id: \"%s\"")
	badAccountID   = message("%q is no AWS account id", "an account id has 12 digits")
	badEKSName     = message("%q is no EKS cluster name", "set eks_name to the name at EKS: letters, digits, - and _, at most 100, beginning with a letter or digit")
	badEndpoint    = message("endpoint is no https URL: %s", "write https://HOST[:PORT]")
	noWayToCluster = message("cluster %q has neither an observer nor both endpoint and ca_file", "name an identity that may call eks:DescribeCluster in observer, or set endpoint and ca_file")
	badLabelName   = message("%q is no label name", "use letters, digits and _, not beginning with a digit")
	reservedLabel  = message("label %q is reserved", "%s and names beginning with __ are set by the exporter; choose another name")
	labelConflict  = message("label %q is %q on cluster %q and %q on identity %q", "both land on one series: rename one of the two")
	labelTooLong   = message("label %q has a value of %d bytes", "it is repeated on every info series: at most 1024 bytes")

	arnShape       = message("%q is no ARN", "write %s")
	arnPartition   = message("unknown partition %q in ARN %q", "%s")
	arnService     = message("%q is an ARN of service %q, not %s", "write %s")
	arnAccount     = message("account %q in ARN %q is not 12 digits", "the fifth field of an ARN is the account id")
	arnResource    = message("%q is no ARN of %s", "write %s")
	arnRegion      = message("region %q in ARN %q is not in partition %s", "the second field of an ARN is the partition, the fourth the region; such as aws and eu-west-1")
	arnSession     = message("%q is the ARN of a session, not of a role", "write the role's IAM ARN, %s (with its path, when the role has one)")
	keyNeedsSource = message("%s does not fit source %s", "%s belongs to source %s: remove it, or change the source")

	duplicateAccess  = message("identity %q is listed twice for cluster %q", "first listed at line %d, column %d")
	ownObserver      = message("identity %q is the observer of cluster %q", "the observer is never the identity under test: declare another identity to observe the cluster")
	crossPartition   = message("identity %q signs in to partition %s, but %s %q is in partition %s", "credentials never cross partitions: use %s of partition %s")
	badTemplate      = message("unknown placeholder %q", "placeholders: {{SessionName}} and {{AccountID}}")
	badRule          = message("%s", "%s")
	allowedAndDenied = message("rule %q is both allowed and denied", "allowed at line %d, column %d: remove one of the two")
	dryRunVerb       = message("verb %q writes no object", "dry_run takes create, update, patch or delete")
	dryRunObject     = message("%s in dry_run needs %s", "%s")

	dotName           = message("%q cannot name a target group", "the name is part of a URL, where . and .. mean something else: choose another")
	noGroupSelector   = message("nothing says which target group is meant", "give one of %s")
	twoGroupSelectors = message("%s and %s both say which target groups are meant", "keep one of the two, and write another entry for the other")
	notOfOneGroup     = message("%s does not fit %s, which may find many target groups", "%s belongs to one target group: remove it, or name the group with arn or target_group_name")
	badGroupName      = message("%q is no target group name", "a target group's name has at most 32 letters, digits and hyphens, and neither begins nor ends with a hyphen")
	tagTooLong        = message("the %s of tag %q has %d characters", "a tag has a key of 1 to 128 characters and a value of at most 256")
	twoRegions        = message("two regions: %q from %s, %q from %s", "a target group, its load balancer and the cluster that fills it are in one region: correct one of the two")
	noBindingObserver = message("cluster %q has no observer", "a cluster's TargetGroupBindings are read with its observer: name one in section clusters")
	badKubernetesName = message("%q is no Kubernetes %s name", "use at most %d lower-case letters, digits and hyphens%s, beginning and ending with a letter or digit")
	duplicateGroup    = message("%s is listed twice", "first listed at line %d, column %d")
	badURL            = message("url is no http or https URL: %s", "write https://HOST[:PORT]/PATH")
	textTooLong       = message("%s has %d characters", "at most %d")
	badHost           = message("%s %q is no host name", "write %s")
	httpsOnly         = message("%s does not fit an http URL", "%s belongs to TLS: remove it, or write https in url")
	badRegexp         = message("expect_body is no regular expression: %s", "RE2 syntax (golang.org/s/re2syntax); write \\ before a character that stands for itself")
	slowRegexp        = message("expect_body is too large: its repetitions unfold to %d steps, above %d", "each step may be tried at each byte of the body: repeat less, or match a part of it")
	requestTooLong    = message("request timeout %s is not shorter than the target's timeout %s", "the run must have time left for its other steps: set both, timeout in request (default 5s) below timeout of the target (default 10s)")

	twoQueries            = message("query names two places to read from", "keep one of the two: embedded for the engine inside the exporter, or prometheus for a server that scrapes it")
	noQuery               = message("query names no place to read from", "write embedded: {} for the engine inside the exporter, or prometheus: {url: …} for a server that scrapes it")
	engineOnly            = message("section %s belongs to the embedded engine", "remove it, or write query: {embedded: {}}; a Prometheus of yours has rules and Alertmanagers of its own")
	noRules               = message("rules %q: %s", "name rule files or folders of them; without the section those that come with the exporter serve")
	badServer             = message("%s has no URL that can be used: %s", "%s")
	twoSignIns            = message("sigv4 and http_config both sign in", "keep sigv4 for Amazon Managed Service for Prometheus, or one of basic_auth, authorization, oauth2 and bearer_token_file for another server")
	badHTTPConfig         = message("http_config: %s", "it is http_config of Prometheus' own configuration")
	externalIDWithoutRole = message("external_id_file without role_arn", "an external id belongs to a role: name it in role_arn")
	gatesWithoutQuery     = message("gates have nothing to read budgets from", "write query: {embedded: {}} for the engine inside the exporter, or query: {prometheus: {url: …}}")
	badShare              = message("%s must be a number from 0 to 1", "a share, such as 0.1 for 10 %%")
	badClass              = message("exempt %q is no class of change", "use letters, digits and . _ - only, at most 128 of them, such as security")
	dotGate               = message("%q cannot name a gate", "the name is part of a URL, where . and .. mean something else: choose another")
	badMoment             = message("%s %q is no time", "write it with its offset, such as 2026-12-20T08:00:00Z or 2026-12-20T09:00:00+01:00")
	freezeEndsFirst       = message("the freeze ends at %s, not after its beginning at %s", "write to after from")
	overrideOfNoGate      = message("no gate %q reads this file", "%s")
	overrideExpired       = message("the override of gate %q has expired at %s", "the gate decides by itself again: remove the override, or give it a new end")
)
