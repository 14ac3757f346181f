// Texts from outside: no header, query or policy may stop the server or pass for a signature.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func FuzzAuthenticate(f *testing.F) {
	stamp := time.Now().UTC().Format(sigTimeFormat)
	scope := testUser.AccessKeyID + "/" + stamp[:8] + "/eu-west-1/sts/aws4_request"
	f.Add(sigAlgorithm+" Credential="+scope+", SignedHeaders=host, Signature=00", "", stamp)
	f.Add("", "X-Amz-Algorithm="+sigAlgorithm+"&X-Amz-Credential="+url.QueryEscape(scope)+"&X-Amz-SignedHeaders=host&X-Amz-Date="+stamp+"&X-Amz-Signature=00", "")
	f.Add(sigAlgorithm+" Credential=/////, SignedHeaders=;;, Signature=", "a=%zz&=&&b", "x")
	f.Add("AWS4-HMAC-SHA256", "%", "")
	state := NewState()
	state.Users[testUser.AccessKeyID] = &User{Name: "ci", AccountID: testAccount, AccessKeyID: testUser.AccessKeyID, SecretKey: testUser.SecretAccessKey}
	f.Fuzz(func(t *testing.T, authorization, query, date string) {
		r := &http.Request{
			Method: http.MethodGet, Host: "127.0.0.1", URL: &url.URL{Path: "/", RawQuery: query},
			Header: http.Header{"Authorization": {authorization}, "X-Amz-Date": {date}},
		}
		if caller, fault := state.authenticate(r, nil, "sts"); fault == nil {
			t.Errorf("believed to be %s", caller.ARN)
		}
	})
}

// FuzzParsePolicy holds that a policy which was taken never allows more than its own text says: with no Allow in it, nothing.
func FuzzParsePolicy(f *testing.F) {
	f.Add(denyAll)
	f.Add(`{"Statement":[{"Effect":"Allow","Action":["sts:*"],"Resource":"*"}]}`)
	f.Add(`{"Statement":{"Effect":"Deny","Action":"[a-","Resource":"(?"}}`)
	f.Add(`{"Statement":[[]]}`)
	f.Fuzz(func(t *testing.T, policy string) {
		if policy == "" {
			return // no policy at all limits nothing
		}
		decision := awsCaller{Policy: policy}.sessionPolicy("sts:AssumeRole", deployARN)
		if decision == policyAllows && !strings.Contains(policy, "Allow") && !strings.Contains(policy, `\u`) {
			t.Errorf("%q allows", policy)
		}
	})
}
