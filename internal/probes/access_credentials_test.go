// Tests of whose fault the wrong principal is.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestVerifyPrincipal(t *testing.T) {
	cases := map[string]struct {
		change func(*fake, *chain.Target)
		want   string
	}{
		"the role of the last hop": {func(*fake, *chain.Target) {}, healthy},
		"a role with a path is the same role": {func(_ *fake, tg *chain.Target) {
			tg.Identity.ExpectPrincipal = "arn:aws:iam::111122223333:role/team/ci-deploy"
		}, healthy},
		"somebody else": {func(f *fake, _ *chain.Target) { f.arn = "arn:aws:iam::111122223333:user/alice" },
			"failure credentials/unexpected_principal ✖✔····"},
		"C17 static keys beat the profile": {func(f *fake, tg *chain.Target) {
			tg.Identity = chain.Identity{Name: "staging", Source: chain.SourceDefault, ExpectPrincipal: roleARN}
			f.arn = "arn:aws:iam::111122223333:user/ci-bot"
		}, "failure credentials/unexpected_principal ✖✔····"},
		"C08 fall back to the node's role": {func(f *fake, tg *chain.Target) {
			tg.Identity = chain.Identity{Name: "runner", Source: chain.SourceDefault, ExpectPrincipal: roleARN}
			f.arn = "arn:aws:sts::111122223333:assumed-role/node/i-0123456789abcdef0"
		}, "failure credentials/fell_back_to_node_role ✖✔····"},
		"another account's role of that name": {func(f *fake, _ *chain.Target) { f.arn = "arn:aws:sts::999999999999:assumed-role/ci-deploy/run-1" },
			"failure credentials/unexpected_principal ✖✔····"},
		"nobody expected: whoever signs is fine": {func(f *fake, tg *chain.Target) {
			tg.Identity = chain.Identity{Name: "any", Source: chain.SourceDefault}
			tg.Expect = chain.Expect{}
			f.arn = "arn:aws:iam::111122223333:user/alice"
		}, healthy},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			c.change(f, &target)
			if got := verdict(probe(t, f, target)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
