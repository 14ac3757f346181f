// URLs: of a cluster's endpoint, of a request through a load balancer, and of the servers that are asked and told.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
)

// parseURL reads a URL of one of these schemes, and says what is wrong with it; it never repeats one that may hold a password.
func parseURL(text string, schemes ...string) (u *url.URL, wrong string) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, "it does not parse"
	case u.User != nil:
		return nil, "it holds a user name or password"
	case !slices.Contains(schemes, u.Scheme):
		return nil, fmt.Sprintf("its scheme is %q", u.Scheme)
	case u.Hostname() == "":
		return nil, "it names no host"
	case u.Fragment != "":
		return nil, "it has a fragment"
	}
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || port < 1 || port > 65535) {
		return nil, "its port is not between 1 and 65535"
	}
	return u, ""
}

// parseServer reads the URL of a server whose API is called: paths and queries are added to it.
func parseServer(text string) (u *url.URL, wrong string) {
	u, wrong = parseURL(text, "http", "https")
	if wrong == "" && (u.RawQuery != "" || u.ForceQuery) {
		return nil, "it has a query"
	}
	return u, wrong
}
