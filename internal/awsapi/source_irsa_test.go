// Source irsa: what AWS_ROLE_ARN may say.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func TestRoleOfTheEnvironment(t *testing.T) {
	w := newWorld(t)
	identity := w.irsa()
	identity.RoleARN = ""
	for name, role := range map[string]string{
		"junk": "junk", "a user": userARN, "a session": "arn:aws:sts::111122223333:assumed-role/irsa/x", "no account": "arn:aws:iam:::role/irsa", "a blank after it": irsaARN + " ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ROLE_ARN", role)
			e := wantVerdict(t, w.signIn(identity), failure(chain.StepCredentials, chain.ReasonNoCredentials))
			wantText(t, e.Detail, `AWS_ROLE_ARN is "`+role[:4], "no IAM ARN of a role")
		})
	}
	wantSame(t, len(w.seen.requests), 0)
	for _, role := range []string{irsaARN, deployARN, "arn:aws-us-gov:iam::111122223333:role/a/b+c"} {
		wantSame(t, roleShape.MatchString(role), true)
	}
	t.Setenv("AWS_ROLE_ARN", irsaARN)
	must(t, w.signIn(identity))
}
