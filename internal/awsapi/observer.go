// Observers sign in like any identity; their session is kept until shortly before its end, since their reads prove nothing about the identity under test.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// observerSession returns the session of the target's observer. It never carries a session policy: it must be allowed to read.
func (c *Client) observerSession(ctx context.Context, target chain.Target) (*Session, error) {
	identity, facts := observerIdentity(target), observerFacts(target)
	if identity.Source == "" {
		return nil, chain.Unsure(chain.ReasonObserverUnavailable, fmt.Sprintf("the cluster %s names no observer, so nobody may read the EKS API for it", target.Cluster.Name), facts, nil)
	}
	key := observerKey(target)
	session, err := c.sharedSignIn(ctx, key, identity, target.Cluster.Region)
	if err != nil {
		return nil, observerError(ctx, identity.Name, facts, err)
	}
	return session, nil
}

// sharedSignIn makes one sign-in at a time for a key, whatever the number of clusters that share the observer; the others wait for it, and share its end.
func (c *Client) sharedSignIn(ctx context.Context, key string, identity chain.Identity, region string) (*Session, error) {
	for {
		shared, first := c.signIns.join(key)
		if first {
			defer c.signIns.end(key, shared)
			shared.session, shared.err = c.keptSignIn(ctx, key, identity, region)
			shared.cutShort = shared.err != nil && ctx.Err() != nil
			return shared.session, shared.err
		}
		select {
		case <-shared.done:
			if !shared.cutShort {
				return shared.session, shared.err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for its sign-in: %w", context.Cause(ctx))
		}
	}
}

// keptSignIn returns the kept session, or signs in and keeps the new one.
func (c *Client) keptSignIn(ctx context.Context, key string, identity chain.Identity, region string) (*Session, error) {
	if session, ok := c.sessions.get(key, c.options.Now()); ok {
		return session, nil
	}
	session, err := c.signIn(ctx, identity, region)
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

func observerIdentity(target chain.Target) chain.Identity {
	identity := target.Observer
	identity.SessionPolicy, identity.ReuseSession = chain.SessionPolicyNone, time.Duration(0)
	return identity
}

func observerKey(target chain.Target) string {
	return fmt.Sprintf("observer %s %+v", target.Cluster.Region, observerIdentity(target))
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
	session, err := c.observerSession(ctx, target)
	if err != nil {
		return chain.Token{}, err
	}
	token, err := session.Token(ctx, target.Cluster.EKSName)
	if err != nil {
		return chain.Token{}, observerError(ctx, target.Observer.Name, observerFacts(target), err)
	}
	return token, nil
}
