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

	messageCount // not a message
)

var messages = [messageCount]message{
	emptyFile:        {"the file is empty", "write at least clusters, identities and access"},
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
	unsupportedSection: {"%s is not supported by this version", "remove the section; this version probes access targets"},

	badDuration:          {"%s %q is no duration", "write whole numbers with units, such as 15s, 1m30s or 1h"},
	durationTooShort:     {"%s %s is shorter than %s", "%s"},
	durationTooLong:      {"%s %s is longer than %s", "%s"},
	timeoutAboveInterval: {"timeout %s is longer than interval %s", "a probe must end before its next slot: set both, timeout at most interval (defaults: 15s and 10s)"},
	badRate:              {"%s must be a number above 0 and at most 1000", "requests per second, such as 1 or 0.5"},
	badName:              {"%q is no name", "use letters, digits and . _ - only, at most 128 of them"},
	duplicateName:        {"duplicate %s name %q", "first used at line %d, column %d"},
	unknownReference:     {"there is no %s named %q", "%s"},
	unknownChoice:        {"unknown %s %q", "%s"},
	fileUnusable:         {"%s %q: %s", "a relative path starts at the directory of the configuration file"},
	noCertificate:        {"ca_file %q holds no PEM certificate", "write the cluster's certificate authority to it, base64-decoded (aws eks describe-cluster --query cluster.certificateAuthority.data)"},
	badManifest:          {"manifest_file %q: %s", "write one Kubernetes object to it, with apiVersion and kind"},
	emptyExternalID:      {"external_id_file %q is empty", "write the external id to it, as the role's trust policy has it"},

	badRegion:      {"%q is no AWS region", "such as eu-west-1 or us-gov-west-1; an availability zone's letter does not belong here"},
	quoteAccountID: {"account_id must be quoted", "unquoted, YAML reads a number and drops leading zeros; write account_id: \"%s\""},
	badAccountID:   {"%q is no AWS account id", "an account id has 12 digits"},
	badEKSName:     {"%q is no EKS cluster name", "set eks_name to the name at EKS: letters, digits, - and _, at most 100, beginning with a letter or digit"},
	badEndpoint:    {"endpoint is no https URL: %s", "write https://HOST[:PORT]"},
	noWayToCluster: {"cluster %q has neither an observer nor both endpoint and ca_file", "name an identity that may call eks:DescribeCluster in observer, or set endpoint and ca_file"},
	badLabelName:   {"%q is no label name", "use letters, digits and _, not beginning with a digit"},
	reservedLabel:  {"label %q is reserved", "cluster, identity and names beginning with __ are set by the exporter; choose another name"},
	labelConflict:  {"label %q is %q on cluster %q and %q on identity %q", "both land on one series: rename one of the two"},
	labelTooLong:   {"label %q has a value of %d bytes", "it is repeated on every info series: at most 1024 bytes"},

	arnShape:       {"%q is no ARN", "write %s"},
	arnPartition:   {"unknown partition %q in ARN %q", "%s"},
	arnService:     {"%q is an ARN of service %q, not iam", "write %s"},
	arnAccount:     {"account %q in ARN %q is not 12 digits", "the fifth field of an ARN is the account id"},
	arnResource:    {"%q is no ARN of %s", "write %s"},
	arnSession:     {"%q is the ARN of a session, not of a role", "write the role's IAM ARN, %s (with its path, when the role has one)"},
	keyNeedsSource: {"%s does not fit source %s", "%s belongs to source %s: remove it, or change the source"},

	duplicateAccess:  {"identity %q is listed twice for cluster %q", "first listed at line %d, column %d"},
	ownObserver:      {"identity %q is the observer of cluster %q", "the observer is never the identity under test: declare another identity to observe the cluster"},
	crossPartition:   {"identity %q signs in to partition %s, but cluster %q is in partition %s", "credentials never cross partitions: use %s of partition %s"},
	badTemplate:      {"unknown placeholder %q", "placeholders: {{SessionName}} and {{AccountID}}"},
	listedTwice:      {"%s lists %q twice", "first listed at line %d, column %d"},
	badRule:          {"%s", "%s"},
	allowedAndDenied: {"rule %q is both allowed and denied", "allowed at line %d, column %d: remove one of the two"},
	dryRunVerb:       {"verb %q writes no object", "dry_run takes create, update, patch or delete"},
	dryRunObject:     {"%s in dry_run needs %s", "%s"},
}

// split parts a report's arguments into those of the text and those of the hint.
func (m message) split(args []any) (text, hint []any) {
	n := min(strings.Count(m.text, "%"), len(args))
	return args[:n], args[n:]
}
