// Secret keeps tokens and keys out of every text, and Redact takes the shapes of secrets out of foreign text.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const redacted = "[redacted]"

// Secret holds a value that no log, metric, page, error or file may show: every formatting of it prints "[redacted]".
// The value lies behind a pointer, because fmt calls no method on an unexported field, nor for a verb such as %d, and would print a plain one.
type Secret struct{ value *string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value, for the wire alone; "" for the zero Secret.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// String implements fmt.Stringer.
func (Secret) String() string { return redacted }

// GoString implements fmt.GoStringer, for %#v.
func (Secret) GoString() string { return redacted }

// MarshalText keeps the value out of JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// secretShapes are texts that must not pass: EKS tokens, JWTs, AWS access key ids and session tokens, SigV4 query and header parameters (also percent-encoded, and twice), bearer headers,
// and credential fields in XML, JSON (also escaped), shell and INI form.
var secretShapes = regexp.MustCompile(strings.Join([]string{
	`k8s-aws-v1\.[A-Za-z0-9_=-]*`,
	`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]+`,
	`(?:AKIA|ASIA)[A-Z0-9]{12,}`,
	`(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz|FQoDYXdz|AgoJb3JpZ2lu)[A-Za-z0-9/+=%_-]{16,}`,
	`(?i)X-Amz-(?:Security-Token|Signature|Credential)\\?"?\s*(?:=|:|%(?:25)*3D)[\s"'\[\\]*[^&\s"'\]\\]*`,
	`(?i)\b(?:Signature|Credential)=[A-Za-z0-9/+=_%-]+`,
	`(?i)\bBearer\s+[A-Za-z0-9._~+/=%-]{16,}`,
	`(?i)<(?:SecretAccessKey|SessionToken|AccessKeyId)>[^<]*`,
	`(?i)\\?"(?:SecretAccessKey|SessionToken|AccessKeyId|Token)\\?"\s*:\s*\\?"[^"\\]*`,
	`(?i)aws_?(?:secret_?access_?key|session_?token|security_?token)["'\s]*[=:]["'\s]*[^\s"',;}]+`,
}, "|"))

// userinfo is what stands between the scheme and the host of a URL: USER:PASSWORD, where the password may hold "/" and "@", or a lone token. Only a URL with a port and an "@" further on looks alike.
var userinfo = regexp.MustCompile(`://(?:[^\s/?#@:"<>]*:(?:\\.|[^\s"\\<>])*|[^\s/?#@:"<>]+)@`)

// secretMarks are the lower-cased texts without one of which no shape can match: they are cheap to look for, and nearly all texts have none.
var secretMarks = []string{
	"k8s-aws-v1.", "eyj", "akia", "asia", "iqojb3jpz2lu", "fwogzxivyxdz", "fqogzxivyxdz", "fqodyxdz", "agojb3jpz2lu",
	"x-amz-", "signature=", "credential=", "bearer", "accesskeyid", "secret", "sessiontoken", "session_token", "security_token", "securitytoken", `token"`, `token\"`,
}

func hasSecretMark(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(secretMarks, func(mark string) bool { return strings.Contains(lower, mark) })
}

// detailLimit is how many bytes of a foreign text are shown; readLimit is how many are looked at.
const (
	detailLimit = 1000
	readLimit   = 16 * detailLimit
)

// Redact makes foreign text fit for people: secrets, also the user and password of a URL, are replaced, control characters become spaces, invalid UTF-8 is dropped, and it ends after 1,000 bytes.
// Of a text above 16,000 bytes only the beginning is read; a word that this cuts in two is dropped, since half a secret has no shape.
func Redact(text string) string {
	if len(text) > readLimit {
		text = strings.TrimRightFunc(text[:readLimit], func(r rune) bool { return !unicode.IsSpace(r) }) + "…"
	}
	text = strings.ToValidUTF8(text, "")
	if hasSecretMark(text) {
		text = secretShapes.ReplaceAllString(text, redacted)
	}
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		text = userinfo.ReplaceAllLiteralString(text, "://"+redacted+"@")
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > detailLimit {
		cut := detailLimit
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strings.TrimSpace(text)
}
