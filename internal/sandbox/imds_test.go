// The metadata service, asked by the SDK's own client and by hand.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const nodeARN = "arn:aws:iam::" + testAccount + ":role/fleet/node"

func newInstance(t *testing.T) (*awsAccount, *IMDS) {
	t.Helper()
	a := newAWSAccount(t)
	a.state.Roles[nodeARN] = &Role{ARN: nodeARN, RoleID: "AROANODE", MaxSession: 6 * time.Hour, Trust: []Trust{{Principals: []string{ec2Principal}}}}
	a.state.Instance = Instance{ID: "i-0123456789abcdef0", RoleARN: nodeARN}
	service, err := NewIMDS(a.state)
	must(t, err)
	t.Cleanup(func() { must(t, service.Close()) })
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL())
	return a, service
}

func TestInstanceRole(t *testing.T) {
	a, service := newInstance(t)
	found, err := ec2rolecreds.New().Retrieve(t.Context())
	must(t, err)
	who, err := a.stsClient(found, testRegion, a.sts.URL()).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	must(t, err)
	wantSame(t, *who.Arn, "arn:aws:sts::111122223333:assumed-role/node/i-0123456789abcdef0")
	wantSame(t, len(service.Tokens()), 1)
	http.DefaultClient.CloseIdleConnections()

	a.state.Change(func(s *State) { s.Roles[nodeARN].Trust = nil })
	_, err = ec2rolecreds.New().Retrieve(t.Context())
	wantSame(t, answerOf(err).Code, "AssumeRoleUnauthorizedAccess")
	a.state.Change(func(s *State) { s.Instance.RoleARN = "" })
	_, err = ec2rolecreds.New().Retrieve(t.Context())
	wantSame(t, answerOf(err).Status, 404)
}

func (a *awsAccount) metadata(t *testing.T, method, url string, headers ...string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	must(t, err)
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response, body := a.do(t, request)
	return response.StatusCode, body
}

func TestMetadataVersion2Alone(t *testing.T) {
	a, service := newInstance(t)
	put := func(headers ...string) (int, string) {
		return a.metadata(t, http.MethodPut, service.URL()+imdsTokenPath, headers...)
	}
	status, token := put(imdsTTL, "60")
	wantSame(t, status, 200)
	get := func(path string, headers ...string) int {
		status, _ := a.metadata(t, http.MethodGet, service.URL()+path, headers...)
		return status
	}
	statusOf := func(status int, _ string) int { return status }
	for name, c := range map[string]struct{ got, want int }{
		"no token":            {get(imdsRolePath), 401},
		"another token":       {get(imdsRolePath, imdsToken, "x"), 401},
		"the role":            {get(imdsRolePath, imdsToken, token), 200},
		"its credentials":     {get(imdsRolePath+"node", imdsToken, token), 200},
		"another role":        {get(imdsRolePath+"other", imdsToken, token), 404},
		"something else":      {get("/latest/meta-data/hostname", imdsToken, token), 404},
		"no TTL":              {statusOf(put()), 400},
		"too long":            {statusOf(put(imdsTTL, "21601")), 400},
		"forwarded":           {statusOf(put(imdsTTL, "60", "X-Forwarded-For", "10.0.0.1")), 403},
		"a method of no kind": {statusOf(a.metadata(t, http.MethodPost, service.URL()+imdsRolePath, imdsToken, token)), 405},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, c.got, c.want) })
	}
	a.state.ShiftClock(61 * time.Second)
	wantSame(t, get(imdsRolePath, imdsToken, token), 401)
	a.state.Change(func(s *State) { s.Instance.MetadataOff = true })
	wantSame(t, statusOf(put(imdsTTL, "60")), 403)
}

// A hop limit of 1: the request comes in, and its answer does not come back.
func TestHopLimit(t *testing.T) {
	a, service := newInstance(t)
	a.state.Instance.HopLimited = true
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, service.URL()+imdsTokenPath, strings.NewReader(""))
	must(t, err)
	request.Header.Set(imdsTTL, "60")
	response, err := a.http.Do(request)
	if err == nil {
		must(t, response.Body.Close())
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
