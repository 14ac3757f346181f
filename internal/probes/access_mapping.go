// A mapping that is not the declared one, or gives too little: what the entry and aws-auth say tells an entry that hides aws-auth, a line that replaces another, and damaged lines from a changed one.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// explainMapping looks for the cause of an unexpected username or unexpected groups. Without one, the mismatch stands as it is.
func (r *accessRun) explainMapping(ctx context.Context, failed *chain.Error) error {
	m := r.readMapping(ctx)
	mends := func(line chain.Mapping) bool { return r.givesExpected(line.Groups) }
	if failed.Reason == chain.ReasonUnexpectedUsername {
		mends = func(line chain.Mapping) bool { return r.render(line.Username) == r.render(r.target.Expect.Username) }
	}
	if err := r.mappingFault(m, mends); err != nil {
		err.Facts = err.Facts.Merge(failed.Facts)
		return err
	}
	found := *failed
	found.Detail += r.placeholders() + oddKeys(m) + notReadText(m.unread)
	return &found
}

// givesExpected reports whether groups are the expected ones, or have all those that are missing.
func (r *accessRun) givesExpected(groups []string) bool {
	expected := ownGroups(r.target.Expect.Groups)
	missing := difference(expected, r.reviewed.Groups)
	rendered := r.renderAll(groups)
	return sameSet(expected, rendered) || len(missing) > 0 && len(difference(missing, rendered)) == 0
}

func (r *accessRun) renderAll(groups []string) []string {
	rendered := make([]string, len(groups))
	for i, group := range groups {
		rendered[i] = r.render(group)
	}
	return rendered
}

// mappingFault finds the fault of the mapping by which the review's user got in; mends says whether a line, were it the one that counts, would give what is missing. nil: none is proven.
func (r *accessRun) mappingFault(m mapped, mends func(chain.Mapping) bool) *chain.Error {
	if len(m.lines) == 0 {
		return nil
	}
	last := m.lines[len(m.lines)-1]
	switch {
	case m.entry != nil && r.shows(m.entry.Username, m.entry.Groups) && mends(last):
		return r.faulty(chain.ReasonAccessEntryShadowsAWSAuth, last.Groups, "the access entry of %s gives the groups %s and hides the aws-auth line that gives %s", m.entry.PrincipalARN, listed(m.entry.Groups), listed(last.Groups))
	case m.entry != nil || !r.shows(last.Username, last.Groups):
		return nil
	}
	if at := slices.IndexFunc(m.lines[:len(m.lines)-1], mends); at >= 0 {
		return r.faulty(chain.ReasonAWSAuthDuplicateEntry, m.lines[at].Groups, "aws-auth has %d lines for %s: the last one counts, with the groups %s, and not an earlier one with the user %q and the groups %s",
			len(m.lines), last.ARN, listed(last.Groups), m.lines[at].Username, listed(m.lines[at].Groups))
	}
	if last.Problem != "" {
		return r.faulty(chain.ReasonAWSAuthUnparseable, nil, "the aws-auth line of %s counts without what of it does not parse: %s", last.ARN, last.Problem)
	}
	return nil
}

// faulty blames the mapping; meant are the groups that it should give, as far as they are known.
func (r *accessRun) faulty(reason chain.Reason, meant []string, format string, args ...any) *chain.Error {
	facts := chain.Facts{chain.FactPrincipal: entryARN(r.target.Identity, r.principal), chain.FactExpectedGroups: strings.Join(r.renderAll(meant), ",")}
	return chain.Fail(chain.StepAccessEntry, reason, fmt.Sprintf("mapped to the user %q with the groups %s: ", r.reviewed.Username, listed(ownGroups(r.reviewed.Groups)))+fmt.Sprintf(format, args...), facts, nil)
}

// shows reports whether the review shows what a mapping gives. A user name with templates that only the authenticator can fill is taken to be shown.
func (r *accessRun) shows(username string, groups []string) bool {
	name := r.render(username)
	return (name == "" || name == r.reviewed.Username || unrendered(name)) && sameSet(r.renderAll(groups), ownGroups(r.reviewed.Groups))
}

func listed(groups []string) string {
	if len(groups) == 0 {
		return "(none)"
	}
	return strings.Join(groups, ", ")
}

// angleBrackets are how documentation writes a name that is to be filled in.
var angleBrackets = regexp.MustCompile(`<[^<>]+>`)

// placeholders tells a name of the review that nobody filled in; "" when there is none.
func (r *accessRun) placeholders() string {
	for _, name := range append([]string{r.reviewed.Username}, r.reviewed.Groups...) {
		if angleBrackets.MatchString(name) {
			return fmt.Sprintf("; %q looks like a placeholder of a template that nobody filled in", name)
		}
	}
	return ""
}

// oddKeys tells keys of the line that counts which the authenticator does not know; "" when there are none, or an entry counts.
func oddKeys(m mapped) string {
	if unknown := unknownKeys(m); len(unknown) > 0 {
		return fmt.Sprintf("; the aws-auth line of %s has the key %s, which the authenticator ignores", m.lines[len(m.lines)-1].ARN, strings.Join(unknown, ", "))
	}
	return ""
}

// unknownKeys are the odd keys of the line that counts, but for those that are odd in their case alone.
func unknownKeys(m mapped) []string {
	if m.entry != nil || len(m.lines) == 0 {
		return nil
	}
	var unknown []string
	for _, key := range m.lines[len(m.lines)-1].OddKeys {
		if !slices.Contains([]string{"rolearn", "userarn", "username", "groups"}, strings.ToLower(key)) {
			unknown = append(unknown, key)
		}
	}
	return unknown
}
