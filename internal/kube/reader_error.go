// What the answer to a read means: never a failure, since it says nothing of a target group.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// question is what a read asks for.
type question struct {
	verb, resource string // RESOURCE.GROUP, as kubectl writes it
	namespace      string // "": all, or none
	name           string // of a get
	kind           string // of the answer
}

// String is how FactAction names it.
func (q question) String() string {
	text := q.verb + " " + q.resource
	if q.namespace != "" {
		text += " in " + q.namespace
	}
	return text
}

// errNoSuchKind is wrapped by the observer_unavailable of a kind that the API server does not serve.
var errNoSuchKind = errors.New("the API server does not serve this kind")

func unavailable(what, why string, cause error) *chain.Error {
	return chain.Unsure(chain.ReasonObserverUnavailable, what+": "+why, nil, cause)
}

// read makes one request, and once more with a new token after a 401. found is false when there is no such object.
func (s session) read(ctx context.Context, q question, send func(context.Context) error) (got answer, found bool, err error) {
	var refused chain.Secret
	for range 2 {
		token, err := s.bearer(ctx, refused)
		if err != nil {
			return answer{}, false, lost(ctx, q, err)
		}
		if got, err = s.ask(ctx, token, q, send); err != nil {
			return answer{}, false, lost(ctx, q, err)
		}
		if got.status != http.StatusUnauthorized {
			break
		}
		refused = token.Value
	}
	found, err = s.judge(q, got)
	return got, found, err
}

// ask makes one attempt. The error is that of an exchange without a whole answer, or of a good answer that is not what was asked for.
func (c *cluster) ask(ctx context.Context, token chain.Token, q question, send func(context.Context) error) (answer, error) {
	select {
	case c.conn.slots <- struct{}{}:
		defer func() { <-c.conn.slots }()
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	a := &attempt{token: token.Value, kind: q.kind}
	var failed error
	_, got, err := c.conn.exchange(context.WithValue(ctx, attemptKey{}, a), func(ctx context.Context) error {
		failed = send(ctx)
		if a.err != nil {
			failed = a.err
		}
		return failed
	})
	if err == nil && got.ok() && failed != nil {
		err = c.conn.notKubernetes(got, wire.PlainText(failed), failed)
	}
	return got, err
}

// lost is a read without a whole answer of Kubernetes' own, or without a token: the end of the context, an unknown of the observer's own chain, or whatever came between.
func lost(ctx context.Context, q question, err error) error {
	e, classified := errors.AsType[*chain.Error](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled), !classified && ctx.Err() != nil:
		return ctx.Err()
	case classified && (e.Reason == chain.ReasonObserverDenied || e.Reason == chain.ReasonObserverUnavailable):
		return err
	}
	return unavailable(q.String(), chain.AsError(err).Error(), err)
}

// judge reads a whole answer, by this table (first match wins):
//
//	2xx                                     → found
//	404 Status that names the object        → not found
//	404 in kube-apiserver's own words       → observer_unavailable, errNoSuchKind
//	403 Status for system:anonymous         → observer_unavailable: the token did not arrive
//	403 Status                              → observer_denied
//	401 Status                              → observer_denied: the second token was refused as well
//	all else                                → observer_unavailable, with what it means anywhere
func (c *cluster) judge(q question, got answer) (found bool, err error) {
	status, kubernetes := readStatus(got.body)
	message := chain.Redact(status.Message)
	facts := answerFacts(got, message).Merge(chain.Facts{chain.FactAction: q.String()})
	user, _, _ := forbiddenUser(status)
	switch {
	case got.ok():
		return true, nil
	case kubernetes && got.status == http.StatusNotFound && q.name != "" && status.Details != nil && status.Details.Name == q.name:
		return false, nil
	case got.unserved():
		return false, unavailable(q.String(), errNoSuchKind.Error(), errNoSuchKind)
	case kubernetes && got.status == http.StatusForbidden && user == anonymous:
		return false, unavailable(q.String(), "the apiserver saw no token: "+message, nil)
	case kubernetes && got.status == http.StatusForbidden:
		return false, chain.Unsure(chain.ReasonObserverDenied, "the observer may not "+q.String()+": "+message, facts, nil)
	}
	err = c.conn.answerError(got)
	if errors.Is(err, ErrUnauthorized) {
		return false, chain.Unsure(chain.ReasonObserverDenied, "the cluster refused the observer's token, and a new one as well: "+err.Error(), facts, err)
	}
	return false, unavailable(q.String(), err.Error(), err)
}
