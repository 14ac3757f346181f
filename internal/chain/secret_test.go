// Tests that no formatting shows a Secret, and that Redact knows the shapes of secrets in foreign text.
//
// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const hidden = "wJalrXUtnFEMI"

func TestSecretIsNeverPrinted(t *testing.T) {
	secret := NewSecret(hidden)
	outer := struct {
		Shown  Secret
		hidden Secret
		all    []Secret
		byName map[string]Secret
		any    any
	}{secret, secret, []Secret{secret}, map[string]Secret{"k": secret}, &secret}
	for _, value := range []any{secret, &secret, []Secret{secret}, outer, &outer, Token{Value: secret, URL: secret}, fmt.Errorf("using %v: %w", secret, errors.New("no"))} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p", "%10.3v"} {
			if text := fmt.Sprintf(verb, value); leaks(text) {
				t.Errorf("%s of %T shows the secret: %s", verb, value, text)
			}
		}
		if text := fmt.Sprint(value); leaks(text) {
			t.Errorf("Print of %T shows the secret: %s", value, text)
		}
		data, err := json.Marshal(value)
		if err != nil || leaks(string(data)) {
			t.Errorf("JSON of %T is %s (%v)", value, data, err)
		}
	}
}

func TestSecretTexts(t *testing.T) {
	secret := NewSecret(hidden)
	data, err := json.Marshal(map[Secret]Secret{secret: secret})
	if err != nil || string(data) != `{"[redacted]":"[redacted]"}` {
		t.Errorf("JSON is %s (%v)", data, err)
	}
	for verb, want := range map[string]string{"%v": "[redacted]", "%s": "[redacted]", "%#v": "[redacted]", "%q": `"[redacted]"`} {
		if got := fmt.Sprintf(verb, secret); got != want {
			t.Errorf("%s = %s, want %s", verb, got, want)
		}
	}
	if secret.Reveal() != hidden || (Secret{}).Reveal() != "" {
		t.Errorf("Reveal gives %q and, of nothing, %q", secret.Reveal(), Secret{}.Reveal())
	}
}

func TestSecretIsNeverLogged(t *testing.T) {
	secret := NewSecret(hidden)
	token := Token{Value: secret, URL: secret, ClusterName: "prod"}
	var out bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).With("with", secret).WithGroup("g").Info("minted", "value", secret, "pointer", &secret, "token", token, "list", []Secret{secret}, slog.Group("in", "secret", secret))
	}
	text := out.String()
	if leaks(text) {
		t.Errorf("the log shows the secret:\n%s", text)
	}
	if !strings.Contains(text, "with=[redacted]") || !strings.Contains(text, `"with":"[redacted]"`) || !strings.Contains(text, "ClusterName:prod") {
		t.Errorf("the log lacks what it must show:\n%s", text)
	}
}

func leaks(text string) bool {
	return strings.Contains(text, hidden) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", hidden))
}

func TestRedact(t *testing.T) {
	const (
		keyID   = "AKIAIOSFODNN7EXAMPLE"
		session = "IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJGMEQCIA"
		jwt     = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl"
	)
	cases := map[string]struct{ text, want string }{
		"nothing":                 {"", ""},
		"plain":                   {"AssumeRole on role/ci: access denied", "AssumeRole on role/ci: access denied"},
		"words that look alike":   {"the bearer token was not sent; X-Amz-Date is expired; token: none", "the bearer token was not sent; X-Amz-Date is expired; token: none"},
		"an EKS token":            {"sent k8s-aws-v1.aHR0cHM6Ly9zdHM_-w== to prod", "sent [redacted] to prod"},
		"key id":                  {"key " + keyID + " is inactive", "key [redacted] is inactive"},
		"session key id":          {"key=ASIAIOSFODNN7EXAMPLE;", "key=[redacted];"},
		"key id after %2F":        {"x%2F" + keyID + "%2Fy", "x%2F[redacted]%2Fy"},
		"key id through a hole":   {"AKIAIOSF\xffODNN7EXAMPLE", "[redacted]"},
		"JWT":                     {"token " + jwt + " refused", "token [redacted] refused"},
		"bearer":                  {"Authorization: Bearer abcdefghij0123456789", "Authorization: [redacted]"},
		"bearer in JSON":          {`{"authorization":"bearer abcdefghij0123456789"}`, `{"authorization":"[redacted]"}`},
		"session token, bare":     {"got " + session + " from STS", "got [redacted] from STS"},
		"presigned URL":           {"GET https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&X-Amz-Credential=" + keyID + "%2F20261130&X-Amz-Date=20261130T030000Z&X-Amz-Security-Token=abc%2B%3D&X-Amz-Signature=0123ab: refused", "GET https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&[redacted]&X-Amz-Date=20261130T030000Z&[redacted]&[redacted] refused"},
		"URL in quotes":           {`Get "https://h/?X-Amz-Signature=0123ab": EOF`, `Get "https://h/?[redacted]": EOF`},
		"encoded URL":             {"u=https%3A%2F%2Fh%2F%3FX-Amz-Credential%3D" + keyID + "%26X-Amz-Signature%3D0123ab end", "u=https%3A%2F%2Fh%2F%3F[redacted] end"},
		"URL encoded twice":       {"u=h%253FX-Amz-Signature%253D0123ab end", "u=h%253F[redacted] end"},
		"lower case":              {"?x-amz-security-token=abc&b=c", "?[redacted]&b=c"},
		"URL in JSON":             {`{"u":"?X-Amz-Security-Token=abc\u0026b=c"}`, `{"u":"?[redacted]\u0026b=c"}`},
		"header":                  {"X-Amz-Security-Token: abc def", "[redacted] def"},
		"header of Go":            {"map[X-Amz-Security-Token:[abc] Host:[h]]", "map[[redacted]] Host:[h]]"},
		"header in JSON":          {`{"X-Amz-Security-Token":"abc","b":"c"}`, `{"[redacted]","b":"c"}`},
		"SigV4 header":            {"AWS4-HMAC-SHA256 Credential=" + keyID + "/20261130/eu-west-1/sts/aws4_request, SignedHeaders=host, Signature=0123ab", "AWS4-HMAC-SHA256 [redacted], SignedHeaders=host, [redacted]"},
		"STS in XML":              {"<Credentials><AccessKeyId>x</AccessKeyId><SecretAccessKey>y/z</SecretAccessKey><SessionToken>t</SessionToken></Credentials>", "<Credentials>[redacted]</AccessKeyId>[redacted]</SecretAccessKey>[redacted]</SessionToken></Credentials>"},
		"agent in JSON":           {`{"AccessKeyId": "x", "SecretAccessKey" : "y/z", "Token":"t", "Code":"Success"}`, `{[redacted]", [redacted]", [redacted]", "Code":"Success"}`},
		"JSON in JSON":            {`"{\"secretAccessKey\":\"y/z\",\"code\":1}"`, `"{[redacted]\",\"code\":1}"`},
		"environment":             {"AWS_SECRET_ACCESS_KEY=wJalr/K7 AWS_REGION=eu-west-1", "[redacted] AWS_REGION=eu-west-1"},
		"credentials file":        {"line 3: aws_secret_access_key = wJalr/K7", "line 3: [redacted]"},
		"session in a file":       {"aws_session_token=abc; x", "[redacted]; x"},
		"control characters":      {"a\x00b\nc\td\x7fe\u0085f", "a b c d e f"},
		"invalid UTF-8":           {"caf\xc3\x28\xff é", "caf( é"},
		"blanks around":           {" \n x \n ", "x"},
		"two secrets of a kind":   {keyID + " " + keyID, "[redacted] [redacted]"},
		"proxy URL":               {`invalid proxy address "http://svc:aB3/xyz@proxy:3128": bad port`, `invalid proxy address "http://[redacted]@proxy:3128": bad port`},
		"proxy URL without host":  {`parse "http://u:pw@:::bad": invalid port`, `parse "http://[redacted]@:::bad": invalid port`},
		"password with @ and ?":   {"https://u:p@s/s?w#@h/x y@z", "https://[redacted]@h/x y@z"},
		"password with a quote":   {`"http://u:a\"b@h" x`, `"http://[redacted]@h" x`},
		"password without a user": {"http://:pw@h", "http://[redacted]@h"},
		"token for a user":        {"https://ghp_0123@h/x", "https://[redacted]@h/x"},
		"two URLs":                {"http://a:b@c then https://d:e@f", "http://[redacted]@c then https://[redacted]@f"},
		"URLs without a user":     {"https://h:443/a?b=c, mail ci@h; https://h/@x", "https://h:443/a?b=c, mail ci@h; https://h/@x"},
		"what is cut is redacted": {strings.Repeat("x", 995) + " " + keyID, strings.Repeat("x", 995) + " [red…"},
	}
	for name, c := range cases {
		if got := Redact(c.text); got != c.want {
			t.Errorf("%s: Redact(%q)\n got %q\nwant %q", name, c.text, got, c.want)
		}
	}
}

// Each text has one secret and nothing else that looks like one, so that none is found only in the company of another.
func TestRedactFindsEachShapeAlone(t *testing.T) {
	for text, want := range map[string]string{
		"k8s-aws-v1.YWJj":                 "[redacted]",
		"eyJh.YWJj":                       "[redacted]",
		"AKIAIOSFODNN7EXAMPLE":            "[redacted]",
		"ASIAIOSFODNN7EXAMPLE":            "[redacted]",
		"IQoJb3JpZ2luX2VjEJr0123456789":   "[redacted]",
		"FwoGZXIvYXdzEJr0123456789abcdef": "[redacted]",
		"FQoGZXIvYXdzEJr0123456789abcdef": "[redacted]",
		"FQoDYXdzEJr0123456789abcdef":     "[redacted]",
		"AgoJb3JpZ2luEJr0123456789abcdef": "[redacted]",
		"X-Amz-Signature=0123ab":          "[redacted]",
		"SignedHeaders=h, Signature=0123": "SignedHeaders=h, [redacted]",
		"Credential=x/20261130/sts":       "[redacted]",
		"BEARER abcdefghij0123456789":     "[redacted]",
		"<AccessKeyId>x</AccessKeyId>":    "[redacted]</AccessKeyId>",
		"<SessionToken>x</SessionToken>":  "[redacted]</SessionToken>",
		"<SecretAccessKey>x<":             "[redacted]<",
		`{"Token": "x"}`:                  `{[redacted]"}`,
		`{\"token\":\"x\"}`:               `{[redacted]\"}`,
		`{"AccessKeyId":"x"}`:             `{[redacted]"}`,
		`{"SessionToken":"x"}`:            `{[redacted]"}`,
		`{"secretAccessKey":"x"}`:         `{[redacted]"}`,
		"AWS_SECRET_ACCESS_KEY=x y":       "[redacted] y",
		"aws_session_token = x":           "[redacted]",
		"AWS_SECURITY_TOKEN='x'":          "[redacted]'",
		"awsSessionToken: x, y":           "[redacted], y",
		"awsSecurityToken: x, y":          "[redacted], y",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRedactIsBounded(t *testing.T) {
	const ellipsis = len("…")
	huge := map[string]string{
		"words":         strings.Repeat("word ", 2_000_000),
		"one word":      strings.Repeat("a", 10_000_000),
		"half a secret": strings.Repeat("k8s-aws-v1."+strings.Repeat("A", 6000)+" ", 1000),
		"key ids":       strings.Repeat("AKIAIOSFODNN7EXAMPLE", 500_000),
		"brackets":      strings.Repeat(`"Token":"`, 1_000_000),
		"two-byte":      strings.Repeat("é", 5_000_000),
		"broken":        strings.Repeat("\xff\xc3", 5_000_000),
		"users":         strings.Repeat("://u:", 2_000_000) + "@",
		"passwords":     strings.Repeat("://u:AAAA@h ", 1_000_000),
		"parameters":    strings.Repeat("X-Amz-Signature%25", 500_000),
	}
	for name, text := range huge {
		began := time.Now()
		got := Redact(text)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
		if len(got) > detailLimit+ellipsis || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid UTF-8: %v", name, len(got), utf8.ValidString(got))
		}
		if strings.Contains(got, "AAAA") || strings.Contains(got, "AKIA") {
			t.Errorf("%s: shows a secret: %.80s", name, got)
		}
	}
	if got, want := Redact(strings.Repeat("word ", 1000)), strings.Repeat("word ", 200)+"…"; got != want {
		t.Errorf("a long text ends in %q, want %q", got[len(got)-10:], want[len(want)-10:])
	}
	if got, want := Redact("a"+strings.Repeat("é", 600)), "a"+strings.Repeat("é", 499)+"…"; got != want {
		t.Errorf("a cut within a letter gives %q", got[len(got)-10:])
	}
}

func TestRedactDropsHalfASecret(t *testing.T) {
	// The limit of what is read falls into the key id, and the token before it shrinks so far that its place is shown.
	text := "k8s-aws-v1." + strings.Repeat("A", readLimit-20) + " ASIAIOSFODNN7EXAMPLE"
	if got, want := Redact(text), "[redacted] …"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"plain", "k8s-aws-v1.abc", "\xff\xfe", "Bearer abcdefghij0123456789", strings.Repeat("é", 700)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Redact(text)
		if !utf8.ValidString(got) || len(got) > detailLimit+len("…") || strings.ContainsAny(got, "\x00\n\r\t\x1b") {
			t.Fatalf("Redact(%q) = %q", text, got)
		}
		if secret := "AKIAIOSFODNN7EXAMPLE"; strings.Contains(Redact(text+" "+secret), secret) {
			t.Fatalf("a key id after %q is shown", text)
		}
	})
}
