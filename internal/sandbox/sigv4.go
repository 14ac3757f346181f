// Signature Version 4, the verifying side: what a request claims about its signature, and the signature that it should have had.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	sigAlgorithm  = "AWS4-HMAC-SHA256"
	sigTerminator = "aws4_request"
	sigTimeFormat = "20060102T150405Z"
)

// sigClaim is what a signed request says of its signature, in its Authorization header or in its query (presigned).
type sigClaim struct {
	keyID     string
	day       string // the four parts of the credential scope
	region    string
	service   string
	end       string
	headers   []string // SignedHeaders, in the order sent
	signature string   // hex
	date      string   // X-Amz-Date
	token     string   // X-Amz-Security-Token; "" for a user's key
	presigned bool
}

// isPresigned reports whether the request carries its signature in the query.
func isPresigned(r *http.Request) bool {
	query := r.URL.Query()
	return query.Has("X-Amz-Signature") || query.Has("X-Amz-Algorithm")
}

// parseClaim reads the claim. A request without one is a MissingAuthenticationToken, a damaged one an IncompleteSignature.
func parseClaim(r *http.Request) (sigClaim, *awsError) {
	if isPresigned(r) {
		return parseQueryClaim(r.URL.Query())
	}
	authorization := r.Header.Get("Authorization")
	if authorization == "" {
		return sigClaim{}, errMissingToken
	}
	rest, ok := strings.CutPrefix(authorization, sigAlgorithm+" ")
	if !ok {
		return sigClaim{}, errIncompleteSignature
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	claim := sigClaim{signature: fields["Signature"], date: r.Header.Get("X-Amz-Date"), token: r.Header.Get("X-Amz-Security-Token")}
	return claim.complete(fields["Credential"], fields["SignedHeaders"])
}

func parseQueryClaim(query url.Values) (sigClaim, *awsError) {
	if query.Get("X-Amz-Algorithm") != sigAlgorithm {
		return sigClaim{}, errIncompleteSignature
	}
	claim := sigClaim{signature: query.Get("X-Amz-Signature"), date: query.Get("X-Amz-Date"), token: query.Get("X-Amz-Security-Token"), presigned: true}
	return claim.complete(query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders"))
}

func (c sigClaim) complete(credential, signedHeaders string) (sigClaim, *awsError) {
	scope := strings.Split(credential, "/")
	if len(scope) != 5 || signedHeaders == "" || c.signature == "" || c.date == "" {
		return sigClaim{}, errIncompleteSignature
	}
	c.keyID, c.day, c.region, c.service, c.end = scope[0], scope[1], scope[2], scope[3], scope[4]
	c.headers = strings.Split(signedHeaders, ";")
	return c, nil
}

// matches reports whether the secret key signs the request to the signature that it carries.
func (c sigClaim) matches(secret string, r *http.Request, body []byte) bool {
	sent, err := hex.DecodeString(c.signature)
	return err == nil && hmac.Equal(sent, c.sign(secret, r, body))
}

// sign calculates the signature (AWS General Reference, "Create a signed AWS API request", steps 1 to 4).
func (c sigClaim) sign(secret string, r *http.Request, body []byte) []byte {
	canonical := sha256.Sum256([]byte(c.canonicalRequest(r, body)))
	scope := strings.Join([]string{c.day, c.region, c.service, c.end}, "/")
	text := strings.Join([]string{sigAlgorithm, c.date, scope, hex.EncodeToString(canonical[:])}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range []string{c.day, c.region, c.service, c.end, text} {
		key = hmacSHA256(key, part)
	}
	return key
}

func (c sigClaim) canonicalRequest(r *http.Request, body []byte) string {
	hash := sha256.Sum256(body)
	var headers strings.Builder
	for _, name := range c.headers {
		headers.WriteString(name + ":" + canonicalHeader(r, name) + "\n")
	}
	return strings.Join([]string{
		r.Method, canonicalPath(r.URL), canonicalQuery(r.URL.RawQuery), headers.String(), strings.Join(c.headers, ";"), hex.EncodeToString(hash[:]),
	}, "\n")
}

// canonicalHeader is a header's value as it is signed: trimmed, runs of spaces as one, several values joined. A header that was not sent is empty.
func canonicalHeader(r *http.Request, name string) string {
	values := r.Header.Values(name)
	switch name {
	case "host":
		values = []string{r.Host}
	case "content-length":
		values = []string{strconv.FormatInt(r.ContentLength, 10)}
	}
	trimmed := make([]string, len(values))
	for i, value := range values {
		trimmed[i] = strings.Join(strings.Fields(value), " ")
	}
	return strings.Join(trimmed, ",")
}

// canonicalPath encodes the path as sent once more: every service but S3 signs it so.
func canonicalPath(u *url.URL) string {
	segments := strings.Split(cmp.Or(u.EscapedPath(), "/"), "/")
	for i, segment := range segments {
		segments[i] = sigEscape(segment)
	}
	return strings.Join(segments, "/")
}

// canonicalQuery sorts the parameters by name, then value, and drops the signature itself. A parameter that cannot be decoded is signed as it was sent.
func canonicalQuery(raw string) string {
	type pair struct{ name, value string }
	var pairs []pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = sigUnescape(name), sigUnescape(value)
		if name != "X-Amz-Signature" {
			pairs = append(pairs, pair{sigEscape(name), sigEscape(value)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	})
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = p.name + "=" + p.value
	}
	return strings.Join(parts, "&")
}

func sigUnescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// sigEscape is the UriEncode of the specification: all but the unreserved characters of RFC 3986 become %XX.
func sigEscape(s string) string {
	const upperHex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
	}
	return b.String()
}

func hmacSHA256(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
