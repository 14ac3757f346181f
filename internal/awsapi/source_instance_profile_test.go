// The source instance_profile against a metadata service on loopback: version 2 or nothing.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

const nodeARN = "arn:aws:iam::" + account + ":role/fleet/node"

// instance starts the metadata service of an instance with a role; AWS_EC2_METADATA_DISABLED is true in every test.
func (w *world) instance() chain.Identity {
	w.t.Helper()
	service, err := sandbox.NewIMDS(w.state)
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, service.Close()) })
	w.state.Change(func(s *sandbox.State) {
		s.Instance = sandbox.Instance{ID: "i-0123456789abcdef0", RoleARN: nodeARN}
		s.Roles[nodeARN] = &sandbox.Role{ARN: nodeARN, RoleID: "AROANODE", MaxSession: 6 * time.Hour, Trust: []sandbox.Trust{{Principals: []string{"ec2.amazonaws.com"}}}}
	})
	w.at(service.URL())
	return chain.Identity{Name: "node", Source: chain.SourceInstanceProfile, SessionPolicy: chain.SessionPolicyDenyAll}
}

// at makes a client whose metadata service is somewhere else.
func (w *world) at(url string) {
	w.t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
	w.client = w.newClient(func(*Options) {})
}

func TestInstanceProfile(t *testing.T) {
	w := newWorld(t)
	identity := w.instance()
	w.key() // static keys do not beat the source
	login := w.login(identity)
	facts := login.Facts()
	wantSame(t, []string{facts[chain.FactProvider], facts[chain.FactRoleName]}, []string{"instance_profile", "node"})
	wantNoSecret(t, "", facts)
	session, err := login.Assume(t.Context())
	must(t, err)
	if left := time.Until(session.Expires()); left < 5*time.Hour {
		t.Errorf("the session ends in %s, which is not the instance's own end", left)
	}
	principal, err := session.Caller(t.Context())
	must(t, err)
	wantSame(t, principal.ARN, "arn:aws:sts::"+account+":assumed-role/node/i-0123456789abcdef0")
	must(t, w.signIn(identity))
	wantSame(t, w.state.Count("IMDSPUT"), 2) // nothing is kept from run to run
	wantSame(t, w.seen.requests[:4], []string{"ec2imds getToken ok", "ec2imds GetMetadata ok", "ec2imds GetMetadata ok", "sts GetCallerIdentity ok"})
}

func TestInstanceProfileThenAHop(t *testing.T) {
	w := newWorld(t)
	identity := w.instance()
	identity.Hops = []chain.Hop{{RoleARN: deployARN}}
	e := wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonAssumeRoleDenied))
	wantText(t, e.Detail, "(hop 2 of 2)", "sts:AssumeRole on resource: "+deployARN)
	w.state.Change(func(s *sandbox.State) {
		s.Roles[deployARN].Trust = []sandbox.Trust{{Principals: []string{nodeARN}, Untagged: true}}
	})
	must(t, w.signIn(identity)) // an instance's session has no tags
}

func TestInstanceProfileRefusals(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*sandbox.State)
		want   verdict
		detail []string
	}{
		"no profile": {func(s *sandbox.State) { s.Instance.RoleARN = "" }, failure(chain.StepCredentials, chain.ReasonInstanceProfileMissing),
			[]string{"asked for the role's name: HTTP 404", "the instance has no profile"}},
		"turned off": {func(s *sandbox.State) { s.Instance.MetadataOff = true }, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable),
			[]string{"asked for a token (PUT): HTTP 403", "it is turned off"}},
		"drops the connection": {func(s *sandbox.State) { s.Off["imds"] = true }, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), []string{"asked for a token (PUT): no answer, while"}},
		"EC2 may not assume the role": {func(s *sandbox.State) { s.Roles[nodeARN].Trust = nil }, failure(chain.StepSTS, chain.ReasonAssumeRoleDenied),
			[]string{"hop 1 of 1, the instance's role node", "AssumeRoleUnauthorizedAccess: EC2 cannot assume the role node", "ec2.amazonaws.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			identity := w.instance()
			w.state.Change(func(s *sandbox.State) { s.Off = map[string]bool{}; c.change(s) })
			wantText(t, wantVerdict(t, w.signIn(identity), c.want).Detail, c.detail...)
		})
	}
}

// C16: a hop limit of 1 lets the PUT in and its answer die. IMDSv1, which would answer, is never asked.
func TestC16HopLimit(t *testing.T) {
	w := newWorld(t)
	identity := w.instance()
	w.state.Change(func(s *sandbox.State) { s.Instance.HopLimited = true })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := w.client.Login(ctx, identity, region, "run-1")
	e := wantVerdict(t, err, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable))
	wantText(t, e.Detail, "asked for a token (PUT): no answer in time, while waiting for the answer", "hop limit")
	wantSame(t, w.state.Count("IMDSGET"), 0)
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err = w.client.Login(cancelled, identity, region, "run-1"); !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
		t.Errorf("got %v, want the context's own error", err)
	}
}

// metadataServer gives a token, and answers both reads as told; nil closes the connection.
func metadataServer(t *testing.T, list, role http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer := role
		switch {
		case r.Method == http.MethodPut:
			rw.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			answer = says("token")
		case strings.HasSuffix(r.URL.Path, "/"):
			answer = list
		}
		if answer == nil {
			panic(http.ErrAbortHandler)
		}
		answer(rw, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func says(text string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, text) }
}

func ends(status int) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) }
}

// What answers past the token, be it metadata or not, ends as a reason that says no more than it showed.
func TestStrangeMetadata(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		list, role http.HandlerFunc
		want       verdict
		detail     string
	}{
		"no role listed":      {says("\n"), nil, failure(chain.StepCredentials, chain.ReasonInstanceProfileMissing), "lists no role"},
		"a page for a role":   {says("<html>"), nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "something that is not instance metadata"},
		"a path for a role":   {says("../../user-data"), nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "something that is not instance metadata"},
		"a list without end":  {func(rw http.ResponseWriter, _ *http.Request) { flood(rw) }, nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "asked for the role's name: no answer"},
		"closed":              {nil, nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "asked for the role's name: no answer, while waiting for the answer"},
		"token refused":       {ends(http.StatusUnauthorized), nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "HTTP 401"},
		"throttled":           {ends(http.StatusTooManyRequests), nil, unknown(chain.ReasonNotMeasurable), "instance metadata throttles: HTTP 429"},
		"a fault":             {ends(http.StatusServiceUnavailable), nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "HTTP 503"},
		"role not there":      {says("node"), ends(http.StatusNotFound), failure(chain.StepCredentials, chain.ReasonNoCredentials), "for the credentials of the role node: HTTP 404 (it names the role"},
		"role closed":         {says("node"), nil, failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "for the credentials of the role node: no answer, while waiting for the answer"},
		"null":                {says("node"), says("null"), failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "for the credentials of the role node"},
		"not JSON":            {says("node"), says("AccessKeyId=" + keyID), failure(chain.StepCredentials, chain.ReasonIMDSUnreachable), "not what instance metadata says"},
		"no keys":             {says("node"), says(`{"Code":"Success"}`), failure(chain.StepCredentials, chain.ReasonNoCredentials), `it has none, and says "Success"`},
		"an error of its own": {says("node"), says(`{"Code":"Failed","Message":"try again"}`), failure(chain.StepCredentials, chain.ReasonNoCredentials), `says "Failed": try again`},
	} {
		t.Run(name, func(t *testing.T) {
			w.at(metadataServer(t, c.list, c.role))
			wantText(t, wantVerdict(t, w.signIn(chain.Identity{Name: "node", Source: chain.SourceInstanceProfile}), c.want).Detail, c.detail)
		})
	}
}

// A service without tokens is an IMDSv1 or something else: its credentials are not taken.
func TestNoIMDSv1(t *testing.T) {
	w := newWorld(t)
	for status, detail := range map[int]string{404: "what answers there is not IMDSv2", 405: "what answers there is not IMDSv2", 500: "HTTP 500", 200: "what answers there is not IMDSv2"} {
		reads := 0
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				rw.WriteHeader(status)
				return
			}
			reads++
		}))
		t.Cleanup(server.Close)
		w.at(server.URL)
		e := wantVerdict(t, w.signIn(chain.Identity{Name: "node", Source: chain.SourceInstanceProfile}), failure(chain.StepCredentials, chain.ReasonIMDSUnreachable))
		wantText(t, e.Detail, "asked for a token (PUT)", detail)
		wantSame(t, reads, 0)
	}
}
