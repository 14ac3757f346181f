// What the exporter reads in a web identity token, and what it refuses before STS is asked.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// unsigned is a JWT of a payload; nothing here verifies the signature.
func unsigned(payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encode([]byte(payload)) + "." + encode([]byte("signature"))
}

func TestReadClaims(t *testing.T) {
	const all = `{"iss":"https://issuer","sub":"system:serviceaccount:a:b","aud":["sts.amazonaws.com","vault"],"exp":1796040000}`
	for name, c := range map[string]struct {
		token   string
		want    claims
		problem string
	}{
		"all":                {unsigned(all), claims{"https://issuer", "system:serviceaccount:a:b", []string{"sts.amazonaws.com", "vault"}, time.Unix(1796040000, 0)}, ""},
		"one audience":       {unsigned(`{"iss":"i","sub":"s","aud":"sts.amazonaws.com","exp":1}`), claims{"i", "s", []string{"sts.amazonaws.com"}, time.Unix(1, 0)}, ""},
		"no audience":        {unsigned(`{"iss":"i","sub":"s","exp":1}`), claims{"i", "s", nil, time.Unix(1, 0)}, ""},
		"empty":              {"", claims{}, "it is empty"},
		"two parts":          {"eyJhbGciOiJSUzI1NiJ9.e30", claims{}, "it is not a JWT"},
		"no base64":          {"a.b.c", claims{}, "it is not a JWT"},
		"no JSON":            {unsigned("{"), claims{}, "it is not a JWT"},
		"an array":           {unsigned("[]"), claims{}, "it is not a JWT"},
		"a nested audience":  {unsigned(`{"iss":"i","sub":"s","aud":[1],"exp":1}`), claims{}, "it is not a JWT"},
		"no issuer":          {unsigned(`{"sub":"s","aud":"a","exp":1}`), claims{}, "the JWT has no claim iss"},
		"no subject":         {unsigned(`{"iss":"i","aud":"a","exp":1}`), claims{}, "the JWT has no claim sub"},
		"no end":             {unsigned(`{"iss":"i","sub":"s","aud":"a"}`), claims{}, "the JWT has no claim exp"},
		"a key file instead": {"-----BEGIN PRIVATE KEY-----", claims{}, "it is not a JWT"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readClaims(c.token)
			if problem := text(err); problem != c.problem {
				t.Fatalf("got %q, want %q", problem, c.problem)
			}
			wantSame(t, []any{got.issuer, got.subject, got.audience, got.expires.Unix()}, []any{c.want.issuer, c.want.subject, c.want.audience, c.want.expires.Unix()})
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzReadClaims(f *testing.F) {
	for _, payload := range []string{`{"iss":"i","sub":"s","aud":["a"],"exp":1796040000}`, `{"exp":1e300}`, `{"exp":-0.5}`, `{"exp":"1"}`, `{"aud":{}}`, `[]`} {
		f.Add(unsigned(payload))
	}
	f.Add("")
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		got, err := readClaims(token)
		if err == nil {
			if got.issuer == "" || got.subject == "" || strings.Count(token, ".") != 2 {
				t.Errorf("%q was read as %+v", token, got)
			}
			_ = got.facts()
			return
		}
		if len(token) > 20 && strings.Contains(err.Error(), token) {
			t.Errorf("the error shows the token: %v", err)
		}
	})
}
