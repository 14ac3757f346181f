// What the tests read out of a page: its tree as a browser parses it, and the rules that every page keeps.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// document is a parsed page.
type document struct{ root *html.Node }

func parse(t *testing.T, page string) document {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return document{root}
}

// all returns the elements with one of these names; none means every element.
func (d document) all(names ...string) []*html.Node {
	var found []*html.Node
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && (len(names) == 0 || slices.Contains(names, n.Data)) {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text returns what an element says, with single blanks.
func text(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// texts are those of the elements with a name.
func (d document) texts(name string) []string {
	var found []string
	for _, n := range d.all(name) {
		found = append(found, text(n))
	}
	return found
}

// shape is the tree without its texts and values: every element and the names of its attributes.
func (d document) shape() string {
	var b strings.Builder
	for _, n := range d.all() {
		b.WriteString(n.Data)
		for _, a := range n.Attr {
			b.WriteString(" " + a.Key)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// checkDocument holds a page against the rules of every page: one h1, headings without a gap, unique ids, header cells with a scope, a title, a language, own links alone, and no script.
func checkDocument(t *testing.T, page string) document {
	t.Helper()
	d := parse(t, page)
	if n := len(d.all("h1")); n != 1 {
		t.Errorf("the page has %d h1", n)
	}
	if titles := d.texts("title"); len(titles) != 1 || attribute(d.all("html")[0], "lang") != "en" || len(d.all("main")) != 1 {
		t.Errorf("titles %q, language %q, %d main", titles, attribute(d.all("html")[0], "lang"), len(d.all("main")))
	}
	if n := d.all("script", "style", "iframe", "object", "embed", "form", "base", "img"); len(n) > 0 {
		t.Errorf("the page has %s", n[0].Data)
	}
	checkElements(t, d)
	for _, table := range d.all("table") {
		part := document{table}
		if len(part.all("th")) == 0 {
			t.Errorf("a table has no header cell: %s", text(table))
		}
		for _, th := range part.all("th") {
			if scope := attribute(th, "scope"); scope != "col" && scope != "row" {
				t.Errorf("header cell %q has scope %q", text(th), scope)
			}
		}
	}
	return d
}

func checkElements(t *testing.T, d document) {
	t.Helper()
	ids := map[string]bool{}
	for _, n := range d.all() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has an attribute %s", n.Data, a.Key)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "/") || a.Key == "href" && strings.HasPrefix(a.Val, "//"):
				t.Errorf("a link leads to %q", a.Val)
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("id %q is there twice", a.Val)
			}
		}
		ids[attribute(n, "id")] = true
	}
	for _, n := range d.all() {
		if label := attribute(n, "aria-labelledby"); label != "" && !ids[label] {
			t.Errorf("%s is labelled by %q, which is not there", n.Data, label)
		}
	}
}
