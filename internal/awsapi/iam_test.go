// The read of IAM against one on loopback: what it tells counts only for the very principal that signed.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// newIAMWorld has an IAM that the observer may read, unless the test changes that.
func newIAMWorld(t *testing.T) *world {
	t.Helper()
	ca, err := sandbox.NewCA()
	must(t, err)
	state := sandbox.NewState()
	sts, err := sandbox.NewSTS(state, ca)
	must(t, err)
	t.Cleanup(func() { must(t, sts.Close()) })
	iam, err := sandbox.NewIAM(state, ca)
	must(t, err)
	t.Cleanup(func() { must(t, iam.Close()) })
	isolate(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL())
	t.Setenv("AWS_ENDPOINT_URL_IAM", iam.URL())
	w := finishWorld(t, state, ca)
	state.Change(func(s *sandbox.State) { s.Roles[readerARN].ReadsIAM = true })
	return w
}

func TestCreated(t *testing.T) {
	made := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	session := chain.Principal{ARN: "arn:aws:sts::" + account + ":assumed-role/ci-deploy/run", UserID: "AROADEPLOY:run"}
	for name, c := range map[string]struct {
		change    func(*sandbox.State)
		principal chain.Principal
		want      time.Time
		reason    chain.Reason // of an unknown; "" none
	}{
		"a role with a path":  {func(s *sandbox.State) { s.Roles[deployARN].Created = made }, session, made, ""},
		"a user":              {func(s *sandbox.State) { s.Users[keyID].Created = made }, chain.Principal{ARN: userARN, UserID: "AIDAUSER"}, made, ""},
		"another of its name": {func(s *sandbox.State) { s.Roles[deployARN].RoleID = "AROANEW" }, session, time.Time{}, chain.ReasonNotMeasurable},
		"no such role here":   {func(s *sandbox.State) { delete(s.Roles, deployARN) }, session, time.Time{}, chain.ReasonNotMeasurable},
		"an unknown id":       {func(*sandbox.State) {}, chain.Principal{ARN: session.ARN}, time.Time{}, chain.ReasonNotMeasurable},
		"the account itself":  {func(*sandbox.State) {}, chain.Principal{ARN: "arn:aws:iam::" + account + ":root", UserID: account}, time.Time{}, chain.ReasonNotMeasurable},
		"not allowed":         {func(s *sandbox.State) { s.Roles[readerARN].ReadsIAM = false }, session, time.Time{}, chain.ReasonObserverDenied},
		"off":                 {func(s *sandbox.State) { s.Off["iam"] = true }, session, time.Time{}, chain.ReasonObserverUnavailable},
		"throttled":           {func(s *sandbox.State) { s.Throttle["GetRole"] = true }, session, time.Time{}, chain.ReasonObserverUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newIAMWorld(t)
			w.state.Change(c.change)
			got, err := w.client.Created(t.Context(), w.target("prod"), c.principal)
			if c.reason != "" {
				wantVerdict(t, err, unknown(c.reason))
				return
			}
			must(t, err)
			wantSame(t, got.UTC(), c.want)
		})
	}
}

func TestCreatedEndsWithItsContext(t *testing.T) {
	w := newIAMWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.client.Created(ctx, w.target("prod"), chain.Principal{ARN: userARN, UserID: "AIDAUSER"}); err == nil {
		t.Error("a read was made after the end of its context")
	}
}
