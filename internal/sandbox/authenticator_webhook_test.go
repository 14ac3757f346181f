// What the apiserver asks its authenticator again, and what it does not.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"testing"
	"time"
)

func TestWebhookRetries(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(*State, *Cluster)
		asked int
	}{
		"accepted":      {func(*State, *Cluster) {}, 1},
		"not mapped":    {func(_ *State, c *Cluster) { c.Entries = nil }, 1},
		"not listening": {func(_ *State, c *Cluster) { c.Fault.Authenticator = AuthenticatorDown }, 1},
		"throttled":     {func(_ *State, c *Cluster) { c.Fault.Authenticator = AuthenticatorThrottled }, webhookTries},
		"STS throttles": {func(s *State, _ *Cluster) { s.Throttle["PresignedGetCallerIdentity"] = true }, webhookTries},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubeCluster(t)
			token := k.deployToken(t)
			k.state.Change(func(s *State) { test.fault(s, s.Clusters["prod"]) })
			k.api.auth.pause = time.Millisecond
			_, err := k.api.auth.webhook(t.Context(), token)
			if asked := k.state.Count("TokenReview"); asked != test.asked || (err == nil) != (name == "accepted") {
				t.Errorf("asked %d times, want %d; %v", asked, test.asked, err)
			}
		})
	}
}

// The pauses end with their context, and add up to what was measured of a real apiserver: about four seconds.
func TestWebhookPauses(t *testing.T) {
	total, pause := time.Duration(0), webhookPause
	for range webhookTries - 1 {
		total, pause = total+pause, pause+pause/2
	}
	if total < 4*time.Second || total > 4100*time.Millisecond {
		t.Errorf("they take %s", total)
	}
	k := newKubeCluster(t)
	token := k.deployToken(t)
	k.change(func(c *Cluster) { c.Fault.Authenticator = AuthenticatorThrottled })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	soon(t, func() {
		if _, err := k.api.auth.webhook(ctx, token); err == nil {
			t.Error("a throttled review was accepted")
		}
	})
}
