// Source irsa: the projected service account token of the pod, and the role it stands for.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"os"
	"regexp"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// roleShape is the IAM ARN of a role (IAM API reference: path, RoleName). The configuration's own role_arn is checked when it is loaded.
var roleShape = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/(?:[!-~]+/)?[\w+=,.@-]{1,64}$`)

// openIRSA makes no call. The token's audience and end are not judged here: an OIDC provider in IAM may list audiences of its own, and the local clock may be wrong, so STS is asked.
func openIRSA(_ context.Context, l *Login) (opened, error) {
	role := cmp.Or(l.identity.RoleARN, os.Getenv("AWS_ROLE_ARN"))
	path := cmp.Or(l.identity.TokenFile, os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"))
	if role == "" {
		return opened{}, l.fail(chain.ReasonNoCredentials, nil, nil,
			"opening the source irsa: the identity %s has no role_arn and AWS_ROLE_ARN is not set, so the pod was given no web identity", l.identity.Name)
	}
	if l.identity.RoleARN == "" && !roleShape.MatchString(role) {
		return opened{}, l.fail(chain.ReasonNoCredentials, nil, nil,
			"opening the source irsa: AWS_ROLE_ARN is %q, which is no IAM ARN of a role (arn:aws:iam::111122223333:role/NAME), so STS was not asked", chain.Redact(role))
	}
	facts := chain.Facts{chain.FactProvider: "irsa", chain.FactRoleARN: role, chain.FactRoleName: roleName(role)}
	if path == "" {
		return opened{}, l.fail(chain.ReasonWebIdentityTokenMissing, facts, nil,
			"opening the source irsa: the identity %s has no token_file and AWS_WEB_IDENTITY_TOKEN_FILE is not set", l.identity.Name)
	}
	token, err := openToken(path)
	if err != nil {
		return opened{}, err
	}
	facts = facts.Merge(token.facts())
	if len(token.claims.audience) == 0 { // no provider lists an empty audience
		refused := chain.Fail(chain.StepSTS, chain.ReasonIRSAAudienceMismatch, "the web identity token "+path+" has no audience, so no OIDC provider in IAM accepts it", facts, nil)
		return opened{refused: refused, facts: facts}, nil
	}
	return opened{web: &webIdentity{roleARN: role, token: token}, facts: facts}, nil
}
