// Tests of where an access policy applies.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import "testing"

func TestAccessPolicy(t *testing.T) {
	const arn = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
	for name, c := range map[string]struct {
		scope     []string
		namespace string
		want      bool
		told      string
	}{
		"the cluster":                          {nil, "shop", true, "the cluster"},
		"the cluster, as a whole":              {nil, "", true, "the cluster"},
		"its namespace":                        {[]string{"dev", "shop"}, "shop", true, "dev, shop"},
		"another namespace":                    {[]string{"dev"}, "shop", false, "dev"},
		"one that begins alike":                {[]string{"shop"}, "shop-2", false, "shop"},
		"by prefix":                            {[]string{"dev-*"}, "dev-7", true, "dev-*"},
		"by prefix, another":                   {[]string{"dev-*"}, "dev", false, "dev-*"},
		"every namespace is not the cluster":   {[]string{"*"}, "", false, "*"},
		"every namespace is each of them, too": {[]string{"*"}, "shop", true, "*"},
	} {
		t.Run(name, func(t *testing.T) {
			p := AccessPolicy{arn, c.scope}
			if got := p.Covers(c.namespace); got != c.want || p.Scope() != c.told || p.Name() != "AmazonEKSViewPolicy" {
				t.Errorf("%s covers %q: %v, scope %q; want %v, %q", p.Name(), c.namespace, got, p.Scope(), c.want, c.told)
			}
		})
	}
}
