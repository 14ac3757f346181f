// After a 401 the evidence is gathered in a fixed order, from the token outwards; the first that explains the refusal is the verdict, else the wide reason lists what was ruled out.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
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
	// entryARN is the ARN under which an access entry would stand: with the role's path where the configuration tells it.
	entryARN   string
	noEntry    bool          // EKS told that there is none
	replayed   bool          // STS accepted the presigned URL, as the principal
	replayTook time.Duration // until STS answered the presigned URL
	throttled  bool          // STS answered it with Throttling
	facts      chain.Facts
	ruledOut   []string
	unread     []string
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

// explainUnauthorized says why a token was refused. The refusal itself is certain, so the answer is a failure, unless the cluster moves away meanwhile.
func explainUnauthorized(ctx context.Context, run *accessRun, refused *Unauthorized) (chain.Facts, error) {
	i := &inquiry{accessRun: run, refused: refused, facts: chain.Facts{chain.FactHTTPStatus: "401"}}
	i.callerIs(run.principal)
	for _, ask := range questions {
		if err := ask(i, ctx); err != nil {
			return i.evidence(), err
		}
	}
	return i.evidence(), i.unexplained()
}

// callerIs notes who signed the token.
func (i *inquiry) callerIs(principal chain.Principal) {
	i.principal, i.entryARN = principal, entryARN(i.target.Identity, principal)
	i.facts[chain.FactPrincipal] = i.entryARN
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

// fail is an answer that blames the step access_entry.
func (i *inquiry) fail(reason chain.Reason, format string, args ...any) error {
	return chain.Fail(chain.StepAccessEntry, reason, fmt.Sprintf(format, args...), nil, i.refused)
}

func (i *inquiry) unexplained() error {
	detail := "the apiserver refused the token and does not say why"
	if i.retried() {
		detail += fmt.Sprintf(" (it took %s, as when it asks its authenticator again and again)", i.reviewTook.Round(100*time.Millisecond))
	}
	if len(i.ruledOut) > 0 {
		detail += "; ruled out: " + strings.Join(i.ruledOut, "; ")
	}
	return i.fail(chain.ReasonUnauthorizedUnexplained, "%s%s", detail, notReadText(i.unread))
}

// notReadText ends a detail with what the observer could not read.
func notReadText(unread []string) string {
	if len(unread) == 0 {
		return ""
	}
	return "; could not be read: " + strings.Join(unread, "; ")
}
