// Whose budget the reads of a target group use up.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "testing"

// ELB counts the calls of the caller: an ARN, which anyone who may write a binding can make up, gives nobody a budget of its own.
func TestPool(t *testing.T) {
	const arn = "arn:aws:elasticloadbalancing:eu-west-1:444455556666:targetgroup/shop/1"
	role := Identity{Name: "reader", Source: SourceIRSA, RoleARN: "arn:aws:iam::111122223333:role/reader"}
	through := role
	through.Hops = []Hop{{RoleARN: "arn:aws:iam::444455556666:role/controller"}}
	for name, c := range map[string]struct {
		group TargetGroup
		want  string
	}{
		"of the observer":        {TargetGroup{ARN: arn, Observer: role}, "111122223333"},
		"of its last role":       {TargetGroup{ARN: arn, Observer: through}, "444455556666"},
		"of the ARN":             {TargetGroup{ARN: arn, Observer: Identity{Name: "reader", Source: SourcePodIdentity}}, "444455556666"},
		"of whoever it may be":   {TargetGroup{Name: "shop", Observer: Identity{Name: "reader", Source: SourcePodIdentity}}, "observer reader"},
		"by name, and of a role": {TargetGroup{Name: "shop", Observer: role}, "111122223333"},
	} {
		if got := c.group.Pool(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
