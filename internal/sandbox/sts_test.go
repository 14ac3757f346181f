// STS as real clients see it: who the caller is, what AssumeRole takes and refuses, and the faults of the service.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
)

func TestGetCallerIdentity(t *testing.T) {
	a := newAWSAccount(t)
	for name, c := range map[string]struct {
		creds                aws.Credentials
		endpoint             string
		arn, userID, account string
	}{
		"user":                 {testUser, a.sts.URL(), userARN, "AIDAUSER", testAccount},
		"user, canonical host": {testUser, "", userARN, "AIDAUSER", testAccount},
		"session": {
			a.assume(t, deployARN, ""),
			a.sts.URL(),
			"arn:aws:sts::111122223333:assumed-role/ci-deploy/probe",
			"AROADEPLOY:probe",
			testAccount,
		},
		"session that may do naught": {
			a.assume(t, deployARN, denyAll),
			a.sts.URL(),
			"arn:aws:sts::111122223333:assumed-role/ci-deploy/probe",
			"AROADEPLOY:probe",
			testAccount,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := a.stsClient(c.creds, testRegion, c.endpoint).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
			must(t, err)
			wantSame(t, []string{*got.Arn, *got.UserId, *got.Account}, []string{c.arn, c.userID, c.account})
		})
	}
}

func TestAssumeRole(t *testing.T) {
	a := newAWSAccount(t)
	before := time.Now()
	got, err := a.stsClient(testUser, testRegion, a.sts.URL()).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String(vendorARN), RoleSessionName: aws.String("run-1"), ExternalId: aws.String("the external id"), DurationSeconds: aws.Int32(900), Policy: aws.String(denyAll),
	})
	must(t, err)
	wantSame(t, []string{*got.AssumedRoleUser.Arn, *got.AssumedRoleUser.AssumedRoleId}, []string{"arn:aws:sts::111122223333:assumed-role/vendor/run-1", "AROAVENDOR:run-1"})
	wantSame(t, *got.PackedPolicySize, int32(5)) //nolint:staticcheck // what STS still answers, and clients still read
	if life := got.Credentials.Expiration.Sub(before); life < 899*time.Second || life > 910*time.Second {
		t.Errorf("the session lives %v, want 15 minutes", life)
	}
	a.state.Change(func(s *State) { wantSame(t, s.Sessions[*got.Credentials.AccessKeyId].Policy, denyAll) })
	wantSame(t, a.state.Calls, []Call{{"sts", "AssumeRole", ""}})
}

func TestAssumeRoleRefusals(t *testing.T) {
	a := newAWSAccount(t)
	deploy, denied := a.assume(t, deployARN, ""), a.assume(t, deployARN, denyAll)
	limited := a.assume(t, deployARN, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}`)
	notAllowed := func(caller, role, suffix string) awsAnswer {
		return awsAnswer{403, "AccessDenied", "User: " + caller + " is not authorized to perform: sts:AssumeRole on resource: " + role + suffix}
	}
	invalid := func(parameter, value, rule string) awsAnswer {
		return awsAnswer{400, "ValidationError", "1 validation error detected: Value '" + value + "' at '" + parameter + "' failed to satisfy constraint: Member must " + rule}
	}
	const deploySession = "arn:aws:sts::111122223333:assumed-role/ci-deploy/probe"
	for name, c := range map[string]struct {
		creds aws.Credentials // the user's when zero
		input sts.AssumeRoleInput
		want  awsAnswer
	}{
		"no such role": {
			input: sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::111122223333:role/gone")},
			want:  notAllowed(userARN, "arn:aws:iam::111122223333:role/gone", ""),
		},
		"principal not trusted": {
			input: sts.AssumeRoleInput{RoleArn: aws.String(nextARN)},
			want:  notAllowed(userARN, nextARN, ""),
		},
		"web identity role": {
			input: sts.AssumeRoleInput{RoleArn: aws.String(irsaARN)},
			want:  notAllowed(userARN, irsaARN, ""),
		},
		"path left out": {
			creds: deploy,
			input: sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::111122223333:role/next")},
			want:  notAllowed(deploySession, "arn:aws:iam::111122223333:role/next", ""),
		},
		"C14 no external id": {
			input: sts.AssumeRoleInput{RoleArn: aws.String(vendorARN)},
			want:  notAllowed(userARN, vendorARN, ""),
		},
		"another external id": {
			input: sts.AssumeRoleInput{RoleArn: aws.String(vendorARN), ExternalId: aws.String("another")},
			want:  notAllowed(userARN, vendorARN, ""),
		},
		"session denied": {
			creds: denied,
			input: sts.AssumeRoleInput{RoleArn: aws.String(nextARN)},
			want:  notAllowed(deploySession, nextARN, " with an explicit deny in a session policy"),
		},
		"session not allowed": {
			creds: limited,
			input: sts.AssumeRoleInput{RoleArn: aws.String(nextARN)},
			want:  notAllowed(deploySession, nextARN, " because no session policy allows the sts:AssumeRole action"),
		},
		"too short": {
			input: sts.AssumeRoleInput{DurationSeconds: aws.Int32(899)},
			want:  invalid("durationSeconds", "899", "have value greater than or equal to 900"),
		},
		"too long for anyone": {
			input: sts.AssumeRoleInput{DurationSeconds: aws.Int32(43201)},
			want:  invalid("durationSeconds", "43201", "have value less than or equal to 43200"),
		},
		"too long for the role": {
			input: sts.AssumeRoleInput{DurationSeconds: aws.Int32(7201)},
			want:  awsAnswer{400, "ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."},
		},
		"too long for a chain": {
			creds: deploy,
			input: sts.AssumeRoleInput{RoleArn: aws.String(nextARN), DurationSeconds: aws.Int32(3601)},
			want:  awsAnswer{400, "ValidationError", "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining"},
		},
		"short session name": {
			input: sts.AssumeRoleInput{RoleSessionName: aws.String("x")},
			want:  invalid("roleSessionName", "x", "have length greater than or equal to 2"),
		},
		"long session name": {
			input: sts.AssumeRoleInput{RoleSessionName: aws.String(strings.Repeat("x", 65))},
			want:  invalid("roleSessionName", strings.Repeat("x", 65), "have length less than or equal to 64"),
		},
		"blank in session name": {
			input: sts.AssumeRoleInput{RoleSessionName: aws.String("a b")},
			want:  invalid("roleSessionName", "a b", `satisfy regular expression pattern: [\w+=,.@-]*`),
		},
		"short role": {
			input: sts.AssumeRoleInput{RoleArn: aws.String("role")},
			want:  invalid("roleArn", "role", "have length greater than or equal to 20"),
		},
		"not a role": {
			input: sts.AssumeRoleInput{RoleArn: aws.String(userARN)},
			want:  awsAnswer{400, "ValidationError", userARN + " is invalid"},
		},
		"policy is not JSON": {
			input: sts.AssumeRoleInput{Policy: aws.String("allow all")},
			want:  awsAnswer{400, "MalformedPolicyDocument", "This policy contains invalid Json"},
		},
		"policy is too large": {
			input: sts.AssumeRoleInput{Policy: aws.String(strings.Repeat(" ", 2100))},
			want:  awsAnswer{400, "PackedPolicyTooLarge", "Packed policy consumes 103% of allotted space, please use smaller policy."},
		},
		"role of the other side": {
			input: sts.AssumeRoleInput{RoleArn: aws.String("arn:aws-cn:iam::111122223333:role/ci-deploy")},
			want:  notAllowed(userARN, "arn:aws-cn:iam::111122223333:role/ci-deploy", ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			creds, input := testUser, c.input
			if c.creds.AccessKeyID != "" {
				creds = c.creds
			}
			if input.RoleArn == nil {
				input.RoleArn = aws.String(deployARN)
			}
			if input.RoleSessionName == nil {
				input.RoleSessionName = aws.String("probe")
			}
			_, err := a.stsClient(creds, testRegion, a.sts.URL()).AssumeRole(t.Context(), &input)
			wantAnswer(t, err, c.want)
		})
	}
}

// TestRoleChain proves that a role behind a path trusts by the caller's role, and that a chained session may last its hour.
func TestRoleChain(t *testing.T) {
	a := newAWSAccount(t)
	got, err := a.stsClient(a.assume(t, deployARN, ""), testRegion, a.sts.URL()).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String(nextARN), RoleSessionName: aws.String("probe"), DurationSeconds: aws.Int32(3600),
	})
	must(t, err)
	wantSame(t, *got.AssumedRoleUser.Arn, "arn:aws:sts::111122223333:assumed-role/next/probe")
}

func TestServiceFaults(t *testing.T) {
	disabled := awsAnswer{403, "RegionDisabledException", "STS is not activated in this region for account:111122223333. Your account administrator can activate STS in this region using the IAM Console."}
	for name, c := range map[string]struct {
		fault    func(*State)
		want     awsAnswer
		recorded []Call
	}{
		"throttled": {
			func(s *State) { s.Throttle["AssumeRole"] = true },
			awsAnswer{400, "Throttling", "Rate exceeded"},
			[]Call{{"sts", "AssumeRole", "Throttling"}},
		},
		"failing": {
			func(s *State) { s.Failing["AssumeRole"] = true },
			awsAnswer{500, "InternalFailure", errInternal.Message},
			[]Call{{"sts", "AssumeRole", "InternalFailure"}},
		},
		"disabled": {
			func(s *State) { s.Disabled[testRegion] = true },
			disabled,
			[]Call{{"sts", "AssumeRole", "RegionDisabledException"}},
		},
		"off": {func(s *State) { s.Off["sts"] = true }, awsAnswer{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAWSAccount(t)
			a.state.Change(c.fault)
			_, err := a.stsClient(testUser, testRegion, a.sts.URL()).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String(deployARN), RoleSessionName: aws.String("probe")})
			wantAnswer(t, err, c.want)
			wantSame(t, a.state.Calls, c.recorded)
		})
	}
}

func TestRegionDisabledIsModelled(t *testing.T) {
	a := newAWSAccount(t)
	a.state.Change(func(s *State) { s.Disabled[testRegion] = true })
	_, err := a.stsClient(testUser, testRegion, a.sts.URL()).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String(deployARN), RoleSessionName: aws.String("probe")})
	if target := (*types.RegionDisabledException)(nil); !errors.As(err, &target) {
		t.Errorf("the SDK reads %T, want its RegionDisabledException", err)
	}
}

// TestConcurrentCalls changes the account while clients ask; the race detector is the judge, and every call is recorded once.
func TestConcurrentCalls(t *testing.T) {
	const clients = 8
	a := newAWSAccount(t)
	a.state.Change(func(s *State) { s.Clusters["prod"] = testCluster("prod") })
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			_, err := a.stsClient(testUser, testRegion, a.sts.URL()).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String(deployARN), RoleSessionName: aws.String("probe")})
			if err != nil {
				t.Error(err)
			}
			_, err = a.eksClient(testUser, testRegion).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("prod")})
			if err != nil {
				t.Error(err)
			}
		})
		a.state.Change(func(s *State) {
			s.Roles[deployARN].Trust[0].Principals[0] = userARN
			s.Clusters["prod"].CAPEM = append(s.Clusters["prod"].CAPEM, '\n')
		})
	}
	running.Wait()
	wantSame(t, []int{a.state.Count("AssumeRole"), a.state.Count("DescribeCluster")}, []int{clients, clients})
}

func TestSweepForgetsLongEndedSessions(t *testing.T) {
	state := NewState()
	state.Sessions["for ever"] = &Session{}
	state.Sessions["running"] = &Session{Expires: time.Now().Add(time.Minute)}
	state.Sessions["just ended"] = &Session{Expires: time.Now().Add(-59 * time.Minute)}
	state.Sessions["long ended"] = &Session{Expires: time.Now().Add(-61 * time.Minute)}
	state.sweep()
	wantSame(t, slices.Sorted(maps.Keys(state.Sessions)), []string{"for ever", "just ended", "running"})
	wantSame(t, state.sweepAt, minSweep)
}

// TestWireShapes reads the bytes that no SDK shows.
func TestWireShapes(t *testing.T) {
	a := newAWSAccount(t)
	for name, c := range map[string]struct {
		form, accept string
		status       int
		contentType  string
		body         string // ID stands for the request's id
	}{
		"identity": {
			form: "Action=GetCallerIdentity&Version=2011-06-15", status: 200, contentType: "text/xml",
			body: `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <GetCallerIdentityResult>
    <Arn>arn:aws:iam::111122223333:user/ci</Arn>
    <UserId>AIDAUSER</UserId>
    <Account>111122223333</Account>
  </GetCallerIdentityResult>
  <ResponseMetadata>
    <RequestId>ID</RequestId>
  </ResponseMetadata>
</GetCallerIdentityResponse>
`,
		},
		"identity in JSON": {
			form: "Action=GetCallerIdentity&Version=2011-06-15", accept: "application/json", status: 200, contentType: "application/json",
			body: `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":"arn:aws:iam::111122223333:user/ci","UserId":"AIDAUSER","Account":"111122223333"},"ResponseMetadata":{"RequestId":"ID"}}}`,
		},
		"unknown action": {
			form: "Action=Dance&Version=2011-06-15", status: 400, contentType: "text/xml",
			body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <Error>
    <Type>Sender</Type>
    <Code>InvalidAction</Code>
    <Message>Could not find operation Dance for version 2011-06-15</Message>
  </Error>
  <RequestId>ID</RequestId>
</ErrorResponse>
`,
		},
		"unknown action in JSON": {
			form: "Action=Dance&Version=2011-06-15", accept: "application/json", status: 400, contentType: "application/json",
			body: `{"Error":{"Type":"Sender","Code":"InvalidAction","Message":"Could not find operation Dance for version 2011-06-15"},"RequestId":"ID"}`,
		},
		"duration in words": {
			form: "Action=AssumeRole&Version=2011-06-15&RoleSessionName=probe&RoleArn=" + deployARN + "&DurationSeconds=long", accept: "application/json", status: 400, contentType: "application/json",
			body: `{"Error":{"Type":"Sender","Code":"MalformedInput","Message":"DurationSeconds is not a number"},"RequestId":"ID"}`,
		},
		"damaged form": {
			form: "Action=%zz", accept: "application/json", status: 400, contentType: "application/json",
			body: `{"Error":{"Type":"Sender","Code":"MalformedQueryString","Message":"The query string contains a syntax error."},"RequestId":"ID"}`,
		},
		"too large": {
			form: strings.Repeat("x", maxAWSBody+1), accept: "application/json", status: 413, contentType: "application/json",
			body: `{"Error":{"Type":"Sender","Code":"RequestEntityTooLarge","Message":"Request body is too large or was cut short."},"RequestId":"ID"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := signedRequest(t, a.sts.URL(), c.form)
			if c.accept != "" {
				r.Header.Set("Accept", c.accept)
			}
			response, body := a.do(t, r)
			id := response.Header.Get("X-Amzn-Requestid")
			if len(id) != 36 {
				t.Errorf("the request's id is %q", id)
			}
			got := []any{response.StatusCode, response.Header.Get("Content-Type"), strings.ReplaceAll(body, id, "ID")}
			wantSame(t, got, []any{c.status, c.contentType, c.body})
		})
	}
}
