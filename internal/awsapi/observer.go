// Observers sign in like any identity; their session is kept until shortly before its end, since their reads prove nothing about the identity under test.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// reader is an observer at work: who reads, in which region, and for what.
type reader struct {
	identity chain.Identity
	region   string
	api      string // whose: EKS, ELB
	subject  string // what is read for: "the cluster prod"
	facts    chain.Facts
}

// clusterReader reads for the target's cluster.
func clusterReader(target chain.Target) reader {
	return reader{identity: observing(target.Observer), region: target.Cluster.Region, api: "EKS", subject: "the cluster " + target.Cluster.Name, facts: observerFacts(target)}
}

// observing is an identity as it signs in to read: without a session policy, since it must be allowed to, and with the session that observers keep.
func observing(identity chain.Identity) chain.Identity {
	identity.SessionPolicy, identity.ReuseSession = chain.SessionPolicyNone, time.Duration(0)
	return identity
}

// key tells apart the readers that may not share a session.
func (r reader) key() string { return "observer " + sessionKey(r.identity, r.region) }

// sessionKey names a session by all that decides whose it is. External ids, which print as "[redacted]", are told apart by their hash.
func sessionKey(identity chain.Identity, region string) string {
	ids := sha256.New()
	for _, hop := range identity.Hops {
		fmt.Fprintf(ids, "%q", hop.ExternalID.Reveal())
	}
	return fmt.Sprintf("%s %+v %x", region, identity, ids.Sum(nil))
}

// observerSession returns the reader's session.
func (c *Client) observerSession(ctx context.Context, r reader) (*Session, error) {
	if r.identity.Source == "" {
		return nil, chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("%s names no observer, so nobody may read the %s API for it", r.subject, r.api), r.facts, nil)
	}
	// One sign-in at a time, whatever the number of clusters and target groups that share the observer.
	session, err := c.signIns.share(ctx, r.key(), func(ctx context.Context) (*Session, error) { return c.keptSignIn(ctx, r) })
	if err != nil {
		return nil, observerError(ctx, r.identity.Name, r.facts, err)
	}
	return session, nil
}

// forgetRefused forgets a session that AWS no longer believes, by its answer, so that the next read signs in anew.
func (c *Client) forgetRefused(r reader, session *Session, a answer) {
	if sessionCodes[a.code] {
		c.sessions.drop(r.key(), session)
	}
}

// keptSignIn returns the kept session, or signs in and keeps the new one.
func (c *Client) keptSignIn(ctx context.Context, r reader) (*Session, error) {
	key := r.key()
	if session, ok := c.sessions.get(key, c.options.Now()); ok {
		return session, nil
	}
	session, err := c.signIn(ctx, r.identity, r.region)
	if err != nil {
		return nil, err
	}
	if end := session.Expires(); !end.IsZero() {
		now := c.options.Now()
		c.sessions.put(key, session, now, end.Sub(now))
	}
	return session, nil
}

// signIn leaves no connection open: nobody asks the observer who it is.
func (c *Client) signIn(ctx context.Context, identity chain.Identity, region string) (*Session, error) {
	login, err := c.Login(ctx, identity, region, "observer")
	if err != nil {
		return nil, err
	}
	session, err := login.Assume(ctx)
	if err != nil {
		return nil, err
	}
	session.calls.close()
	return session, nil
}

func observerFacts(target chain.Target) chain.Facts {
	return chain.Facts{chain.FactObserver: target.Observer.Name, chain.FactRegion: target.Cluster.Region, chain.FactEKSName: target.Cluster.EKSName}
}

// observerError: whatever keeps the observer from signing in, the identity under test is not to blame, so it is unknown, with the reason told.
func observerError(ctx context.Context, name string, facts chain.Facts, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	e := chain.AsError(err)
	return chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("the observer %s could not sign in: %v", name, e), facts.Merge(e.Facts), err)
}

// ObserverToken mints a token of the observer for the target's cluster, for reads at its apiserver. Errors are unknown, or the context's own.
func (c *Client) ObserverToken(ctx context.Context, target chain.Target) (chain.Token, error) {
	session, err := c.observerSession(ctx, clusterReader(target))
	if err != nil {
		return chain.Token{}, err
	}
	token, err := session.Token(ctx, target.Cluster.EKSName)
	if err != nil {
		return chain.Token{}, observerError(ctx, target.Observer.Name, observerFacts(target), err)
	}
	return token, nil
}
