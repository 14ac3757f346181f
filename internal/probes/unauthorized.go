// After a 401 the evidence is gathered in a fixed order, from the token outwards; the first that explains the refusal is the verdict, else the wide reason lists what was ruled out.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// inquiry is the search for the cause of one 401.
type inquiry struct {
	*accessRun
	refused *Unauthorized
	cluster chain.ClusterInfo // zero when it could not be read
	// principal is the ARN under which an access entry would stand: with the role's path where the configuration tells it.
	principal string
	noEntry   bool
	facts     chain.Facts
	ruledOut  []string
	unread    []string
}

// questions are asked in this order. An error is the answer; nil means that the question is settled, or could not be, and the next one is asked.
var questions = []func(*inquiry, context.Context) error{
	(*inquiry).tokenEnded,
	(*inquiry).clockDiffers,
	(*inquiry).stsRefuses,
	(*inquiry).otherCluster,
	(*inquiry).accessEntry,
	(*inquiry).awsAuth,
}

// explainUnauthorized says why a token was refused. The refusal itself is certain, so the answer is always a failure.
func explainUnauthorized(ctx context.Context, run *accessRun, refused *Unauthorized) (chain.Facts, error) {
	i := &inquiry{accessRun: run, refused: refused, principal: entryPrincipal(run), facts: chain.Facts{chain.FactHTTPStatus: "401"}}
	i.facts[chain.FactPrincipal] = i.principal
	for _, ask := range questions {
		if err := ask(i, ctx); err != nil {
			return i.evidence(), err
		}
	}
	return i.evidence(), i.unexplained()
}

func (i *inquiry) evidence() chain.Facts {
	return i.facts.Merge(chain.Facts{chain.FactRuledOut: strings.Join(i.ruledOut, "; ")})
}

func (i *inquiry) rule(format string, args ...any) {
	i.ruledOut = append(i.ruledOut, fmt.Sprintf(format, args...))
}

func (i *inquiry) notRead(what string, err error) {
	i.unread = append(i.unread, what+": "+chain.AsError(err).Error())
}

func (i *inquiry) tokenEnded(context.Context) error {
	if err := tokenEnd(i.token, i.prober.Now()); err != nil {
		return err
	}
	i.rule("the token is valid until %s", i.token.Expires.UTC().Format(time.TimeOnly))
	return nil
}

// The tolerances of STS (15 minutes) and of its signature check for the future (5 minutes): facts of aws-iam-authenticator and of STS' own messages.
const (
	maxBehind = 15 * time.Minute
	maxAhead  = 5 * time.Minute
)

func (i *inquiry) clockDiffers(context.Context) error {
	if i.refused.Date.IsZero() {
		return nil
	}
	skew := i.prober.Now().Sub(i.refused.Date).Round(time.Second)
	i.facts[chain.FactClockSkew] = skew.String()
	if skew > maxAhead || -skew > maxBehind {
		return chain.Fail(chain.StepAccessEntry, chain.ReasonClockSkewPresigned,
			fmt.Sprintf("the local clock is %s off the apiserver's, so the presigned URL in the token is outside its time", skew), nil, i.refused)
	}
	i.rule("the clock agrees with the apiserver's within %s", max(skew.Abs(), time.Second))
	return nil
}

// stsRefuses replays the presigned URL, exactly as the authenticator does.
func (i *inquiry) stsRefuses(ctx context.Context) error {
	principal, err := i.prober.Cloud.Replay(ctx, i.token, i.target.Cluster.Region)
	if err == nil {
		i.facts[chain.FactReplay] = principal.ARN
		i.rule("STS accepts the presigned URL as %s", principal.ARN)
		return nil
	}
	e := chain.AsError(err)
	i.facts[chain.FactReplay] = string(e.Reason)
	switch e.Reason {
	case chain.ReasonClockAhead, chain.ReasonClockBehind:
		return chain.Fail(chain.StepAccessEntry, chain.ReasonClockSkewPresigned, "STS refuses the presigned URL: "+e.Detail, e.Facts, e)
	case chain.ReasonCredentialsExpired:
		return chain.Fail(chain.StepToken, chain.ReasonTokenSigningCredentialsExpired, "STS refuses the presigned URL: "+e.Detail, e.Facts, e)
	case chain.ReasonCredentialsInvalid, chain.ReasonSignatureInvalid, chain.ReasonSessionTokenRegionInvalid, chain.ReasonSTSRegionDisabled, chain.ReasonSTSRegionScopeMismatch:
		return chain.Fail(chain.StepSTS, e.Reason, "STS refuses the presigned URL: "+e.Detail, e.Facts, e)
	}
	i.notRead("replaying the presigned URL", e)
	return nil
}

// otherCluster holds the name that was signed, byte for byte, and the server that answered against what EKS says.
func (i *inquiry) otherCluster(ctx context.Context) error {
	name := i.target.Cluster.EKSName
	if i.target.Cluster.Observer == "" {
		i.unread = append(i.unread, "the cluster has no observer, so neither its name nor its access entries could be read")
		return nil
	}
	info, err := i.prober.clusters.refresh(ctx, i.target)
	var e *chain.Error
	switch {
	case errors.As(err, &e) && e.Reason == chain.ReasonClusterNotFound:
		return chain.Fail(chain.StepToken, chain.ReasonClusterIDMismatch,
			fmt.Sprintf("an apiserver answers at %s, but EKS knows no cluster %q in %s: the token is signed for a name that this cluster does not bear", i.endpoint.URL, name, i.target.Cluster.Region), e.Facts, e)
	case err != nil:
		i.notRead("DescribeCluster", err)
		return nil
	}
	i.cluster = info
	i.facts[chain.FactAuthMode], i.facts[chain.FactEndpointDescribed] = info.AuthMode, info.Endpoint
	switch configured := i.target.Cluster.Endpoint; {
	case info.Name != name:
		return chain.Fail(chain.StepToken, chain.ReasonClusterIDMismatch, fmt.Sprintf("the token is signed for %q, and EKS calls the cluster %q", name, info.Name), nil, nil)
	case configured != "" && hostOf(configured) != hostOf(info.Endpoint) && !i.conn.ServedBy(info.CA):
		return chain.Fail(chain.StepToken, chain.ReasonClusterIDMismatch,
			fmt.Sprintf("the server at %s has a certificate of another cluster than %s: the token is signed for a name that this server does not bear", configured, name), nil, nil)
	case configured == "" && hostOf(i.endpoint.URL) != hostOf(info.Endpoint):
		return chain.Fail(chain.StepEndpoint, chain.ReasonEndpointStale, fmt.Sprintf("%s answers, but EKS says that %s is at %s", i.endpoint.URL, name, info.Endpoint), nil, nil)
	}
	i.rule("the signed name %q is the cluster's own", name)
	return checkCluster(i.target, info)
}

func (i *inquiry) accessEntry(ctx context.Context) error {
	if i.cluster.AuthMode == "" || i.cluster.AuthMode == chain.AuthModeConfigMap {
		return nil
	}
	entry, found, err := i.findEntry(ctx)
	switch {
	case err != nil:
		i.notRead("the access entry", err)
		return nil
	case found:
		return i.refusedDespite(fmt.Sprintf("the access entry of %s", entry.PrincipalARN))
	}
	i.noEntry = true
	if i.cluster.AuthMode == chain.AuthModeAPI {
		return i.notMapped("no access entry")
	}
	i.rule("there is no access entry for %s", i.principal)
	return nil
}

// findEntry asks for the principal's entry; since STS shows no path and entries hold it, an unknown path means looking through the list.
func (i *inquiry) findEntry(ctx context.Context) (chain.AccessEntry, bool, error) {
	entry, found, err := i.prober.Observer.AccessEntry(ctx, i.target, i.principal)
	if err != nil || found {
		return entry, found, err
	}
	all, err := i.prober.Observer.AccessEntries(ctx, i.target)
	if err != nil {
		return chain.AccessEntry{}, false, err
	}
	for _, arn := range all {
		if chain.SamePrincipal(arn, i.accessRun.principal.ARN) {
			return chain.AccessEntry{PrincipalARN: arn}, true, nil
		}
	}
	return chain.AccessEntry{}, false, nil
}

// refusedDespite is the case of a mapping that looks right. When the cluster has let another identity in since it first refused this one, its authenticator works, and what is left is a
// principal that was deleted and made again: EKS keeps the unique id of the old one.
func (i *inquiry) refusedDespite(mapping string) error {
	if control := i.prober.controls.other(i.target); control != "" && strings.HasPrefix(mapping, "the access entry") {
		return chain.Fail(chain.StepAccessEntry, chain.ReasonAccessEntryPrincipalRecreated,
			fmt.Sprintf("%s exists, everything else holds, and %s has got in since: the entry is bound to a former principal of the same name", mapping, control), nil, i.refused)
	}
	i.rule("%s exists", mapping)
	return nil
}

func (i *inquiry) notMapped(where string) error {
	return chain.Fail(chain.StepAccessEntry, chain.ReasonNotMapped,
		fmt.Sprintf("the token is good (STS accepts it as %s), but the cluster has %s for %s; authentication mode is %s", i.accessRun.principal.ARN, where, i.principal, i.cluster.AuthMode),
		nil, i.refused)
}

func (i *inquiry) unexplained() error {
	detail := "the apiserver refused the token and does not say why"
	if len(i.ruledOut) > 0 {
		detail += "; ruled out: " + strings.Join(i.ruledOut, "; ")
	}
	if len(i.unread) > 0 {
		detail += "; could not be read: " + strings.Join(i.unread, "; ")
	}
	return chain.Fail(chain.StepAccessEntry, chain.ReasonUnauthorizedUnexplained, detail, nil, i.refused)
}

// entryPrincipal returns the ARN that an access entry of the caller would hold.
func entryPrincipal(run *accessRun) string {
	if expected := run.target.Identity.Expected(); expected != "" && chain.SamePrincipal(expected, run.principal.ARN) {
		return chain.CanonicalARN(expected)
	}
	return run.principal.Canonical()
}
