// The authenticator's rules for a token, so that a token it would refuse is known before it is sent (aws-iam-authenticator v0.7.13, pkg/token Verify).
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	tokenPrefix  = "k8s-aws-v1."
	tokenMaxSize = 4096
	amzDate      = "20060102T150405Z"
)

// tokenParams are the query parameters that the authenticator lets through, lower-cased.
var tokenParams = map[string]bool{
	"action": true, "version": true, "x-amz-algorithm": true, "x-amz-credential": true, "x-amz-date": true, "x-amz-expires": true,
	"x-amz-security-token": true, "x-amz-signature": true, "x-amz-signedheaders": true,
}

// checkToken applies the rules. Errors belong to the step token and hold nothing of the token itself.
func checkToken(token chain.Token, region string, now time.Time) error {
	if err := tokenShape(token.Value.Reveal(), region); err != nil {
		return chain.Fail(chain.StepToken, chain.ReasonTokenMalformed, "the authenticator would refuse the token: "+err.Error(), nil, nil)
	}
	return tokenEnd(token, now)
}

// tokenEnd tells a token that is past its fifteen minutes from one whose session has ended.
func tokenEnd(token chain.Token, now time.Time) error {
	switch {
	case now.Sub(token.Signed) >= chain.TokenLifetime:
		return chain.Fail(chain.StepToken, chain.ReasonTokenExpired,
			fmt.Sprintf("the token was signed at %s and has passed its 15 minutes", token.Signed.UTC().Format(time.RFC3339)), nil, nil)
	case !now.Before(token.Expires):
		return chain.Fail(chain.StepToken, chain.ReasonTokenSigningCredentialsExpired,
			fmt.Sprintf("the session that signed the token ended at %s, before the token's 15 minutes were over", token.Expires.UTC().Format(time.RFC3339)), nil, nil)
	}
	return nil
}

func tokenShape(value, region string) error {
	if len(value) > tokenMaxSize {
		return fmt.Errorf("it has %d bytes, more than %d (a long session token or session tags make it so)", len(value), tokenMaxSize)
	}
	encoded, ok := strings.CutPrefix(value, tokenPrefix)
	if !ok {
		return errors.New("its prefix is not k8s-aws-v1")
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return errors.New("it is not unpadded base64url")
	}
	u, err := url.Parse(string(raw))
	if err != nil {
		return errors.New("it holds no URL")
	}
	if u.Scheme != "https" || u.Path != "/" {
		return fmt.Errorf("its URL begins %s://…%s, not https://…/", u.Scheme, u.Path)
	}
	if !strings.Contains(u.Host, "."+region+".") {
		return fmt.Errorf("its STS host %s is not the one of region %s", u.Host, region)
	}
	return tokenQuery(u.RawQuery)
}

func tokenQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("its URL has a malformed query")
	}
	values := map[string]string{}
	for name, all := range query {
		lower := strings.ToLower(name)
		if _, again := values[lower]; again || len(all) != 1 {
			return fmt.Errorf("its URL has %s twice", name)
		}
		if !tokenParams[lower] {
			return fmt.Errorf("its URL has the parameter %q, which is not on the authenticator's list", name)
		}
		values[lower] = all[0]
	}
	if values["action"] != "GetCallerIdentity" {
		return errors.New("its URL does not ask GetCallerIdentity")
	}
	if !strings.Contains(";"+values["x-amz-signedheaders"]+";", ";x-k8s-aws-id;") {
		return errors.New("the header x-k8s-aws-id is not signed")
	}
	if expires, err := strconv.Atoi(values["x-amz-expires"]); err != nil || expires < 0 || expires > 900 {
		return errors.New("X-Amz-Expires is not between 0 and 900")
	}
	if _, err := time.Parse(amzDate, values["x-amz-date"]); err != nil {
		return errors.New("X-Amz-Date is missing or no date")
	}
	return nil
}
