// Faults of the credentials that a run starts with, and of what becomes of the token that they sign.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// presignedIdentity is how the authenticator's call is recorded, and named in State.Refuse.
const presignedIdentity = presignedCall + "GetCallerIdentity"

var keyFaults = []Fault{
	failing(chain.StepCredentials, chain.ReasonRegionUnset, Fault{Name: "region-unset", Target: deployTarget, Meaning: "nobody says in which region the cluster is", Adjust: func(t *chain.Target) {
		t.Cluster.Region = ""
	}}),
	failing(chain.StepCredentials, chain.ReasonProfileInvalid, Fault{Name: "profile-missing", Target: runnerTarget, Meaning: "the profile is in none of the shared files", apply: func(s *Scene) error {
		s.Config = strings.Replace(s.Config, "source: environment", "source: profile\n    profile: ci", 1)
		return nil
	}}),
}

var sessionFaults = []Fault{
	failing(chain.StepSTS, chain.ReasonIRSAAudienceMismatch, Fault{Name: "irsa-audience", Target: deployTarget, Meaning: "the projected token has an audience that the identity provider does not list", apply: func(s *Scene) error {
		return s.WriteToken(TokenClaims{Audience: []string{"vault"}})
	}}),
	failing(chain.StepSTS, chain.ReasonSTSWrongPartition, Fault{Name: "sts-wrong-partition", Target: deployTarget, Meaning: "the role to assume is of another partition", Adjust: func(t *chain.Target) {
		t.Identity.Hops = []chain.Hop{{RoleARN: "arn:aws-cn:iam::" + SceneAccount + ":role/ci-deploy"}}
	}}),
	failing(chain.StepSTS, chain.ReasonSTSRegionScopeMismatch, Fault{Name: "sts-region-scope", Target: runnerTarget, Meaning: "AWS_ENDPOINT_URL_STS is the endpoint of another region", apply: state(func(s *State) {
		s.Refuse["GetCallerIdentity"] = Refusal{"SignatureDoesNotMatch", "Credential should be scoped to a valid region, not '" + SceneRegion + "'."}
	})}),
	failing(chain.StepSTS, chain.ReasonSessionTokenRegionInvalid, Fault{Name: "session-token-region", Target: runnerTarget, Meaning: "the session is of the global endpoint, and the region does not take it", apply: func(s *Scene) error {
		s.runnerSession(Session{SessionToken: "SCENEGLOBALSESSION", Expires: time.Now().Add(time.Hour), Region: "us-east-1"})
		return nil
	}}),
	failing(chain.StepSTS, chain.ReasonCredentialsExpired, Fault{Name: "session-expired", Target: runnerTarget, Meaning: "the session in the environment has ended", apply: func(s *Scene) error {
		s.runnerSession(Session{SessionToken: "SCENEENDEDSESSION", Expires: time.Now().Add(-time.Minute)})
		return nil
	}}),
}

var presignedFaults = []Fault{
	failing(chain.StepToken, chain.ReasonTokenMalformed, Fault{Name: "token-too-long", Target: runnerTarget, Meaning: "the session's tags make its token longer than the authenticator takes", apply: func(s *Scene) error {
		s.runnerSession(Session{SessionToken: "SCENELONG" + strings.Repeat("x", 4096), Expires: time.Now().Add(time.Hour)})
		return nil
	}}),
	failing(chain.StepToken, chain.ReasonTokenSigningCredentialsExpired, Fault{Name: "session-ended", Target: deployTarget, Marks: "✔✔✖✔··", Meaning: "the session ends between the signature and its use", apply: refusePresigned(
		"ExpiredToken", "The security token included in the request is expired")}),
	failing(chain.StepToken, chain.ReasonTokenExpired, Fault{Name: "token-expired", Target: deployTarget, Marks: "✔✔✖✔··", Meaning: "the machine was suspended after it signed, and STS finds the token too old", apply: refusePresigned(
		"SignatureDoesNotMatch", "Signature expired: 20260101T000000Z is now earlier than 20260101T000100Z (20260101T001600Z - 15 min.)")}),
	failing(chain.StepToken, chain.ReasonTokenNotSent, Fault{Name: "token-dropped", Target: deployTarget, Marks: "✔✔✖✔··", Meaning: "a proxy before the apiserver takes the Authorization header away", apply: cluster("prod", func(c *Cluster) {
		c.Fault.DropsToken = true
	})}),
	failing(chain.StepAccessEntry, chain.ReasonClockSkewPresigned, Fault{Name: "presigned-too-early", Target: deployTarget, Meaning: "STS as the authenticator meets it has another clock than the prober's", apply: refusePresigned(
		"SignatureDoesNotMatch", "Signature not yet current: 20260101T000600Z is still later than 20260101T000500Z (20260101T000000Z + 5 min.)")}),
	unsure(chain.StepToken, chain.ReasonReadFailed, Fault{Name: "ca-file-gone", Target: deployTarget, Marks: "✔✔?···", Meaning: "ca_file was removed after the configuration was read", Adjust: func(t *chain.Target) {
		t.Cluster.CAFile = "gone-ca.pem"
	}}),
}

// refusePresigned makes STS refuse the presigned URL in the token, whoever presents it.
func refusePresigned(code, message string) func(*Scene) error {
	return state(func(s *State) { s.Refuse[presignedIdentity] = Refusal{code, message} })
}

// runnerSession puts a session of the runner into its environment, as GetSessionToken would give it.
func (s *Scene) runnerSession(session Session) {
	session.AccessKeyID, session.SecretKey = "ASIASCENERUNNER00001", "secret-of-a-session-0123456789abcdef"
	session.ARN, session.UserID, session.AccountID = mappedRunner, "AIDASCENEci-runner", SceneAccount
	s.State.Change(func(st *State) { st.Sessions[session.AccessKeyID] = &session })
	s.Env["AWS_ACCESS_KEY_ID"], s.Env["AWS_SECRET_ACCESS_KEY"], s.Env["AWS_SESSION_TOKEN"] = session.AccessKeyID, session.SecretKey, session.SessionToken
}
