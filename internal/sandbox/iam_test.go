// IAM as the SDK reads it, and its refusals.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// iamClient is the SDK's client of a running IAM, with a user's or session's key.
func (a *awsAccount) iamClient(t *testing.T, c aws.Credentials) *iam.Client {
	t.Helper()
	server, err := NewIAM(a.state, a.ca)
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	return iam.New(iam.Options{
		Region: testRegion, BaseEndpoint: aws.String(server.URL()), HTTPClient: a.http, Retryer: aws.NopRetryer{},
		Credentials: provider(c),
	})
}

func TestIAM(t *testing.T) {
	made := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	role := func(name string) func(*testing.T, *iam.Client) (string, time.Time, error) {
		return func(t *testing.T, client *iam.Client) (string, time.Time, error) {
			out, err := client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name})
			if err != nil {
				return "", time.Time{}, err
			}
			return *out.Role.RoleId, *out.Role.CreateDate, nil
		}
	}
	user := func(t *testing.T, client *iam.Client) (string, time.Time, error) {
		out, err := client.GetUser(t.Context(), &iam.GetUserInput{UserName: aws.String("ci")})
		if err != nil {
			return "", time.Time{}, err
		}
		return *out.User.UserId, *out.User.CreateDate, nil
	}
	for name, test := range map[string]struct {
		change func(*State)
		policy string // of the session that asks
		ask    func(*testing.T, *iam.Client) (string, time.Time, error)
		id     string
		made   time.Time
		want   awsAnswer
	}{
		"a role":             {ask: role("ci-deploy"), id: "AROADEPLOY", made: made},
		"a role with a path": {ask: role("next"), id: "AROANEXT", made: longAgo},
		"a user":             {ask: user, id: "AIDAUSER", made: longAgo},
		"nobody":             {ask: role("gone"), want: awsAnswer{http.StatusNotFound, "NoSuchEntity", "The role with name gone cannot be found."}},
		"a role of another account": {ask: role("far"), want: awsAnswer{http.StatusNotFound, "NoSuchEntity", "The role with name far cannot be found."},
			change: func(s *State) {
				s.Roles["arn:aws:iam::444455556666:role/far"] = &Role{ARN: "arn:aws:iam::444455556666:role/far", RoleID: "AROAFAR"}
			}},
		"not allowed": {ask: role("ci-deploy"), change: func(s *State) { s.Roles[deployARN].ReadsIAM = false }, want: awsAnswer{http.StatusForbidden, "AccessDenied",
			"User: arn:aws:sts::111122223333:assumed-role/ci-deploy/probe is not authorized to perform: iam:GetRole on resource: role ci-deploy because no identity-based policy allows the iam:GetRole action"}},
		"a session that may do naught": {ask: role("ci-deploy"), policy: denyAll, want: awsAnswer{http.StatusForbidden, "AccessDenied",
			"User: arn:aws:sts::111122223333:assumed-role/ci-deploy/probe is not authorized to perform: iam:GetRole on resource: role ci-deploy because no identity-based policy allows the iam:GetRole action"}},
		"throttled": {ask: role("ci-deploy"), change: func(s *State) { s.Throttle["GetRole"] = true }, want: awsAnswer{http.StatusBadRequest, "Throttling", "Rate exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAWSAccount(t)
			a.state.Change(func(s *State) {
				s.Roles[deployARN].ReadsIAM, s.Roles[deployARN].Created = true, made
				if test.change != nil {
					test.change(s)
				}
			})
			id, created, err := test.ask(t, a.iamClient(t, a.assume(t, deployARN, test.policy)))
			if test.want != (awsAnswer{}) {
				wantAnswer(t, err, test.want)
				return
			}
			must(t, err)
			wantSame(t, []any{id, created.UTC()}, []any{test.id, test.made})
		})
	}
}

func TestIAMKnowsNothingElse(t *testing.T) {
	a := newAWSAccount(t)
	_, err := a.iamClient(t, testUser).ListRoles(t.Context(), &iam.ListRolesInput{})
	wantAnswer(t, err, awsAnswer{http.StatusBadRequest, "InvalidAction", "Could not find operation ListRoles for version 2010-05-08"})
	_, err = a.iamClient(t, aws.Credentials{AccessKeyID: "AKIANOBODY", SecretAccessKey: "x"}).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("ci-deploy")})
	wantAnswer(t, err, awsAnswer{errInvalidToken.Status, errInvalidToken.Code, errInvalidToken.Message})
}
