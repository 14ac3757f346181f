// Web identity tokens: the file is read and its claims are looked at before any call; only STS verifies the signature.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// smallFile bounds the files that hold one value: a projected token has about 1 KiB, an external id at most 1,224 characters (STS API, AssumeRole).
const smallFile = 64 << 10

// claims are what a projected service account token says of itself.
type claims struct {
	issuer, subject string
	audience        []string
	expires         time.Time
}

func (c claims) facts() chain.Facts {
	return chain.Facts{
		chain.FactOIDCIssuer: c.issuer, chain.FactOIDCSubject: c.subject, chain.FactOIDCAudience: strings.Join(c.audience, ","),
		chain.FactWebIdentityExpires: c.expires.UTC().Format(time.RFC3339),
	}
}

// readClaims reads a JWT without verifying it. Its errors say what is wrong and hold nothing of the token.
func readClaims(token string) (claims, error) {
	var registered jwt.RegisteredClaims
	switch _, _, err := jwt.NewParser().ParseUnverified(token, &registered); {
	case token == "":
		return claims{}, errors.New("it is empty")
	case err != nil:
		return claims{}, errors.New("it is not a JWT")
	case registered.Issuer == "":
		return claims{}, errors.New("the JWT has no claim iss")
	case registered.Subject == "":
		return claims{}, errors.New("the JWT has no claim sub")
	case registered.ExpiresAt == nil:
		return claims{}, errors.New("the JWT has no claim exp")
	}
	return claims{registered.Issuer, registered.Subject, registered.Audience, registered.ExpiresAt.Time}, nil
}

// webToken is a web identity token that was read, and what it says of itself.
type webToken struct {
	path   string
	value  chain.Secret
	claims claims
}

// openToken reads a web identity token. Whether it is past its end is for the caller to ask (ended): the clock that counts is STS's.
func openToken(path string) (webToken, error) {
	fail := func(reason chain.Reason, cause error) (webToken, error) {
		return webToken{}, chain.Fail(chain.StepCredentials, reason, fmt.Sprintf("reading the web identity token %s: %v", path, cause), chain.Facts{chain.FactTokenFile: path}, cause)
	}
	text, err := chain.ReadSmall(path, smallFile)
	_, tooLarge := errors.AsType[*chain.TooLargeError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(chain.ReasonWebIdentityTokenMissing, err)
	case tooLarge:
		return fail(chain.ReasonWebIdentityTokenMalformed, err)
	case err != nil:
		return fail(chain.ReasonWebIdentityTokenUnreadable, err)
	}
	token := strings.TrimSpace(string(text))
	found, err := readClaims(token)
	if err != nil {
		return fail(chain.ReasonWebIdentityTokenMalformed, err)
	}
	return webToken{path, chain.NewSecret(token), found}, nil
}

func (t webToken) facts() chain.Facts {
	return t.claims.facts().Merge(chain.Facts{chain.FactTokenFile: t.path})
}

// ended reports whether the token is past its end by the local clock. It grants the five minutes that STS grants a signature from a clock that is ahead.
func (t webToken) ended(now time.Time) bool { return now.After(t.claims.expires.Add(maxAhead)) }

// expired blames the token by the local clock. why says that nothing else confirmed it.
func (t webToken) expired(now time.Time, why string) *chain.Error {
	return chain.Fail(chain.StepCredentials, chain.ReasonIdentityTokenExpired, fmt.Sprintf(
		"the web identity token %s expired at %s, %s ago by the local clock, and no server confirmed that clock: %s",
		t.path, t.claims.expires.UTC().Format(time.RFC3339), now.Sub(t.claims.expires).Round(time.Second), why), t.facts(), nil)
}

// judge looks at how AssumeRoleWithWebIdentity ended, which is asked with an ended token too: it is unsigned, so only STS's clock counts. Without STS's word the local clock has to do;
// the Date of an answer that is not STS's convicts nobody.
func (w *webIdentity) judge(err error, now time.Time) error {
	e, ok := errors.AsType[*chain.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Reason == chain.ReasonIdentityTokenExpired:
		detail := fmt.Sprintf("the web identity token %s expired at %s: %s", w.token.path, w.token.claims.expires.UTC().Format(time.RFC3339), e.Detail)
		return chain.Fail(e.Step, e.Reason, detail, w.token.facts().Merge(e.Facts), e)
	case (e.Reason == chain.ReasonSTSUnreachable || e.Reason == chain.ReasonReadFailed) && w.token.ended(now):
		found := w.token.expired(now, e.Detail)
		found.Facts, found.Err = e.Facts.Merge(found.Facts), e
		return found
	case e.Outcome == chain.OutcomeFailure && e.Reason != chain.ReasonSTSUnreachable && e.Facts[chain.FactErrorCode] != "" && w.token.endedBySTS(now, e.Facts):
		detail := fmt.Sprintf("the web identity token %s expired at %s, which STS's Date header confirms; what STS says of it comes after that: %s",
			w.token.path, w.token.claims.expires.UTC().Format(time.RFC3339), e.Detail)
		return chain.Fail(chain.StepCredentials, chain.ReasonIdentityTokenExpired, detail, w.token.facts().Merge(e.Facts), e)
	}
	return err
}

// endedBySTS reports whether the token is past its end by STS's clock, as far as the answer told it.
func (t webToken) endedBySTS(now time.Time, facts chain.Facts) bool {
	skew, err := time.ParseDuration(facts[chain.FactClockSkew])
	return err == nil && t.ended(now.Add(-skew))
}
