// OIDC is a cluster's identity issuer: it writes projected service-account tokens as the kubelet does, and its key verifies them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// identityAudience is the audience of a token that IRSA projects (amazon-eks-pod-identity-webhook, --token-audience).
const identityAudience = "sts.amazonaws.com"

// OIDC holds an issuer's key (ECDSA P-256, in memory). Register it in State.Issuers under its Issuer, and trust it with State.Providers. It is safe for concurrent use.
type OIDC struct {
	Issuer string // https URL
	keyID  string
	key    *ecdsa.PrivateKey
}

// TokenClaims says whose token it is. Zero fields are as the kubelet would fill them.
type TokenClaims struct {
	Namespace      string
	ServiceAccount string
	Pod            string
	Audience       []string  // nil: sts.amazonaws.com
	Issuer         string    // "": the issuer's own
	IssuedAt       time.Time // zero: now
	Expires        time.Time // zero: 24 hours after IssuedAt, IRSA's default
}

// NewOIDC makes an issuer with a fresh key. Its error is the random source's.
func NewOIDC(issuer string) (*OIDC, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of %s: %w", issuer, err)
	}
	return &OIDC{Issuer: issuer, keyID: rand.Text(), key: key}, nil
}

// projectedClaims is the payload of a projected service-account token (Kubernetes, pkg/serviceaccount/claims.go).
type projectedClaims struct {
	jwt.RegisteredClaims
	Kubernetes kubernetesClaim `json:"kubernetes.io"`
}

type kubernetesClaim struct {
	Namespace      string   `json:"namespace"`
	Pod            *nameUID `json:"pod,omitempty"`
	ServiceAccount nameUID  `json:"serviceaccount"`
}

type nameUID struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// Mint writes a signed token.
func (o *OIDC) Mint(claims TokenClaims) string {
	if claims.Audience == nil {
		claims.Audience = []string{identityAudience}
	}
	if claims.Issuer == "" {
		claims.Issuer = o.Issuer
	}
	if claims.IssuedAt.IsZero() {
		claims.IssuedAt = time.Now()
	}
	if claims.Expires.IsZero() {
		claims.Expires = claims.IssuedAt.Add(24 * time.Hour)
	}
	payload := projectedClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: claims.Issuer, Subject: "system:serviceaccount:" + claims.Namespace + ":" + claims.ServiceAccount, Audience: claims.Audience,
			ExpiresAt: jwt.NewNumericDate(claims.Expires), IssuedAt: jwt.NewNumericDate(claims.IssuedAt), NotBefore: jwt.NewNumericDate(claims.IssuedAt), ID: newRequestID(),
		},
		Kubernetes: kubernetesClaim{Namespace: claims.Namespace, ServiceAccount: nameUID{claims.ServiceAccount, newRequestID()}},
	}
	if claims.Pod != "" {
		payload.Kubernetes.Pod = &nameUID{claims.Pod, newRequestID()}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, payload)
	token.Header["kid"] = o.keyID
	signed, err := token.SignedString(o.key)
	mustEncode(err)
	return signed
}

// webIdentity is a verified token.
type webIdentity struct {
	Issuer   string
	Subject  string
	Audience []string
	Expires  time.Time
}

// issuerOf reads a token's issuer without believing it.
func issuerOf(token string) (string, error) {
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return "", fmt.Errorf("reading a web identity token: %w", err)
	}
	return claims.Issuer, nil
}

// verify proves that the issuer's key signed the token. Whether it has expired is for the caller, who has the clock, to say.
func (o *OIDC) verify(token string) (webIdentity, error) {
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != o.keyID {
			return nil, fmt.Errorf("looking for key %v of %s: the issuer has none of that id", t.Header["kid"], o.Issuer)
		}
		return o.key.Public(), nil
	})
	if err != nil {
		return webIdentity{}, fmt.Errorf("verifying a token of %s: %w", o.Issuer, err)
	}
	id := webIdentity{Issuer: claims.Issuer, Subject: claims.Subject, Audience: claims.Audience}
	if claims.ExpiresAt != nil {
		id.Expires = claims.ExpiresAt.Time
	}
	return id, nil
}

// issuerHost is an issuer as IAM names it: without the scheme.
func issuerHost(issuer string) string { return strings.TrimPrefix(issuer, "https://") }
