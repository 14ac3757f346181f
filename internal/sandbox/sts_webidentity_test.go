// AssumeRoleWithWebIdentity with the SDK, and the tokens that the issuer writes.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/golang-jwt/jwt/v5"
)

var shopDeployer = TokenClaims{Namespace: "shop", ServiceAccount: "deployer", Pod: "deployer-0"}

func (a *awsAccount) assumeWeb(t *testing.T, token, role, endpoint string) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	t.Helper()
	return a.stsClient(aws.Credentials{}, testRegion, endpoint).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role, RoleSessionName: aws.String("probe"), WebIdentityToken: &token,
	})
}

func TestAssumeRoleWithWebIdentity(t *testing.T) {
	a := newAWSAccount(t)
	got, err := a.assumeWeb(t, a.oidc.Mint(shopDeployer), irsaARN, "")
	must(t, err)
	wantSame(t, []string{*got.AssumedRoleUser.Arn, *got.SubjectFromWebIdentityToken, *got.Audience, *got.Provider}, []string{
		"arn:aws:sts::111122223333:assumed-role/irsa/probe", "system:serviceaccount:shop:deployer", "sts.amazonaws.com",
		"arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF",
	})
	creds := aws.Credentials{AccessKeyID: *got.Credentials.AccessKeyId, SecretAccessKey: *got.Credentials.SecretAccessKey, SessionToken: *got.Credentials.SessionToken}
	caller, err := a.stsClient(creds, testRegion, "").GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	must(t, err)
	wantSame(t, *caller.UserId, "AROAIRSA:probe")
}

func TestWebIdentityRefusals(t *testing.T) {
	forger, err := NewOIDC(testIssuer)
	must(t, err)
	with := func(change func(*TokenClaims)) TokenClaims { c := shopDeployer; change(&c); return c }
	denied := awsAnswer{403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"}
	invalid := func(message string) awsAnswer { return awsAnswer{400, "InvalidIdentityToken", message} }
	noKey := invalid("Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements")
	noProvider := invalid("No OpenIDConnect provider found in your account for " + testIssuer)
	for name, c := range map[string]struct {
		claims TokenClaims // the shop's deployer when zero
		token  func(token string) string
		role   string // irsa when ""
		host   string
		fault  func(*State)
		want   awsAnswer
	}{
		"C01 another service account": {claims: with(func(c *TokenClaims) { c.ServiceAccount = "deployer-2" }), want: denied},
		"C01 wildcard under equality": {
			fault: func(s *State) { s.Roles[irsaARN].Trust[0].Subject = "system:serviceaccount:shop:*" },
			want:  denied,
		},
		"C02 another issuer trusted": {fault: func(s *State) {
			s.Roles[irsaARN].Trust[0].Issuer = "eks.oidc.eu-west-1.amazonaws.com/id/0123456789ABCDEF"
		}, want: denied},
		"no such role":            {role: "arn:aws:iam::111122223333:role/gone", want: denied},
		"not a role":              {role: userARN, want: awsAnswer{400, "ValidationError", userARN + " is invalid"}},
		"role for principals":     {role: deployARN, want: denied},
		"audience not the role's": {fault: func(s *State) { s.Roles[irsaARN].Trust[0].Audience = "vault" }, want: denied},
		"audience not the provider's": {
			claims: with(func(c *TokenClaims) { c.Audience = []string{"vault"} }),
			want:   invalid("Incorrect token audience"),
		},
		"no audience": {
			claims: with(func(c *TokenClaims) { c.Audience = []string{} }),
			want:   invalid("Incorrect token audience"),
		},
		"C04 provider removed":      {fault: func(s *State) { s.Providers[testIssuer].Removed = true }, want: noProvider},
		"C04 provider never made":   {fault: func(s *State) { delete(s.Providers, testIssuer) }, want: noProvider},
		"partition of another host": {host: "https://sts.cn-north-1.amazonaws.com.cn", want: noProvider},
		"C05 thumbprint": {
			fault: func(s *State) { s.Providers[testIssuer].Stale = true },
			want:  invalid("OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint"),
		},
		"issuer without keys":       {fault: func(s *State) { delete(s.Issuers, testIssuer) }, want: noKey},
		"another key":               {token: func(string) string { return forger.Mint(shopDeployer) }, want: noKey},
		"another key under this id": {token: func(token string) string { return forge(t, forger, token) }, want: noKey},
		"unsigned":                  {token: func(token string) string { return unsigned(t, token) }, want: noKey},
		"payload changed": {token: func(token string) string {
			return swapPayload(token, forger.Mint(TokenClaims{Namespace: "kube-system"}))
		}, want: noKey},
		"not a JWT": {
			token: func(string) string { return "an access token" },
			want:  invalid("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"),
		},
		"C10 expired": {
			claims: with(func(c *TokenClaims) { c.IssuedAt, c.Expires = time.Unix(1767225600, 0), time.Unix(1767229200, 0) }),
			want:   awsAnswer{400, "ExpiredTokenException", "Token expired: current date/time NOW must be before the expiration date/time 1767229200"},
		},
		"region disabled": {
			fault: func(s *State) { s.Disabled[testRegion] = true },
			want:  awsAnswer{403, "RegionDisabledException", regionDisabled(testAccount).Message},
		},
		"throttled": {
			fault: func(s *State) { s.Throttle["AssumeRoleWithWebIdentity"] = true },
			want:  awsAnswer{400, "Throttling", "Rate exceeded"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAWSAccount(t)
			if c.fault != nil {
				a.state.Change(c.fault)
			}
			claims, role := shopDeployer, irsaARN
			if c.claims.Namespace != "" {
				claims = c.claims
			}
			if c.role != "" {
				role = c.role
			}
			token := a.oidc.Mint(claims)
			if c.token != nil {
				token = c.token(token)
			}
			_, err := a.assumeWeb(t, token, role, c.host)
			got := answerOf(err)
			got.Message = nowInMessage(got.Message)
			wantSame(t, got, c.want)
		})
	}
}

// nowInMessage replaces the server's own time.
func nowInMessage(message string) string {
	before, rest, found := strings.Cut(message, "current date/time ")
	if !found {
		return message
	}
	_, after, _ := strings.Cut(rest, " ")
	return before + "current date/time NOW " + after
}

func claimsOf(t *testing.T, token string) (*jwt.Token, jwt.MapClaims) {
	t.Helper()
	claims := jwt.MapClaims{}
	parsed, _, err := jwt.NewParser().ParseUnverified(token, claims)
	must(t, err)
	return parsed, claims
}

// forge signs the token's claims with another key under the same key id.
func forge(t *testing.T, forger *OIDC, token string) string {
	t.Helper()
	parsed, claims := claimsOf(t, token)
	forged := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	forged.Header["kid"] = parsed.Header["kid"]
	signed, err := forged.SignedString(forger.key)
	must(t, err)
	return signed
}

// unsigned is the token with the algorithm "none".
func unsigned(t *testing.T, token string) string {
	t.Helper()
	parsed, claims := claimsOf(t, token)
	bare := jwt.NewWithClaims(jwt.SigningMethodNone, claims)
	bare.Header["kid"] = parsed.Header["kid"]
	signed, err := bare.SignedString(jwt.UnsafeAllowNoneSignatureType)
	must(t, err)
	return signed
}

// A token of the right key is not enough: its key id must be one that the issuer publishes.
func TestVerifyNeedsTheKeyID(t *testing.T) {
	oidc, err := NewOIDC(testIssuer)
	must(t, err)
	_, err = oidc.verify(oidc.Mint(shopDeployer))
	must(t, err)
	rotated := *oidc
	rotated.keyID = "rotated"
	if id, err := oidc.verify(rotated.Mint(shopDeployer)); err == nil {
		t.Errorf("verified as %+v under another key id", id)
	}
}

func swapPayload(token, other string) string {
	parts, others := strings.Split(token, "."), strings.Split(other, ".")
	return parts[0] + "." + others[1] + "." + parts[2]
}

func TestMint(t *testing.T) {
	oidc, err := NewOIDC(testIssuer)
	must(t, err)
	at := time.Unix(1767225600, 0)
	_, claims := claimsOf(t, oidc.Mint(TokenClaims{Namespace: "shop", ServiceAccount: "deployer", Pod: "deployer-0", IssuedAt: at}))
	kubernetes, _ := claims["kubernetes.io"].(map[string]any)
	for _, key := range []string{"pod", "serviceaccount"} {
		named, _ := kubernetes[key].(map[string]any)
		delete(named, "uid")
	}
	delete(claims, "jti")
	wantSame(t, claims, jwt.MapClaims{
		"iss": testIssuer, "sub": "system:serviceaccount:shop:deployer", "aud": []any{"sts.amazonaws.com"},
		"iat": 1767225600.0, "nbf": 1767225600.0, "exp": 1767312000.0,
		"kubernetes.io": map[string]any{"namespace": "shop", "pod": map[string]any{"name": "deployer-0"}, "serviceaccount": map[string]any{"name": "deployer"}},
	})
}
