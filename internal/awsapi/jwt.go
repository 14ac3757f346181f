// Web identity tokens: the file is read and its claims are looked at before any call; only STS verifies the signature.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
		chain.FactTokenExpires: c.expires.UTC().Format(time.RFC3339),
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

// openToken reads a web identity token and judges it. A token is called expired only five minutes after its end, which is what STS grants a signature from a
// clock that is ahead: nearer to the end, STS judges, since its clock is the one that counts.
func openToken(path string, now time.Time) (chain.Secret, claims, error) {
	facts := chain.Facts{chain.FactTokenFile: path}
	fail := func(reason chain.Reason, detail string, cause error) error {
		return chain.Fail(chain.StepCredentials, reason, detail, facts, cause)
	}
	text, err := readSmall(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return chain.Secret{}, claims{}, fail(chain.ReasonWebIdentityTokenMissing, fmt.Sprintf("reading the web identity token %s: there is no such file", path), err)
	case errors.Is(err, errTooLarge):
		return chain.Secret{}, claims{}, fail(chain.ReasonWebIdentityTokenMalformed, fmt.Sprintf("reading the web identity token %s: %v", path, err), err)
	case err != nil:
		return chain.Secret{}, claims{}, fail(chain.ReasonWebIdentityTokenUnreadable, fmt.Sprintf("reading the web identity token %s: %v", path, fileCause(err)), err)
	}
	found, err := readClaims(text)
	if err != nil {
		return chain.Secret{}, claims{}, fail(chain.ReasonWebIdentityTokenMalformed, fmt.Sprintf("reading the web identity token %s: %v", path, err), err)
	}
	if now.After(found.expires.Add(maxAhead)) {
		facts = facts.Merge(found.facts())
		return chain.Secret{}, claims{}, fail(chain.ReasonIdentityTokenExpired, fmt.Sprintf(
			"the web identity token %s expired at %s, %s ago by the local clock: the kubelet no longer renews it, or this clock is wrong",
			path, found.expires.UTC().Format(time.RFC3339), now.Sub(found.expires).Round(time.Second)), nil)
	}
	return chain.NewSecret(text), found, nil
}

var errTooLarge = fmt.Errorf("it has more than %d KiB", smallFile>>10)

// readSmall returns a file's text without the white space around it. A pipe or a device could block or never end, so it is refused.
func readSmall(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, smallFile+1))
	if err != nil {
		return "", err
	}
	if len(text) > smallFile {
		return "", errTooLarge
	}
	return strings.TrimSpace(string(text)), nil
}

// fileCause shortens a file error to its cause: the path is named by the caller.
func fileCause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
