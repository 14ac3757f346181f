// Who is believed: the clock's window, the credential scope, and every refusal as the SDK reads it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func TestCheckDate(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 20, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		date, day, want string
	}{
		"now":                 {date: "20260101T002000Z"},
		"fifteen minutes old": {date: "20260101T000500Z"},
		"five minutes ahead":  {date: "20260101T002500Z"},
		"older": {
			date: "20260101T000000Z",
			want: "Signature expired: 20260101T000000Z is now earlier than 20260101T000500Z (20260101T002000Z - 15 min.)",
		},
		"further ahead": {
			date: "20260101T003000Z",
			want: "Signature not yet current: 20260101T003000Z is still later than 20260101T002500Z (20260101T002000Z + 5 min.)",
		},
		"another day's scope": {
			date: "20260101T002000Z", day: "20251231",
			want: "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20251231' != '20260101', from '20260101T002000Z'.",
		},
		"not a date": {date: "yesterday", want: errIncompleteSignature.Message},
	} {
		t.Run(name, func(t *testing.T) {
			claim, got := sigClaim{date: c.date, day: "20260101"}, ""
			if c.day != "" {
				claim.day = c.day
			}
			if fault := claim.checkDate(now); fault != nil {
				got = fault.Message
			}
			wantSame(t, got, c.want)
		})
	}
}

func TestCheckScope(t *testing.T) {
	for name, c := range map[string]struct {
		host   string
		change func(*sigClaim)
		want   string
	}{
		"loopback":      {host: "127.0.0.1:1"},
		"regional host": {host: "sts.eu-west-1.amazonaws.com:443"},
		"China":         {host: "sts.cn-north-1.amazonaws.com.cn", change: func(c *sigClaim) { c.region = "cn-north-1" }},
		"global host":   {host: "sts.amazonaws.com", change: func(c *sigClaim) { c.region = "us-east-1" }},
		"global host, scoped": {
			host: "sts.amazonaws.com",
			want: "Credential should be scoped to a valid region, not 'eu-west-1'.",
		},
		"no such region": {
			host:   "127.0.0.1:1",
			change: func(c *sigClaim) { c.region = "x" },
			want:   "Credential should be scoped to a valid region, not 'x'.",
		},
		"service": {
			host:   "127.0.0.1:1",
			change: func(c *sigClaim) { c.service = "s3" },
			want:   "Credential should be scoped to correct service: 'sts'.",
		},
		"terminator": {
			host:   "127.0.0.1:1",
			change: func(c *sigClaim) { c.end = "aws5" },
			want:   "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5'.",
		},
		"host not signed": {
			host:   "127.0.0.1:1",
			change: func(c *sigClaim) { c.headers = []string{"x-amz-date"} },
			want:   "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			claim, got := sigClaim{region: testRegion, service: "sts", end: sigTerminator, headers: []string{"host"}}, ""
			if c.change != nil {
				c.change(&claim)
			}
			if fault := claim.checkScope(c.host, "sts"); fault != nil {
				got = fault.Message
			}
			wantSame(t, got, c.want)
		})
	}
}

// rescope signs with another service or moment than the SDK would.
type rescope struct {
	service string
	shift   time.Duration
}

//nolint:revive // the SDK's interface has eight parameters
func (s rescope) SignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, at time.Time, options ...func(*v4.SignerOptions)) error {
	if s.service != "" {
		service = s.service
	}
	return v4.NewSigner().SignHTTP(ctx, c, r, hash, service, region, at.Add(s.shift), options...)
}

func TestSignatureRefusals(t *testing.T) {
	a := newAWSAccount(t)
	session, ended := a.assume(t, deployARN, ""), a.assume(t, deployARN, "")
	a.state.Change(func(s *State) { s.Sessions[ended.AccessKeyID].Expires = time.Now().Add(-time.Second) })
	with := func(c aws.Credentials, change func(*aws.Credentials)) aws.Credentials { change(&c); return c }
	invalid := awsAnswer{403, "InvalidClientTokenId", "The security token included in the request is invalid."}
	mismatch := awsAnswer{403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. " +
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details."}
	for name, c := range map[string]struct {
		creds            aws.Credentials
		region, endpoint string // the endpoint is loopback when ""
		signer           rescope
		want             awsAnswer
	}{
		"no credentials": {
			creds: aws.Credentials{},
			want:  awsAnswer{403, "MissingAuthenticationToken", "Request is missing Authentication Token"},
		},
		"unknown key": {
			creds: with(testUser, func(c *aws.Credentials) { c.AccessKeyID = "AKIANOBODY" }),
			want:  invalid,
		},
		"user key with a token": {
			creds: with(testUser, func(c *aws.Credentials) { c.SessionToken = session.SessionToken }),
			want:  invalid,
		},
		"session without its token": {creds: with(session, func(c *aws.Credentials) { c.SessionToken = "" }), want: invalid},
		"session with another token": {
			creds: with(session, func(c *aws.Credentials) { c.SessionToken = ended.SessionToken }),
			want:  invalid,
		},
		"key of another partition": {creds: testUser, region: "cn-north-1", want: invalid},
		"wrong secret": {
			creds: with(testUser, func(c *aws.Credentials) { c.SecretAccessKey = "x" }),
			want:  mismatch,
		},
		"ended session": {
			creds: ended,
			want:  awsAnswer{403, "ExpiredToken", "The security token included in the request is expired"},
		},
		"C20 region at the global host": {
			creds: testUser, endpoint: "https://sts.amazonaws.com",
			want: awsAnswer{403, "SignatureDoesNotMatch", "Credential should be scoped to a valid region, not 'eu-west-1'."},
		},
		"region at another region's host": {
			creds: testUser, endpoint: "https://sts.us-east-2.amazonaws.com",
			want: awsAnswer{403, "SignatureDoesNotMatch", "Credential should be scoped to a valid region, not 'eu-west-1'."},
		},
		"no such region": {
			creds:  testUser,
			region: "lab-1",
			want:   awsAnswer{403, "SignatureDoesNotMatch", "Credential should be scoped to a valid region, not 'lab-1'."},
		},
		"another service": {
			creds: testUser, signer: rescope{service: "eks"},
			want: awsAnswer{403, "SignatureDoesNotMatch", "Credential should be scoped to correct service: 'sts'."},
		},
		"C22 slow clock": {
			creds:  testUser,
			signer: rescope{shift: -17 * time.Minute},
			want:   awsAnswer{403, "SignatureDoesNotMatch", "Signature expired: "},
		},
		"C23 fast clock": {
			creds:  testUser,
			signer: rescope{shift: 7 * time.Minute},
			want:   awsAnswer{403, "SignatureDoesNotMatch", "Signature not yet current: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			region, endpoint := testRegion, a.sts.URL()
			if c.region != "" {
				region = c.region
			}
			if c.endpoint != "" {
				endpoint = c.endpoint
			}
			client := a.stsClient(c.creds, region, endpoint, func(o *sts.Options) { o.HTTPSignerV4 = c.signer })
			_, err := client.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String(deployARN), RoleSessionName: aws.String("probe")})
			got := answerOf(err)
			if prefix := c.want.Message; strings.HasSuffix(prefix, ": ") && strings.HasPrefix(got.Message, prefix) {
				got.Message = prefix // the instants are TestCheckDate's
			}
			wantSame(t, got, c.want)
		})
	}
}

// TestSkewedAccount moves the account's clock instead of the client's: both ends of the window, and the Date header that tells the skew.
func TestSkewedAccount(t *testing.T) {
	a := newAWSAccount(t)
	for name, c := range map[string]struct {
		shift time.Duration
		want  string // the message's beginning; "" for success
	}{
		"we are slow":           {16 * time.Minute, "Signature expired: "},
		"we are a little slow":  {14 * time.Minute, ""},
		"we are a little ahead": {-4 * time.Minute, ""},
		"we are ahead":          {-6 * time.Minute, "Signature not yet current: "},
	} {
		t.Run(name, func(t *testing.T) {
			a.state.ShiftClock(c.shift)
			response, body := a.do(t, signedRequest(t, a.sts.URL(), "Action=GetCallerIdentity&Version=2011-06-15"))
			if !strings.Contains(body, "<Message>"+c.want) && c.want != "" || (response.StatusCode == http.StatusOK) != (c.want == "") {
				t.Errorf("%s: %s\nwant %q", response.Status, body, c.want)
			}
			date, err := http.ParseTime(response.Header.Get("Date"))
			must(t, err)
			if skew := time.Until(date) - c.shift; skew.Abs() > 5*time.Second {
				t.Errorf("the Date header is off the account's clock by %v", skew)
			}
		})
	}
}
