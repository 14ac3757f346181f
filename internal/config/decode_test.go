// A mistake in a part of a scalar is shown at its word.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"testing"
)

func TestAMistakeInARuleIsShownAtItsWord(t *testing.T) {
	const file = "clusters: [{name: a, region: eu-west-1, observer: r}]\nidentities: [{name: r, source: irsa}, {name: i, source: irsa}]\naccess:\n- cluster: a\n  identity: i\n  rbac:\n    allow:\n    - "
	for name, c := range map[string]struct {
		scalar string
		want   string
	}{
		"plain":              {"list Nodes", "8:12"},
		"double quotes":      {`"list Nodes"`, "8:13"},
		"single quotes":      {`'list Nodes'`, "8:13"},
		"with a tag":         {"!!str list Nodes", "8:7"},
		"escape before":      {`"l\u0069st Nodes"`, "8:7"},
		"escape after":       {`"list Nodes\u0020"`, "8:13"},
		"doubled quote":      {`'list a''b'`, "8:13"},
		"block scalar":       {"|-\n      list Nodes", "9:12"},
		"folded plain":       {"list\n      Nodes", "8:7"},
		"with an anchor":     {"&a list Nodes", "8:7"},
		"multi-byte before":  {`"get pods Ü in Shop"`, "8:22"},
		"verb":               {"lst nodes", "8:7"},
		"with a comment":     {"list Nodes # why", "8:12"},
		"wide double quotes": {`"get pods 日本 in Shop"`, "8:23"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(file+c.scalar+"\n"))
			problems := asProblems(t, err)
			if got := fmt.Sprintf("%d:%d", problems[0].Line, problems[0].Column); len(problems) != 1 || got != c.want {
				t.Errorf("got %s, want %s:\n%s", got, c.want, problems)
			}
		})
	}
}
