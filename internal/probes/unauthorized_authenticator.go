// Questions about the authenticator after a 401: a mapping that looks right means a principal made anew, or an authenticator in trouble. What is done with another token, now, tells them apart.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// webhookRetries is how long a refusal takes at least when the apiserver asked its authentication webhook again and again: five tries, 500 ms apart at first and half as long again each time
// (k8s.io/apiserver pkg/util/webhook), less a margin. It does so after a 429, which is how the authenticator answers when STS throttles it, and after timeouts and resets; never after a 403,
// which is how it says that somebody is not mapped, nor when nobody listens.
const webhookRetries = 3500 * time.Millisecond

// retried reports whether the refusal took that long, beyond what STS itself takes.
func (i *inquiry) retried() bool { return i.reviewTook-i.replayTook >= webhookRetries }

// control is how somebody else fared at the same apiserver just now.
type control struct {
	who      string
	accepted bool
	refused  bool  // although mapped
	unknown  error // why neither is known
}

// refusedDespite is the case of an entry that looks right, by this table (first match wins):
//
//	slow refusal, and STS throttles the same presigned URL  → authenticator_throttled
//	IAM: the principal is younger than its entry            → access_entry_principal_recreated
//	another mapped principal is refused now, too            → authenticator_throttled after a slow refusal, else authenticator_unavailable
//	another is accepted, this one is refused again, at once → access_entry_principal_recreated, unless IAM says that the principal is the older one, or the entry is quite new
//	anything else                                           → no answer
func (i *inquiry) refusedDespite(ctx context.Context, entry chain.AccessEntry) error {
	whose := "the access entry of " + entry.PrincipalARN
	if i.retried() && i.throttled {
		return i.throttledAuthenticator(whose + " exists")
	}
	created, control := i.otherEvidence(ctx, entry)
	switch {
	case younger(created, entry):
		return i.fail(chain.ReasonAccessEntryPrincipalRecreated, "%s was made at %s, and the principal at %s, as IAM tells: the entry is bound to a former principal of the same name",
			whose, stamp(entry.Created), stamp(created))
	case control.refused && i.retried():
		return i.fail(chain.ReasonAuthenticatorThrottled, "%s and that of %s exist, and the apiserver refuses both, after %s: it asked its authenticator again and again, as it does when STS throttles it",
			whose, control.who, i.reviewTook.Round(100*time.Millisecond))
	case control.refused:
		return i.fail(chain.ReasonAuthenticatorUnavailable, "%s and that of %s exist, STS accepts both tokens, and the apiserver refuses both: it gets no answer from its authenticator", whose, control.who)
	}
	i.rule("%s exists", whose)
	switch {
	case !created.IsZero() && !entry.Created.IsZero():
		i.rule("the principal is older than its entry (made at %s)", stamp(created))
		return nil
	case i.prober.Now().Sub(entry.Created) < settling:
		i.rule("the entry was made at %s, and may not be in force everywhere", stamp(entry.Created))
		return nil
	}
	return i.byElimination(ctx, whose, control)
}

// settling is how long a new entry may take to be in force: "several seconds" (EKS user guide, "Create access entries"), with room.
const settling = 2 * time.Minute

// younger reports whether a principal was made after its entry, both by AWS' clock; what is not known is not younger.
func younger(created time.Time, entry chain.AccessEntry) bool {
	return !entry.Created.IsZero() && created.After(entry.Created)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// otherEvidence asks IAM and another principal at once: IAM is far away for many, and must not use up the time. When IAM has told it all, the other is not waited for.
func (i *inquiry) otherEvidence(ctx context.Context, entry chain.AccessEntry) (created time.Time, c control) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	var wait sync.WaitGroup
	var unread error
	wait.Go(func() {
		ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errors.New("IAM had 2s"))
		defer cancel()
		if created, unread = i.prober.Observer.Created(ctx, i.target, i.principal); younger(created, entry) {
			enough()
		}
	})
	wait.Go(func() { c = i.askObserver(ctx) })
	wait.Wait()
	if unread != nil {
		i.notRead("since when the principal exists", unread)
	}
	if c.unknown != nil {
		i.notRead("how "+c.who+" fares", c.unknown)
	}
	return created, c
}

// askObserver presents the observer's token to the same apiserver. That it is refused says something only when the observer is somebody else, whom the cluster maps, and when the connection ends at
// the cluster itself: what stands before it could have dropped both tokens.
func (i *inquiry) askObserver(ctx context.Context) control {
	c := control{who: "the observer " + i.target.Cluster.Observer}
	token, err := i.prober.Observer.Token(ctx, i.target)
	if err != nil {
		c.unknown = err
		return c
	}
	review, err := i.conn.Review(ctx, token)
	if _, refused := errors.AsType[*Unauthorized](err); !refused {
		c.accepted, c.unknown = err == nil && !review.Anonymous(), err
		return c
	}
	who, err := i.prober.Cloud.Replay(ctx, token, i.target.Cluster.Region)
	switch {
	case err != nil:
		c.unknown = err
	case chain.SamePrincipal(who.ARN, i.principal.ARN):
		c.unknown = chain.Unsure(chain.ReasonNotMeasurable, "it is the very principal that was refused", nil, nil)
	case !i.conn.ServedBy(i.cluster.CA):
		c.unknown = chain.Unsure(chain.ReasonNotMeasurable, "it is refused too, by a server whose certificate is not of the cluster's own authority", nil, nil)
	default:
		_, c.refused, c.unknown = i.findEntry(ctx, i.target.Observer, who)
		if c.unknown == nil && !c.refused {
			c.unknown = chain.Unsure(chain.ReasonNotMeasurable, "it is refused too, and has no access entry", nil, nil)
		}
	}
	return c
}

// byElimination: the authenticator lets somebody else in and refuses this one, again and at once, so what is left is a principal that was deleted and made again: EKS keeps the unique id of the old one.
func (i *inquiry) byElimination(ctx context.Context, whose string, c control) error {
	other := i.prober.controls.other(i.target)
	if c.accepted {
		other = c.who
	}
	if other == "" || i.retried() {
		return nil
	}
	began := time.Now()
	_, err := i.conn.Review(ctx, i.token)
	if err == nil {
		i.rule("the same token is accepted now: the refusal was of a moment")
		return nil
	}
	if _, again := errors.AsType[*Unauthorized](err); !again || time.Since(began) >= webhookRetries {
		return nil
	}
	return i.fail(chain.ReasonAccessEntryPrincipalRecreated, "%s exists, everything else holds, and %s has got in since: the entry is bound to a former principal of the same name", whose, other)
}

// clears is the case of a mapping in aws-auth that looks right: the observer has just read it at the same apiserver, so the authenticator answers.
func (i *inquiry) clears(whose string) error {
	if i.retried() && i.throttled {
		return i.throttledAuthenticator(whose + " exists")
	}
	i.rule("%s exists", whose)
	i.rule("the authenticator works: it let the observer %s in", i.target.Cluster.Observer)
	return nil
}

func (i *inquiry) throttledAuthenticator(mapping string) error {
	return chain.Fail(chain.StepAccessEntry, chain.ReasonAuthenticatorThrottled,
		fmt.Sprintf("%s, the refusal took %s, as when the apiserver asks its authenticator again and again, and STS throttles the presigned URL that the authenticator has to present",
			mapping, i.reviewTook.Round(100*time.Millisecond)), nil, i.refused)
}
