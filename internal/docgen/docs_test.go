// Tests of the pages that are written by hand: a step's page names all of its reasons, and every relative link leads to a file and a heading.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const root = "../.."

// rowsOf returns the first cells of the table below a heading.
func rowsOf(page, heading string) []string {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var cells []string
	for line := range strings.Lines(section) {
		if cell, ok := strings.CutPrefix(line, "| "); ok {
			cell, _, _ = strings.Cut(cell, " |")
			cells = append(cells, cell)
		}
	}
	return cells[min(1, len(cells)):] // without the head
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStepPagesNameEveryReason(t *testing.T) {
	anchors := anchorer{}
	for _, step := range chain.KindAccess.Steps() {
		var want []string
		for _, row := range chain.ReasonsOf(step) {
			want = append(want, fmt.Sprintf("[`%s`](../reasons.md#%s)", row.Reason, anchors.next(string(row.Reason))))
		}
		if got := rowsOf(readPage(t, "docs/steps/"+step.String()+".md"), "Reasons"); !slices.Equal(got, want) {
			t.Errorf("the reasons of docs/steps/%s.md are\n%q\nwant\n%q", step, got, want)
		}
	}
}

func TestStepPagesNameOnlyFacts(t *testing.T) {
	for _, step := range chain.KindAccess.Steps() {
		cells := rowsOf(readPage(t, "docs/steps/"+step.String()+".md"), "What the facts mean")
		if len(cells) == 0 {
			t.Errorf("docs/steps/%s.md tells no fact", step)
		}
		for name := range strings.SplitSeq(strings.Join(cells, ", "), ", ") {
			if !slices.Contains(chain.FactNames, chain.Fact(strings.Trim(name, "`"))) {
				t.Errorf("docs/steps/%s.md tells the fact %s, which is none", step, name)
			}
		}
	}
}

func TestRelativeLinksLeadSomewhere(t *testing.T) {
	files := []string{"README.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || !slices.Contains(files, "docs/steps/rbac.md") {
		t.Fatalf("found the pages %v (%v)", files, err)
	}
	found := follower{}
	for _, file := range files {
		links := linksOf(readPage(t, file))
		if file == "README.md" && len(links) == 0 {
			t.Error("README.md has no link that the test sees")
		}
		for _, link := range links {
			if err := found.follow(file, link); err != nil {
				t.Errorf("%s links to %s: %v", file, link, err)
			}
		}
	}
}

func TestFollow(t *testing.T) {
	for link, want := range map[string]string{
		"reasons.md#not_mapped":    "",
		"#which-layer-is-it":       "",
		"../README.md":             "",
		"steps/token.md#by-hand":   "",
		"steps":                    "",
		"reasons.md#dns_failure-1": "",
		"reasons.md#dns_failure-2": `no heading "dns_failure-2"`,
		"reasons.md#no_reason":     `no heading "no_reason"`,
		"none.md":                  "stat ../../docs/none.md: no such file or directory",
	} {
		got := ""
		if err := (follower{}).follow("docs/which-layer.md", link); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("following %s gives %q, want %q", link, got, want)
		}
	}
}

func TestLinksOf(t *testing.T) {
	page := "[a](b.md), ![c](d.png \"e\") [f](https://example.com) `[code](g.md)`\n```sh\n[fence](h.md)\n```\n[`i`](j.md#k)\n"
	if got, want := linksOf(page), []string{"b.md", "d.png", "j.md#k"}; !slices.Equal(got, want) {
		t.Errorf("links are %q, want %q", got, want)
	}
}

func TestSlug(t *testing.T) {
	for heading, want := range map[string]string{
		"When it is unknown":              "when-it-is-unknown",
		"`not_mapped`":                    "not_mapped",
		"Who wins: entry or aws-auth":     "who-wins-entry-or-aws-auth",
		"Try it: no AWS account, Go 1.26": "try-it-no-aws-account-go-126",
	} {
		if got := slug(heading); got != want {
			t.Errorf("slug(%q) is %q, want %q", heading, got, want)
		}
	}
}

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	linkTo   = regexp.MustCompile(`\]\(([^)\s]+)(?: "[^"]*")?\)`)
	anywhere = regexp.MustCompile(`^[a-z]+:`)
	title    = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// linksOf returns the relative links of a page; what stands in code is no link.
func linksOf(page string) []string {
	page = code.ReplaceAllString(fence.ReplaceAllString(page, ""), "")
	var links []string
	for _, match := range linkTo.FindAllStringSubmatch(page, -1) {
		if !anywhere.MatchString(match[1]) {
			links = append(links, match[1])
		}
	}
	return links
}

// follower knows the anchors of the files that it has read.
type follower map[string]map[string]bool

// follow reports a link of a file, both from the root, that leads to no file or no heading.
func (f follower) follow(from, link string) error {
	path, anchor, _ := strings.Cut(link, "#")
	path = filepath.Join(root, filepath.Dir(from), cmp.Or(path, filepath.Base(from)))
	if _, err := os.Stat(path); err != nil || anchor == "" {
		return err
	}
	if f[path] == nil {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f[path] = anchorsOf(string(data))
	}
	if !f[path][anchor] {
		return fmt.Errorf("no heading %q", anchor)
	}
	return nil
}

func anchorsOf(page string) map[string]bool {
	anchors, all := anchorer{}, map[string]bool{}
	for _, match := range title.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		all[anchors.next(slug(match[1]))] = true
	}
	return all
}

// slug is how GitHub makes an anchor of a heading: lower case, blanks to dashes, no other punctuation than - and _.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
