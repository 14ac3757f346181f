// A key that the environment holds and that cannot be sent is told by its variable, before any call.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestKeyWithALineBreak(t *testing.T) {
	for name, c := range map[string]struct{ variable, value string }{
		"the id":        {"AWS_ACCESS_KEY_ID", keyID + "\n"},
		"the secret":    {"AWS_SECRET_ACCESS_KEY", secret + "\r\n"},
		"the session":   {"AWS_SESSION_TOKEN", "token\n"},
		"a control one": {"AWS_SESSION_TOKEN", "to\x01ken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			identity := w.environment(deployARN)
			t.Setenv(c.variable, c.value)
			e := wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonNoCredentials))
			wantSame(t, e.Detail, "opening the source environment: "+c.variable+" holds a line break or control character")
			wantSame(t, len(w.seen.requests), 0)
		})
	}
}

// A header that cannot be sent, from whatever source: the network had no part in it.
func TestUnsendableHeader(t *testing.T) {
	w := newWorld(t)
	login := w.login(w.environment(deployARN))
	login.source.credentials.AccessKeyID = keyID + "\n"
	_, err := login.Assume(t.Context())
	wantText(t, wantVerdict(t, err, unknown(chain.ReasonReadFailed)).Detail, "invalid header field value")
}
