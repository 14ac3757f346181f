// The authenticator decides who a token is, as aws-iam-authenticator does behind an EKS apiserver: check the token, ask STS, map the caller.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// The codes with which a refused TokenReview is recorded: the results of aws-iam-authenticator's latency metric (pkg/metrics), and one for a webhook that cannot be reached.
const (
	codeInvalidToken  = "invalid_token"
	codeSTSError      = "sts_error"
	codeSTSThrottling = "sts_throttling"
	codeUnknownUser   = "unknown_user"
	codeUnavailable   = "unavailable"
)

// refusal is why the authenticator did not accept a token. Its text is what aws-iam-authenticator would have logged; a client only ever sees 401.
type refusal struct{ code, text string }

func (r *refusal) Error() string { return r.text }

// formatError says that a token was refused before STS was asked (pkg/token, FormatError).
func formatError(format string, args ...any) error {
	return &refusal{codeInvalidToken, "input token was not properly formatted: " + fmt.Sprintf(format, args...)}
}

// authenticator is the webhook of one cluster, called in process. It is safe for concurrent use.
type authenticator struct {
	state     *State
	cluster   string // the key in State.Clusters
	client    *http.Client
	exactKeys atomic.Bool // aws-auth keys must be spelled exactly
	pause     time.Duration
}

func newAuthenticator(state *State, cluster string, sts STSEndpoint) (*authenticator, error) {
	client, err := sts.client()
	if err != nil {
		return nil, err
	}
	return &authenticator{state: state, cluster: cluster, client: client, pause: webhookPause}, nil
}

func (a *authenticator) close() { a.client.CloseIdleConnections() }

// authenticate answers one TokenReview: the mapped user, or a *refusal. Nothing is cached: every review asks STS.
func (a *authenticator) authenticate(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	user, err := a.review(ctx, token)
	code := ""
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		code = refused.code
	}
	a.state.record("authenticator", "TokenReview", code)
	return user, err
}

func (a *authenticator) review(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	var clusterID, region string
	var fault AuthenticatorFault
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			clusterID, region, fault = c.Name, c.Region, c.Fault.Authenticator
			if c.Fault.AnswerID != "" {
				clusterID = c.Fault.AnswerID
			}
		}
	})
	switch fault {
	case AuthenticatorDown:
		return authenticationv1.UserInfo{}, &refusal{codeUnavailable, `Post "https://127.0.0.1:21362/authenticate?timeout=30s": dial tcp 127.0.0.1:21362: connect: connection refused`}
	case AuthenticatorThrottled:
		return authenticationv1.UserInfo{}, &refusal{codeSTSThrottling, `sts getCallerIdentity was throttled: {"Error":{"Code":"Throttling","Message":"Rate exceeded","Type":"Sender"}}`}
	case AuthenticatorHealthy:
	}
	presigned, err := parseToken(token, region, a.state.Now()) //nolint:contextcheck // the rules for host names wait for nothing
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	caller, err := askSTS(ctx, a.client, presigned, clusterID)
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return a.admit(caller)
}

// admit maps a caller that STS vouched for.
func (a *authenticator) admit(caller identity) (user authenticationv1.UserInfo, err error) {
	a.state.Change(func(s *State) {
		c := s.Clusters[a.cluster]
		if c == nil {
			err = errNotMapped
			return
		}
		var m mapping
		if m, err = c.mapCaller(caller, a.exactKeys.Load()); err == nil {
			user = caller.userInfo(m)
		}
	})
	return user, err
}

// identity is a caller as STS vouched for it.
type identity struct {
	arn, canonicalARN   string
	accountID           string
	userID, sessionName string // AROA… and the session of a role; AIDA… of a user
	accessKeyID         string
}

// userInfo is the TokenReview's user, with the extra fields of aws-iam-authenticator (pkg/server).
func (i identity) userInfo(m mapping) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{
		Username: m.username, Groups: m.groups, UID: "aws-iam-authenticator:" + i.accountID + ":" + i.userID,
		Extra: map[string]authenticationv1.ExtraValue{
			"arn": {i.arn}, "canonicalArn": {i.canonicalARN}, "sessionName": {i.sessionName}, "accessKeyId": {i.accessKeyID},
			"principalId": {i.userID}, "sigs.k8s.io/aws-iam-authenticator/principalId": {i.userID},
		},
	}
}
