// The apiserver's side of the webhook: what it asks the authenticator again, and how long that takes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// The retries of an authentication webhook (k8s.io/apiserver pkg/util/webhook, DefaultRetryBackoff): five tries, each pause half as long again as the one before, and up to a fifth longer.
const (
	webhookTries = 5
	webhookPause = 500 * time.Millisecond
)

// webhook asks the authenticator as the apiserver does. An answer of 429, which is how the authenticator passes on that STS throttles it, is asked again; a 403, and a connection that is refused,
// are not. In the end the client sees the same 401.
func (a *authenticator) webhook(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	pause := a.pause
	for try := 1; ; try++ {
		user, err := a.authenticate(ctx, token)
		var refused *refusal
		if try == webhookTries || !errors.As(err, &refused) || refused.code != codeSTSThrottling {
			return user, err
		}
		select {
		case <-time.After(pause + rand.N(pause/5)): //nolint:gosec // it spreads clients, and keeps no secret
		case <-ctx.Done():
			return user, err
		}
		pause += pause / 2
	}
}
