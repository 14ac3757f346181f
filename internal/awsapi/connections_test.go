// What a run's connections to STS are: its own, one for all of its calls, and gone with it.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// grant answers AssumeRole with a session.
func grant(rw http.ResponseWriter) {
	fmt.Fprint(rw, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey>`+
		`<SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
}

// answerSTS answers AssumeRole and GetCallerIdentity.
func answerSTS(rw http.ResponseWriter, r *http.Request) {
	if r.FormValue("Action") == "AssumeRole" {
		grant(rw)
		return
	}
	fmt.Fprint(rw, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>`+userARN+`</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`)
}

// dials counts the connections that a client opens, and those that it closes.
type dials struct{ opened, closed atomic.Int32 }

type countedConn struct {
	net.Conn
	dials *dials
	once  atomic.Bool
}

func (c *countedConn) Close() error {
	if c.once.CompareAndSwap(false, true) {
		c.dials.closed.Add(1)
	}
	return c.Conn.Close()
}

func (w *world) countDials() *dials {
	d, dialer := &dials{}, net.Dialer{}
	w.client.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		d.opened.Add(1)
		return &countedConn{Conn: conn, dials: d}, nil
	}
	return d
}

// Three calls of a run go over one connection, which no other run has; whichever way the run ends, none is left.
func TestOneConnectionARun(t *testing.T) {
	w := newWorld(t)
	d := w.countDials()
	identity := w.irsa()
	identity.Hops = []chain.Hop{{RoleARN: deployARN}}
	for run := range int32(2) {
		must(t, w.signIn(identity))
		wantSame(t, []int32{d.opened.Load(), d.closed.Load()}, []int32{run + 1, run + 1})
	}
	w.state.Change(func(s *sandbox.State) { s.Roles[deployARN].Trust = nil })
	wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonAssumeRoleDenied))
	wantSame(t, []int32{d.opened.Load(), d.closed.Load()}, []int32{3, 3})
	_, err := w.client.ObserverToken(t.Context(), w.target("prod"))
	must(t, err)
	wantSame(t, []int32{d.opened.Load(), d.closed.Load()}, []int32{4, 4})
}

// A run signs with the secret of now, also where an earlier run signed with another one under the same key id.
func TestNoSigningKeyIsKept(t *testing.T) {
	w := newWorld(t)
	identity := w.environment(deployARN)
	must(t, w.signIn(identity))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "not it")
	wantVerdict(t, w.signIn(identity), failure(chain.StepSTS, chain.ReasonSignatureInvalid))
}

// A connection that died between two calls says nothing of STS: the call is made again, over a new one. On a new one the first word counts.
func TestLostConnection(t *testing.T) {
	var calls atomic.Int32
	known := map[string]bool{}
	w := literal(t, func(rw http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if known[r.RemoteAddr] {
			panic(http.ErrAbortHandler)
		}
		known[r.RemoteAddr] = true
		answerSTS(rw, r)
	})
	must(t, w.signIn(w.environment(deployARN)))
	wantSame(t, w.seen.requests, []string{"sts AssumeRole ok", "sts GetCallerIdentity ok"})
	wantSame(t, calls.Load(), int32(3))

	w = literal(t, func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler)
	})
	wantVerdict(t, w.signIn(w.environment(deployARN)), failure(chain.StepSTS, chain.ReasonSTSUnreachable))
	wantSame(t, calls.Load(), int32(4))
}

// A machine that cannot even open a connection knows nothing of those whom it would have asked.
func TestLocalTrouble(t *testing.T) {
	w := newWorld(t)
	full := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}
	w.client.transport.DialContext = full
	w.client.node = boundedClient(&http.Transport{DialContext: full}, withoutDeadline)
	pod, _ := w.pod()
	t.Setenv(agentTokenVariable, w.podToken(sandbox.TokenClaims{}))
	for name, identity := range map[string]chain.Identity{
		"STS": w.environment(deployARN), "STS, without hops": w.environment(), "the agent": pod, "instance metadata": {Name: "node", Source: chain.SourceInstanceProfile},
	} {
		t.Run(name, func(t *testing.T) {
			wantText(t, wantVerdict(t, w.signIn(identity), unknown(chain.ReasonReadFailed)).Detail, "too many open files")
		})
	}
}
