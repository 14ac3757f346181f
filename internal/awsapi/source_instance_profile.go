// Source instance_profile: the role of the EC2 instance, from its metadata service, version 2 alone.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// roleListPath names the role of the instance; below it are the role's credentials (EC2 user guide, "Retrieve security credentials from instance metadata").
const roleListPath = "iam/security-credentials/"

var roleNameShape = regexp.MustCompile(`^[\w+=,.@-]{1,64}$`)

// instanceCredentials is the answer with the role's credentials, or with why there are none.
type instanceCredentials struct {
	Code, Message   string
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	Token           string
	Expiration      time.Time
}

// openInstanceProfile asks for a token, for the role's name and for its credentials, each once; what came last time is never used again. The SDK's ec2rolecreds would cut their end to an hour.
func openInstanceProfile(ctx context.Context, l *Login) (opened, error) {
	facts := chain.Facts{chain.FactProvider: string(chain.SourceInstanceProfile)}
	seen := l.client.observe()
	metadata := l.client.metadata(seen)
	list, err := readMetadata(ctx, metadata, roleListPath)
	if err != nil {
		return l.noInstanceProfile(ctx, answerOf(err, seen.seen()), "", facts)
	}
	name, _, _ := strings.Cut(strings.TrimSpace(list), "\n")
	facts = facts.Merge(seen.seen().facts())
	switch {
	case name == "":
		return opened{}, l.fail(chain.ReasonInstanceProfileMissing, facts, nil, "opening the source instance_profile: instance metadata lists no role, so the instance has no profile")
	case !roleNameShape.MatchString(name):
		return opened{}, l.fail(chain.ReasonIMDSUnreachable, facts, nil, "opening the source instance_profile: asked for the role's name, something that is not instance metadata answered in its place")
	}
	facts[chain.FactRoleName] = name
	text, err := readMetadata(ctx, metadata, roleListPath+name)
	if err != nil {
		return l.noInstanceProfile(ctx, answerOf(err, seen.seen()), name, facts)
	}
	return l.readInstanceCredentials(text, name, facts)
}

// metadata is a client of IMDSv2. AWS_EC2_METADATA_DISABLED turns the SDK's fall-back to instance metadata off; here the configuration asks for it by name, so the variable is not heeded.
func (c *Client) metadata(seen *observation) *imds.Client {
	return imds.NewFromConfig(c.base, func(o *imds.Options) {
		o.ClientEnableState, o.EnableFallback = imds.ClientEnabled, aws.FalseTernary
		o.HTTPClient, o.Retryer = c.node, aws.NopRetryer{}
		o.APIOptions = append(o.APIOptions, seen.attach)
	})
}

func readMetadata(ctx context.Context, client *imds.Client, path string) (string, error) {
	out, err := client.GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Content.Close() }() // it was only read
	text, err := io.ReadAll(out.Content)
	return string(text), err
}

func (l *Login) readInstanceCredentials(text, name string, facts chain.Facts) (opened, error) {
	var found instanceCredentials
	err := json.Unmarshal([]byte(text), &found)
	switch {
	case err != nil:
		return opened{}, l.fail(chain.ReasonIMDSUnreachable, facts, nil, "reading the credentials of the role %s from instance metadata: the answer is not what instance metadata says", name)
	case found.Code == "AssumeRoleUnauthorizedAccess": // EC2 asks STS for the role's session, and was refused
		facts[chain.FactHop] = l.place(1, 1)
		refused := chain.Fail(chain.StepSTS, chain.ReasonAssumeRoleDenied, chain.Redact(fmt.Sprintf("hop %s, the instance's role %s: instance metadata says %s: %s "+
			"(its trust policy must let ec2.amazonaws.com do sts:AssumeRole)", facts[chain.FactHop], name, found.Code, found.Message)), facts, nil)
		return opened{refused: refused, assumed: 1, facts: facts}, nil
	case found.Code != "Success" || found.AccessKeyID == "" || found.SecretAccessKey == "":
		return opened{}, l.fail(chain.ReasonNoCredentials, facts, nil, "reading the credentials of the role %s from instance metadata: %s", name,
			chain.Redact(fmt.Sprintf("it has none, and says %q: %s", found.Code, found.Message)))
	}
	return opened{assumed: 1, facts: facts, credentials: aws.Credentials{
		AccessKeyID: found.AccessKeyID, SecretAccessKey: found.SecretAccessKey, SessionToken: found.Token, CanExpire: !found.Expiration.IsZero(), Expires: found.Expiration,
	}}, nil
}

// noInstanceProfile tells the ways in which metadata gives nothing apart. role is "" as long as its name was not given.
func (l *Login) noInstanceProfile(ctx context.Context, a answer, role string, facts chain.Facts) (opened, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return opened{}, ctx.Err()
	}
	if a.untried() {
		return opened{}, chain.Unsure(chain.ReasonReadFailed, chain.Redact(fmt.Sprintf("asking instance metadata at %s: no answer, while %s: %v", a.host, a.phase, a.cause)), facts.Merge(a.facts()), a.err)
	}
	a.status = a.received // the SDK's client hides the end of a call for a token in an error that does not unwrap
	said := fmt.Sprintf("HTTP %d", a.status)
	switch {
	case a.status != 0:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		said = "no answer in time, while " + a.phase
	default:
		said = "no answer, while " + a.phase
	}
	asked, reason, why := "for the role's name", chain.ReasonIMDSUnreachable, ""
	if role != "" {
		asked = "for the credentials of the role " + role
	}
	switch token := a.operation == opMetadataToken; {
	case a.throttled():
		return opened{}, chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("opening the source instance_profile: instance metadata throttles: %s", said), facts.Merge(a.facts()), a.err)
	case token:
		asked, why = "for a token (PUT)", tokenRefusals[a.status]
	case a.status == http.StatusNotFound && role == "":
		reason, why = chain.ReasonInstanceProfileMissing, "it gave a token, so it is not blocked: the instance has no profile"
	case a.status == http.StatusNotFound:
		reason, why = chain.ReasonNoCredentials, "it names the role, and has no credentials of it"
	}
	detail := fmt.Sprintf("opening the source instance_profile: instance metadata at %s, asked %s: %s", a.host, asked, said)
	if why != "" {
		detail += " (" + why + ")"
	}
	return opened{}, chain.Fail(chain.StepCredentials, reason, chain.Redact(detail), facts.Merge(a.facts()), a.err)
}

// tokenRefusals says what the end of a PUT for a token means, by HTTP status; 0 is no answer (EC2 user guide, "Use IMDSv2").
var tokenRefusals = map[int]string{
	0:                           "so it is blocked, or the answer's hop limit is below the number of hops to a pod: 2",
	http.StatusOK:               "what answers there is not IMDSv2",
	http.StatusForbidden:        "it is turned off for this instance",
	http.StatusNotFound:         "what answers there is not IMDSv2",
	http.StatusMethodNotAllowed: "what answers there is not IMDSv2",
}
