// Sessions: a signed-in principal, and who STS says it is.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Session is a signed-in principal in one region. It is never changed once its run has it.
type Session struct {
	client      *Client
	calls       *stsCalls // of the run that has the session
	region      string
	credentials aws.Credentials
	source      bool // the credentials are the source's own: no hop was walked
	began       time.Time
	facts       chain.Facts
	asked       *callerAnswer // of a reused session, which was asked before it could serve
}

// callerAnswer is how GetCallerIdentity ended. code is AWS's own, of an error.
type callerAnswer struct {
	principal chain.Principal
	code      string
	err       error
}

// Facts tells the last hop, its role, the STS host and the clock skew that the hop showed; `reused` when no server was reached for it.
func (s *Session) Facts() chain.Facts { return s.facts.Merge() }

// Expires is the session's end by STS's clock; zero for credentials that do not end or do not tell.
func (s *Session) Expires() time.Time {
	if !s.credentials.CanExpire {
		return time.Time{}
	}
	return s.credentials.Expires
}

// Caller asks GetCallerIdentity, which needs no permission; what a reused session was told before it served is not asked again. It is the last question of a run to STS, so its
// connection is closed. Errors are *chain.Error of the step sts, or the context's own.
func (s *Session) Caller(ctx context.Context) (chain.Principal, error) {
	defer s.calls.close()
	if s.asked != nil {
		return s.asked.principal, s.asked.err
	}
	answer := s.ask(ctx)
	return answer.principal, answer.err
}

func (s *Session) ask(ctx context.Context) callerAnswer {
	seen := s.client.observe()
	out, err := s.calls.api.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, as(s.provider(), seen))
	if err != nil {
		a := answerOf(err, seen.seen())
		call := stsCall{operation: opCaller, doing: "asking GetCallerIdentity", facts: s.facts.Merge(chain.Facts{chain.FactRegion: s.region}, seen.seen().facts())}
		return callerAnswer{code: a.code, err: s.client.refine(ctx, s, s.client.stsError(ctx, call, a))}
	}
	return callerAnswer{principal: chain.Principal{ARN: aws.ToString(out.Arn), AccountID: aws.ToString(out.Account), UserID: aws.ToString(out.UserId)}}
}

// provider hands the credentials to the SDK as they are: nothing caches or renews them.
func (s *Session) provider() aws.CredentialsProvider {
	return credentials.StaticCredentialsProvider{Value: s.credentials}
}

// reusedAt is a kept session in another run, which has connections of its own.
func (s *Session) reusedAt(now time.Time, calls *stsCalls) *Session {
	reused := *s
	reused.calls = calls
	reused.facts = s.facts.Merge(chain.Facts{
		chain.FactReused: fmt.Sprintf("the session of %s, %s old; no role was assumed in this run", s.began.UTC().Format(time.RFC3339), now.Sub(s.began).Round(time.Second)),
	})
	return &reused
}

// sessionMargin is kept before a session's end, so that no run begins with one that ends under it.
const sessionMargin = time.Minute

// sessionStore keeps the sessions of identities with reuse_session, and those of observers. Nothing else is ever kept.
type sessionStore struct {
	mu   sync.Mutex
	kept map[string]keptSession
}

type keptSession struct {
	session *Session
	until   time.Time
}

func newSessionStore() *sessionStore { return &sessionStore{kept: map[string]keptSession{}} }

func (s *sessionStore) get(key string, now time.Time) (*Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.kept[key]
	if !ok || !now.Before(found.until) {
		return nil, false
	}
	return found.session, true
}

// put keeps a session for at most a while, and never into the last minute before its end.
func (s *sessionStore) put(key string, session *Session, now time.Time, while time.Duration) {
	until := now.Add(while)
	if end := session.Expires(); !end.IsZero() && end.Add(-sessionMargin).Before(until) {
		until = end.Add(-sessionMargin)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, old := range s.kept { // those of identities that left the configuration
		if !now.Before(old.until) {
			delete(s.kept, k)
		}
	}
	s.kept[key] = keptSession{session, until}
}

// drop forgets a session, unless another has taken its place by now.
func (s *sessionStore) drop(key string, session *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key].session == session {
		delete(s.kept, key)
	}
}
