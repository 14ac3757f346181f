// The pages of a list: every name once, in order, whatever happens between two pages.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
)

// pages walks a list to its end.
func pages(t *testing.T, names []string, size string) (all [][]string) {
	t.Helper()
	for next := ""; ; {
		page, token, fault := pageOf(slices.Clone(names), httptest.NewRequest("GET", "/?maxResults="+size+"&nextToken="+url.QueryEscape(next), nil))
		if fault != nil {
			t.Fatalf("page after %q: %+v", next, fault)
		}
		all = append(all, page)
		if next = token; next == "" {
			return all
		}
	}
}

func TestPageOf(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		size  string
		want  [][]string
	}{
		"nothing":            {nil, "", [][]string{{}}},
		"all on one page":    {[]string{"b", "a"}, "", [][]string{{"a", "b"}}},
		"exactly one page":   {[]string{"b", "a"}, "2", [][]string{{"a", "b"}}},
		"one each":           {[]string{"c", "b", "a"}, "1", [][]string{{"a"}, {"b"}, {"c"}}},
		"a short last page":  {[]string{"c", "b", "a"}, "2", [][]string{{"a", "b"}, {"c"}}},
		"one begins another": {[]string{"ab", "a", "a-b"}, "1", [][]string{{"a"}, {"a-b"}, {"ab"}}},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, pages(t, c.names, c.size), c.want) })
	}
}

// A name that is gone when its page's successor is asked for costs nobody else.
func TestPageAfterADeletedName(t *testing.T) {
	first, next, fault := pageOf([]string{"a", "b", "c"}, httptest.NewRequest("GET", "/?maxResults=2", nil))
	if fault != nil {
		t.Fatal(fault.Message)
	}
	second, next, fault := pageOf([]string{"a", "c"}, httptest.NewRequest("GET", "/?maxResults=2&nextToken="+url.QueryEscape(next), nil))
	if fault != nil {
		t.Fatal(fault.Message)
	}
	wantSame(t, fmt.Sprint(first, second, next), "[a b] [c]")
}
