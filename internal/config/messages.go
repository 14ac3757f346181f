// The one place that owns the wording of what a configuration file can get wrong.
//
// SPDX-License-Identifier: Apache-2.0

package config

import "strings"

// messageID names one row of the catalogue.
type messageID int

// message is the wording of one mistake. The verbs of text take the first arguments of a report, those of hint take the rest.
type message struct{ text, hint string }

const (
	emptyFile messageID = iota
	fileTooLarge
	notUTF8
	controlCharacter
	tabIndent
	syntaxError
	secondDocument
	tooManyValues
	tooManyProblems

	wrongType
	noValue
	keyNotText
	duplicateKey
	unknownKey
	missingKey
	secretKey
	mergeNotMapping
	mergeTooDeep
	unsupportedSection

	badDuration
	durationTooShort
	durationTooLong
	timeoutAboveInterval
	badRate
	badName
	duplicateName
	unknownReference
	unknownChoice
	fileUnusable
	noCertificate
	badManifest
	emptyExternalID

	badRegion
	quoteAccountID
	badAccountID
	badEKSName
	badEndpoint
	noWayToCluster
	badLabelName
	reservedLabel
	labelConflict
	labelTooLong

	arnShape
	arnPartition
	arnService
	arnAccount
	arnResource
	arnRegion
	arnSession
	keyNeedsSource

	duplicateAccess
	ownObserver
	crossPartition
	badTemplate
	listedTwice
	badRule
	allowedAndDenied
	dryRunVerb
	dryRunObject

	badWholeNumber
	dotName
	noGroupSelector
	twoGroupSelectors
	notOfOneGroup
	badGroupName
	tagTooLong
	twoRegions
	noBindingObserver
	badKubernetesName
	duplicateGroup
	badURL
	textTooLong
	badHost
	httpsOnly
	badRegexp
	slowRegexp
	requestTooLong

	messageCount // not a message
)

var messages = [messageCount]message{
	emptyFile:        {"the file is empty", "write at least identities and target_groups, or clusters, identities and access"},
	fileTooLarge:     {"the file is larger than 1 MiB", "is this the right file?"},
	notUTF8:          {"byte 0x%02x is not UTF-8 text", "save the file as UTF-8"},
	controlCharacter: {"control character %U", "remove it; lines end with LF or CRLF"},
	tabIndent:        {"a tab in the indentation", "indent with spaces"},
	syntaxError:      {"YAML syntax: %s", "check indentation, quotes and brackets here and just above"},
	secondDocument:   {"a second YAML document", "keep one document: remove the --- line and what follows"},
	tooManyValues:    {"more than %d values, aliases expanded", "use fewer aliases of aliases, or split the targets over several exporters"},
	tooManyProblems:  {"more than %d problems", "mend those listed first; the rest is not shown"},

	wrongType:          {"%s must be %s, not %s", "%s"},
	noValue:            {"%s has no value", "give it a value, or remove the key"},
	keyNotText:         {"a key must be text", "write key: value"},
	duplicateKey:       {"duplicate key %q", "first written at line %d, column %d"},
	unknownKey:         {"unknown key %q", "%s"},
	missingKey:         {"missing key %q", "%s"},
	secretKey:          {"secrets never go into this file: key %q", "%s"},
	mergeNotMapping:    {"<< must be given a mapping, or a list of mappings", "write <<: *anchor"},
	mergeTooDeep:       {"merge keys nest too deeply", "write the keys out"},
	unsupportedSection: {"%s is not supported by this version", "remove the section; this version probes access targets and target groups, and serves their metrics"},

	badDuration:          {"%s %q is no duration", "write whole numbers with units, such as 15s, 1m30s or 1h"},
	durationTooShort:     {"%s %s is shorter than %s", "%s"},
	durationTooLong:      {"%s %s is longer than %s", "%s"},
	timeoutAboveInterval: {"timeout %s is longer than interval %s", "a probe must end before its next slot: set both, timeout at most interval (defaults: %s and %s)"},
	badRate:              {"%s must be a number from 0.01 to 1000", "requests per second, such as 1 or 0.5"},
	badName:              {"%q is no name", "use letters, digits and . _ - only, at most 128 of them"},
	duplicateName:        {"duplicate %s name %q", "first used at line %d, column %d"},
	unknownReference:     {"there is no %s named %q", "%s"},
	unknownChoice:        {"unknown %s %q", "%s"},
	fileUnusable:         {"%s %q: %s", "a relative path starts at the directory of the configuration file"},
	noCertificate:        {"ca_file %q holds no PEM certificate", "write %s"},
	badManifest:          {"manifest_file %q: %s", "write one Kubernetes object to it, with apiVersion and kind"},
	emptyExternalID:      {"external_id_file %q is empty", "write the external id to it, as the role's trust policy has it"},

	badRegion:      {"%q is no AWS region", "such as eu-west-1 or us-gov-west-1; an availability zone's letter does not belong here"},
	quoteAccountID: {"account_id must be quoted", "unquoted, YAML reads a number and drops leading zeros; write account_id: \"%s\""},
	badAccountID:   {"%q is no AWS account id", "an account id has 12 digits"},
	badEKSName:     {"%q is no EKS cluster name", "set eks_name to the name at EKS: letters, digits, - and _, at most 100, beginning with a letter or digit"},
	badEndpoint:    {"endpoint is no https URL: %s", "write https://HOST[:PORT]"},
	noWayToCluster: {"cluster %q has neither an observer nor both endpoint and ca_file", "name an identity that may call eks:DescribeCluster in observer, or set endpoint and ca_file"},
	badLabelName:   {"%q is no label name", "use letters, digits and _, not beginning with a digit"},
	reservedLabel:  {"label %q is reserved", "%s and names beginning with __ are set by the exporter; choose another name"},
	labelConflict:  {"label %q is %q on cluster %q and %q on identity %q", "both land on one series: rename one of the two"},
	labelTooLong:   {"label %q has a value of %d bytes", "it is repeated on every info series: at most 1024 bytes"},

	arnShape:       {"%q is no ARN", "write %s"},
	arnPartition:   {"unknown partition %q in ARN %q", "%s"},
	arnService:     {"%q is an ARN of service %q, not %s", "write %s"},
	arnAccount:     {"account %q in ARN %q is not 12 digits", "the fifth field of an ARN is the account id"},
	arnResource:    {"%q is no ARN of %s", "write %s"},
	arnRegion:      {"region %q in ARN %q is not in partition %s", "the second field of an ARN is the partition, the fourth the region; such as aws and eu-west-1"},
	arnSession:     {"%q is the ARN of a session, not of a role", "write the role's IAM ARN, %s (with its path, when the role has one)"},
	keyNeedsSource: {"%s does not fit source %s", "%s belongs to source %s: remove it, or change the source"},

	duplicateAccess:  {"identity %q is listed twice for cluster %q", "first listed at line %d, column %d"},
	ownObserver:      {"identity %q is the observer of cluster %q", "the observer is never the identity under test: declare another identity to observe the cluster"},
	crossPartition:   {"identity %q signs in to partition %s, but %s %q is in partition %s", "credentials never cross partitions: use %s of partition %s"},
	badTemplate:      {"unknown placeholder %q", "placeholders: {{SessionName}} and {{AccountID}}"},
	listedTwice:      {"%s lists %q twice", "first listed at line %d, column %d"},
	badRule:          {"%s", "%s"},
	allowedAndDenied: {"rule %q is both allowed and denied", "allowed at line %d, column %d: remove one of the two"},
	dryRunVerb:       {"verb %q writes no object", "dry_run takes create, update, patch or delete"},
	dryRunObject:     {"%s in dry_run needs %s", "%s"},

	badWholeNumber:    {"%s must be a whole number from %d to %d", "write it in decimal digits, unquoted"},
	dotName:           {"%q cannot name a target group", "the name is part of a URL, where . and .. mean something else: choose another"},
	noGroupSelector:   {"nothing says which target group is meant", "give one of %s"},
	twoGroupSelectors: {"%s and %s both say which target groups are meant", "keep one of the two, and write another entry for the other"},
	notOfOneGroup:     {"%s does not fit %s, which may find many target groups", "%s belongs to one target group: remove it, or name the group with arn or target_group_name"},
	badGroupName:      {"%q is no target group name", "a target group's name has at most 32 letters, digits and hyphens, and neither begins nor ends with a hyphen"},
	tagTooLong:        {"the %s of tag %q has %d characters", "a tag has a key of 1 to 128 characters and a value of at most 256"},
	twoRegions:        {"two regions: %q from %s, %q from %s", "a target group, its load balancer and the cluster that fills it are in one region: correct one of the two"},
	noBindingObserver: {"cluster %q has no observer", "a cluster's TargetGroupBindings are read with its observer: name one in section clusters"},
	badKubernetesName: {"%q is no Kubernetes %s name", "use at most %d lower-case letters, digits and hyphens%s, beginning and ending with a letter or digit"},
	duplicateGroup:    {"%s is listed twice", "first listed at line %d, column %d"},
	badURL:            {"url is no http or https URL: %s", "write https://HOST[:PORT]/PATH"},
	textTooLong:       {"%s has %d characters", "at most %d"},
	badHost:           {"%s %q is no host name", "write %s"},
	httpsOnly:         {"%s does not fit an http URL", "%s belongs to TLS: remove it, or write https in url"},
	badRegexp:         {"expect_body is no regular expression: %s", "RE2 syntax (golang.org/s/re2syntax); write \\ before a character that stands for itself"},
	slowRegexp:        {"expect_body is too large: its repetitions unfold to %d steps, above %d", "each step may be tried at each byte of the body: repeat less, or match a part of it"},
	requestTooLong:    {"request timeout %s is not shorter than the target's timeout %s", "the run must have time left for its other steps: set both, timeout in request (default 5s) below timeout of the target (default 10s)"},
}

// split parts a report's arguments into those of the text and those of the hint.
func (m message) split(args []any) (text, hint []any) {
	n := min(strings.Count(m.text, "%"), len(args))
	return args[:n], args[n:]
}
