// What a misspelt word may have meant.
//
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// DidYouMean is a hint for a word that is not among the known ones. It is worked out only when it is shown.
type DidYouMean struct {
	Word  string
	Known iter.Seq[string]
}

// String names the nearest known word, or else lists the first few.
func (m DidYouMean) String() string {
	names := slices.Sorted(m.Known)
	if near := nearest(m.Word, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	const most = 16 // few mappings have more keys
	switch {
	case len(names) == 0:
		return "none is declared"
	case len(names) > most:
		names = append(names[:most], "…")
	}
	return "known: " + strings.Join(names, ", ")
}

// nearest returns the known word with the smallest edit distance, when no more than a third of the word has to change; of equals the first.
// Long words, and a thousand known ones, are not searched: that keeps a hostile file cheap.
func nearest(word string, known []string) string {
	const longest, most = 64, 1000
	if len(word) > longest || len(known) > most {
		return ""
	}
	limit, near := max(1, len(word)/3), ""
	for _, candidate := range known {
		if len(candidate) > 2*longest {
			continue
		}
		distance := levenshtein.Distance(word, candidate, nil)
		if distance < limit || (distance == limit && near == "") {
			limit, near = distance, candidate
		}
	}
	return near
}
