// Logins: an identity's configured source, and no other, is opened; what the hops will need is read before any call.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// opened is a source that answered: with credentials, or with a web identity that STS turns into some.
type opened struct {
	credentials aws.Credentials
	web         *webIdentity
	assumed     int   // roles that were assumed on the way, by EKS Auth or by EC2; they count as hops
	refused     error // a failure of the step sts that came to light already; Assume returns it
	facts       chain.Facts
}

// webIdentity is what AssumeRoleWithWebIdentity is asked with.
type webIdentity struct {
	roleARN string
	token   webToken
}

// sources opens each credential source, one file each. A source reads nothing but its own place: when that is empty, the login fails.
var sources = map[chain.Source]func(context.Context, *Login) (opened, error){
	chain.SourceIRSA:            openIRSA,
	chain.SourcePodIdentity:     openPodIdentity,
	chain.SourceInstanceProfile: openInstanceProfile,
	chain.SourceProfile:         openProfile,
	chain.SourceEnvironment:     openEnvironment,
	chain.SourceDefault:         openDefault,
}

// Login is an identity whose source answered.
type Login struct {
	client   *Client
	identity chain.Identity
	region   string
	runID    string
	source   opened
	hops     []hop
}

// Login opens the identity's source for one run. Everything local is read anew: environment, shared configuration files, the web identity token, external ids. Errors are
// *chain.Error of the step credentials, or the context's own. Where the SDK walks a profile's own roles at STS, their failure is kept for Assume.
func (c *Client) Login(ctx context.Context, identity chain.Identity, region, runID string) (*Login, error) {
	if err := checkRegion(region); err != nil {
		return nil, err
	}
	open, ok := sources[identity.Source]
	if !ok {
		return nil, chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("the identity %s has the source %q, which this exporter cannot open", identity.Name, identity.Source), nil, nil)
	}
	login := &Login{client: c, identity: identity, region: region, runID: runID}
	var err error
	if login.source, err = open(ctx, login); err != nil {
		return nil, err
	}
	if login.hops, err = login.plan(); err != nil {
		return nil, err
	}
	return login, nil
}

// Facts tells the provider that answered and, for irsa, the token's issuer, subject, audience and end.
func (l *Login) Facts() chain.Facts { return l.source.facts.Merge() }

// fail blames the step credentials.
func (l *Login) fail(reason chain.Reason, facts chain.Facts, cause error, format string, args ...any) error {
	return chain.Fail(chain.StepCredentials, reason, fmt.Sprintf(format, args...), facts, cause)
}

// externalID reads a hop's external id; the zero Secret means that the hop has none.
func (l *Login) externalID(hop chain.Hop) (chain.Secret, error) {
	path := hop.ExternalIDFile
	if path == "" {
		return hop.ExternalID, nil
	}
	text, err := chain.ReadSmall(path, smallFile)
	if err != nil {
		return chain.Secret{}, l.fail(chain.ReasonNoCredentials, nil, err, "reading the external id from %s: %v", path, err)
	}
	id := strings.TrimSpace(string(text))
	if id == "" {
		return chain.Secret{}, l.fail(chain.ReasonNoCredentials, nil, nil, "reading the external id from %s: the file is empty", path)
	}
	return chain.NewSecret(id), nil
}

var notInSessionName = regexp.MustCompile(`[^A-Za-z0-9_+=,.@-]`)

// sessionName is what CloudTrail and the cluster's audit log show of the run: at most 64 of the characters that STS allows (STS API, AssumeRole, RoleSessionName).
func (l *Login) sessionName() string {
	name := notInSessionName.ReplaceAllString("eks-slo-"+l.runID, "-")
	return name[:min(len(name), 64)]
}
