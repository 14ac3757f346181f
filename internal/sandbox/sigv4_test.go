// The signature: AWS's own examples, and everything that must not pass.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// The examples are those of the "AWS Signature Version 4 Test Suite".
func TestSignMatchesTheTestSuite(t *testing.T) {
	claim := sigClaim{day: "20150830", region: "us-east-1", service: "service", end: sigTerminator, date: "20150830T123600Z"}
	for name, c := range map[string]struct {
		method, target, body string
		headers              [][2]string
		signed, want         string
	}{
		"get-vanilla": {
			method: "GET", target: "/", signed: "host;x-amz-date",
			want: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		},
		"get-vanilla-query-order-key-case": {
			method: "GET", target: "/?Param2=value2&Param1=value1", signed: "host;x-amz-date",
			want: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
		},
		"get-header-value-trim": {
			method: "GET", target: "/", headers: [][2]string{{"My-Header1", " value1"}, {"My-Header2", ` "a   b   c"`}}, signed: "host;my-header1;my-header2;x-amz-date",
			want: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
		},
		"post-x-www-form-urlencoded": {
			method: "POST", target: "/", body: "Param1=value1", headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}, signed: "content-type;host;x-amz-date",
			want: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
			r.Host = "example.amazonaws.com"
			r.Header.Set("X-Amz-Date", claim.date)
			for _, h := range c.headers {
				r.Header.Add(h[0], h[1])
			}
			claim := claim
			claim.headers = strings.Split(c.signed, ";")
			if got := hex.EncodeToString(claim.sign("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", r, []byte(c.body))); got != c.want {
				t.Errorf("signature %s, want %s", got, c.want)
			}
		})
	}
}

func TestParseClaim(t *testing.T) {
	const credential, rest = "Credential=AKIA/20260101/eu-west-1/sts/aws4_request", ", SignedHeaders=host, Signature=00"
	for name, c := range map[string]struct {
		target, authorization, date string
		want                        *awsError
	}{
		"no signature":   {target: "/", want: errMissingToken},
		"another scheme": {target: "/", authorization: "Bearer x", date: "d", want: errIncompleteSignature},
		"no date": {
			target:        "/",
			authorization: sigAlgorithm + " " + credential + rest,
			want:          errIncompleteSignature,
		},
		"short scope": {
			target:        "/",
			authorization: sigAlgorithm + " Credential=AKIA/20260101" + rest,
			date:          "d",
			want:          errIncompleteSignature,
		},
		"no signed headers": {
			target:        "/",
			authorization: sigAlgorithm + " " + credential + ", Signature=00",
			date:          "d",
			want:          errIncompleteSignature,
		},
		"header":                  {target: "/", authorization: sigAlgorithm + " " + credential + rest, date: "d"},
		"presigned, no algorithm": {target: "/?X-Amz-Signature=00", want: errIncompleteSignature},
		"presigned, no rest":      {target: "/?X-Amz-Algorithm=" + sigAlgorithm, want: errIncompleteSignature},
		"presigned":               {target: "/?X-Amz-Algorithm=" + sigAlgorithm + "&X-Amz-Credential=A/2/r/s/t&X-Amz-SignedHeaders=host&X-Amz-Date=d&X-Amz-Signature=00"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, c.target, nil)
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			if c.date != "" {
				r.Header.Set("X-Amz-Date", c.date)
			}
			if _, fault := parseClaim(r); fault != c.want {
				t.Errorf("fault %+v, want %+v", fault, c.want)
			}
		})
	}
}

// TestTamperedRequest signs with the SDK's signer, then changes one thing on the way to the server.
func TestTamperedRequest(t *testing.T) {
	a := newAWSAccount(t)
	const form = "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A111122223333%3Arole%2Fci-deploy&RoleSessionName=probe"
	mismatch := "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	for name, c := range map[string]struct {
		tamper func(r *http.Request)
		want   string // the message; "" for success
	}{
		"untouched":          {tamper: func(*http.Request) {}},
		"an unsigned header": {tamper: func(r *http.Request) { r.Header.Set("User-Agent", "another") }},
		"a byte of the body": {
			tamper: func(r *http.Request) { setBody(r, strings.Replace(form, "=probe", "=prObe", 1)) },
			want:   mismatch,
		},
		"a byte of the host": {
			tamper: func(r *http.Request) { r.Host = strings.Replace(r.Host, "127.0.0.1", "127.0.0.2", 1) },
			want:   mismatch,
		},
		"the cluster id":        {tamper: func(r *http.Request) { r.Header.Set("X-K8s-Aws-Id", "prod2") }, want: mismatch},
		"the cluster id's loss": {tamper: func(r *http.Request) { r.Header.Del("X-K8s-Aws-Id") }, want: mismatch},
		"the path":              {tamper: func(r *http.Request) { r.URL.Path = "/x" }, want: mismatch},
		"the query":             {tamper: func(r *http.Request) { r.URL.RawQuery = "x=y" }, want: mismatch},
		"the date": {tamper: func(r *http.Request) {
			r.Header.Set("X-Amz-Date", time.Now().Add(-time.Minute).UTC().Format(sigTimeFormat))
		}, want: mismatch},
		"the signature": {tamper: func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "Signature=", "Signature=00", 1))
		}, want: mismatch},
	} {
		t.Run(name, func(t *testing.T) {
			r := signedRequest(t, a.sts.URL(), form)
			c.tamper(r)
			response, body := a.do(t, r)
			if c.want == "" && response.StatusCode != http.StatusOK || c.want != "" && (response.StatusCode != http.StatusForbidden ||
				!strings.Contains(body, "<Code>SignatureDoesNotMatch</Code>") || !strings.Contains(body, c.want)) {
				t.Errorf("%s: %s\nwant %q", response.Status, body, c.want)
			}
		})
	}
}

func signedRequest(t *testing.T, target, form string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, nil)
	must(t, err)
	setBody(r, form)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-K8s-Aws-Id", "prod1")
	hash := sha256.Sum256([]byte(form))
	must(t, v4.NewSigner().SignHTTP(t.Context(), testUser, r, hex.EncodeToString(hash[:]), "sts", testRegion, time.Now()))
	return r
}

func setBody(r *http.Request, form string) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(form))), int64(len(form))
}
