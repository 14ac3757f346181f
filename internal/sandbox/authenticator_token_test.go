// Tokens, good and malformed, judged by ours and by aws-iam-authenticator's own Verifier: both must say the same.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	iamtoken "sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func encodeToken(url string) string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(url))
}

// swap replaces a text that must be there.
func swap(t *testing.T, s, old, replacement string) string {
	t.Helper()
	if !strings.Contains(s, old) {
		t.Fatalf("%q is not in the URL", old)
	}
	return strings.Replace(s, old, replacement, 1)
}

// parityTokens break a good presigned URL; each returns the whole token.
var parityTokens = map[string]func(t *testing.T, good string) string{
	"good":         func(_ *testing.T, good string) string { return encodeToken(good) },
	"empty":        func(*testing.T, string) string { return "" },
	"no prefix":    func(_ *testing.T, good string) string { return strings.TrimPrefix(encodeToken(good), tokenPrefix) },
	"wrong prefix": func(_ *testing.T, good string) string { return "k8s-aws-v2." + encodeToken(good)[len(tokenPrefix):] },
	"prefix alone": func(*testing.T, string) string { return tokenPrefix },
	"as large as allowed": func(*testing.T, string) string {
		return tokenPrefix + strings.Repeat("A", tokenMaxBytes-len(tokenPrefix))
	},
	"too large": func(*testing.T, string) string {
		return tokenPrefix + strings.Repeat("A", tokenMaxBytes-len(tokenPrefix)+1)
	},
	"padded base64":         func(*testing.T, string) string { return tokenPrefix + "YQ==" },
	"standard base64":       func(*testing.T, string) string { return tokenPrefix + "a+b/" },
	"not a URL":             func(*testing.T, string) string { return encodeToken("https://sts.eu-west-1.amazonaws.com/%zz") },
	"control character":     func(*testing.T, string) string { return encodeToken("https://sts.eu-west-1.amazonaws.com/\x00") },
	"http":                  replaceURL("https://", "http://"),
	"upper-case scheme":     replaceURL("https://", "HTTPS://"),
	"no host":               replaceURL("sts.eu-west-1.amazonaws.com", ""),
	"short host":            replaceURL("sts.eu-west-1.amazonaws.com", "sts.local"),
	"host with a port":      replaceURL("amazonaws.com/", "amazonaws.com:443/"),
	"VPC endpoint":          replaceURL("sts.eu-west-1.amazonaws.com", "vpce-0123-abcd.sts.eu-west-1.vpce.amazonaws.com"),
	"other service":         replaceURL("https://sts.", "https://iam."),
	"other domain":          replaceURL("amazonaws.com/", "amazonaws.com.example.com/"),
	"upper-case host":       replaceURL("https://sts.", "https://STS."),
	"user in the host":      replaceURL("https://sts.", "https://me@sts."),
	"region with underline": replaceURL("sts.eu-west-1", "sts.eu_west"),
	"region ends in a dash": replaceURL("sts.eu-west-1", "sts.eu-"),
	"China's host":          replaceURL("sts.eu-west-1.amazonaws.com", "sts.cn-north-1.amazonaws.com.cn"),
	"isolated host":         replaceURL("sts.eu-west-1.amazonaws.com", "sts.us-iso-east-1.c2s.ic.gov"),
	"legacy FIPS host":      replaceURL("https://sts.", "https://sts-fips."),
	"global host":           replaceURL("sts.eu-west-1.amazonaws.com", "sts.amazonaws.com"),
	"unknown region":        replaceURL("sts.eu-west-1", "sts.lab-1"),
	"other path":            replaceURL("amazonaws.com/?", "amazonaws.com/assume?"),
	"no path":               replaceURL("amazonaws.com/?", "amazonaws.com?"),
	"malformed query":       replaceURL("Version=", "Ver%sion="),
	"semicolon":             replaceURL("&Version=", ";Version="),
	"duplicate, other case": appendURL("&ACTION=GetCallerIdentity"),
	"two values":            appendURL("&Action=GetCallerIdentity"),
	"unknown parameter":     appendURL("&X-Amz-Debug=1"),
	"other action":          replaceURL("Action=GetCallerIdentity", "Action=AssumeRole"),
	"no action":             replaceURL("Action=GetCallerIdentity&", ""),
	"action in lower case":  replaceURL("Action=GetCallerIdentity", "Action=getcalleridentity"),
	"cluster id unsigned":   replaceURL("%3Bx-k8s-aws-id", ""),
	"expires beyond 900":    replaceURL("X-Amz-Expires=60", "X-Amz-Expires=901"),
	"expires below zero":    replaceURL("X-Amz-Expires=60", "X-Amz-Expires=-1"),
	"expires in words":      replaceURL("X-Amz-Expires=60", "X-Amz-Expires=soon"),
	"no expires":            replaceURL("X-Amz-Expires=60&", ""),
	"no date":               changeParameter("X-Amz-Date", ""),
	"malformed date":        changeParameter("X-Amz-Date", "2026-11-30"),
	"date of last year":     changeParameter("X-Amz-Date", "20250102T030405Z"),
	"signature tampered":    changeParameter("X-Amz-Signature", strings.Repeat("0", 64)),
	"unknown key":           changeParameter("X-Amz-Credential", "AKIANOBODYNOBODYNOBO/"+time.Now().UTC().Format("20060102")+"/eu-west-1/sts/aws4_request"),
	"session token missing": changeParameter("X-Amz-Security-Token", ""),
}

func replaceURL(old, replacement string) func(*testing.T, string) string {
	return func(t *testing.T, good string) string { return encodeToken(swap(t, good, old, replacement)) }
}

func appendURL(more string) func(*testing.T, string) string {
	return func(_ *testing.T, good string) string { return encodeToken(good + more) }
}

// changeParameter sets a query parameter; "" drops it.
func changeParameter(name, value string) func(*testing.T, string) string {
	return func(t *testing.T, good string) string {
		parsed, err := url.Parse(good)
		must(t, err)
		query := parsed.Query()
		if !query.Has(name) {
			t.Fatalf("%s is not in the URL", name)
		}
		if query.Set(name, value); value == "" {
			query.Del(name)
		}
		parsed.RawQuery = query.Encode()
		return encodeToken(parsed.String())
	}
}

func TestTokenParityWithTheRealVerifier(t *testing.T) {
	k := newKubeCluster(t)
	k.useAsDefaultTransport(t)
	for name, build := range parityTokens {
		t.Run(name, func(t *testing.T) {
			good, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(k.deployToken(t), tokenPrefix))
			must(t, err)
			token := build(t, string(good))
			theirs, realErr := iamtoken.NewVerifier("prod", "aws", testRegion).Verify(token)
			user, ourErr := k.api.auth.authenticate(t.Context(), token)
			wantSame(t, sameWords(ourErr), sameWords(realErr))
			if realErr == nil {
				wantSame(t, user.Extra, map[string]authenticationv1.ExtraValue{
					"arn": {theirs.ARN}, "canonicalArn": {theirs.CanonicalARN}, "sessionName": {theirs.SessionName},
					"accessKeyId": {theirs.AccessKeyID}, "principalId": {theirs.UserID}, "sigs.k8s.io/aws-iam-authenticator/principalId": {theirs.UserID},
				})
			}
			if accepted := name == "good" || name == "user in the host" || name == "upper-case scheme"; accepted != (realErr == nil) {
				t.Errorf("the real verifier said %v", realErr)
			}
		})
	}
}

// useAsDefaultTransport sends the real Verifier, which knows no other transport, to the sandbox's STS.
func (k *kubeCluster) useAsDefaultTransport(t *testing.T) {
	t.Helper()
	before := http.DefaultTransport
	http.DefaultTransport = k.http.Transport
	t.Cleanup(func() { http.DefaultTransport = before })
}

// sameWords makes two errors of one cause equal: ours hides what the real one quotes, every STS answer has its own id, and which of two duplicates is named is chance.
func sameWords(err error) string {
	if err == nil {
		return ""
	}
	return strings.ToLower(requestIDs.ReplaceAllString(chain.Redact(err.Error()), "ID"))
}

// TestHostParityWithTheRealVerifier asks about hosts under clusters of other partitions. A host that passes is asked for its path next, so no call is made.
func TestHostParityWithTheRealVerifier(t *testing.T) {
	hosts := []string{
		"sts.amazonaws.com", "sts.eu-west-1.amazonaws.com", "sts.eu-west-1.api.aws", "sts-fips.us-east-1.amazonaws.com", "sts-fips.us-east-1.api.aws",
		"sts.cn-north-1.amazonaws.com.cn", "sts.cn-north-1.api.amazonwebservices.com.cn", "sts.us-gov-west-1.amazonaws.com", "sts.us-gov-west-1.api.aws",
		"sts.us-iso-east-1.c2s.ic.gov", "sts.new-1.amazonaws.com", "sts.cn-new-9.amazonaws.com.cn", "sts.eu-west-1.example.com", "sts..amazonaws.com",
	}
	for region, partition := range map[string]string{"eu-west-1": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov"} {
		for _, host := range hosts {
			token := encodeToken("https://" + host + "/path")
			_, realErr := iamtoken.NewVerifier("prod", partition, region).Verify(token)
			_, ourErr := parseToken(token, region, time.Now())
			if sameWords(ourErr) != sameWords(realErr) {
				t.Errorf("%s in %s\nours %v\nreal %v", host, partition, ourErr, realErr)
			}
		}
	}
}

func TestTokenErrorsHoldNoURL(t *testing.T) {
	_, err := parseToken(encodeToken("https://sts.eu-west-1.amazonaws.com/?X-Amz-Signature=0badc0de&X-Amz-Security-Token=secret\x00"), testRegion, time.Now())
	if err == nil || strings.Contains(err.Error(), "0badc0de") || strings.Contains(err.Error(), "=secret") {
		t.Errorf("the error is %v", err)
	}
}
