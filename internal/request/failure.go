// Errors become reasons of the step request here and in failure_tls.go, and nowhere else: by the phase that was open, then by the type of the error.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// failure turns the error of an exchange that brought no whole answer into a reason, by this table:
//
//	context cancelled                  → the context's error: our own doing is nobody's failure
//	no phase began                     → the context's error when it had ended, else unknown
//	the caller's deadline, before ours → unknown: the load balancer was not given the time that users give it
//	trouble of this machine            → unknown, in every phase
//	the proxy's own trouble, or its no → unknown: users do not come through it
//	our deadline                       → the reason of the open wire.Phase for silence
//	any other error                    → the reason of the open wire.Phase for that type of error
func (c *call) failure(ctx context.Context, err error, short bool) error {
	open, ended := c.seen.Open, passed(ctx)
	if ended {
		<-ctx.Done() // now, or as soon as its timer fires
	}
	if errors.Is(ctx.Err(), context.Canceled) || ctx.Err() != nil && open == wire.PhaseNone {
		return ctx.Err()
	}
	e := c.verdict(err, open, ended, short)
	if ended {
		e.Err = errors.Join(ctx.Err(), context.Cause(ctx), err)
	}
	return e
}

// verdict is the table from its third row on; ended: a deadline is over, and short: it is the caller's.
func (c *call) verdict(err error, open wire.Phase, ended, short bool) *chain.Error {
	switch {
	case ended && short:
		return c.unsure(err, "the run's time ended after %s, in the request's phase %s and before its own timeout of %s", c.seen.Duration().Round(time.Millisecond), open, c.request.Timeout)
	case c.request.IPFamily != chain.IPFamilyAny && errors.As(err, new(*net.AddrError)): // the dialer's, for an address of the other family
		return c.fail(chain.ReasonDNSFailure, err, "%s has no address for %s, which ip_family asks for", c.target.Hostname(), c.request.IPFamily)
	case open == wire.PhaseNone:
		return c.unsure(err, "making the request: %s", wire.PlainText(err))
	case c.localTrouble(open, err):
		return c.unsure(err, "this machine could not connect to %s: %s", c.where(), wire.PlainText(err))
	}
	return c.phaseError(open, err, ended || wire.TimedOut(err))
}

// passed reports whether a context's deadline is over; the network's own timer, set to the same instant, may fire before the context's.
func passed(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

func (*call) fail(reason chain.Reason, cause error, format string, args ...any) *chain.Error {
	return chain.Fail(chain.StepRequest, reason, fmt.Sprintf(format, args...), nil, cause)
}

func (*call) unsure(cause error, format string, args ...any) *chain.Error {
	return chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf(format, args...), nil, cause)
}

// localTrouble reports whether this machine could not try. Where addresses were dialled, that needs to be so of every one of them.
func (c *call) localTrouble(open wire.Phase, err error) bool {
	if open != wire.PhaseTCP || len(c.seen.Tried) == 0 {
		return chain.LocalTrouble(err)
	}
	for _, a := range c.seen.Tried {
		if !chain.LocalTrouble(a.Err) && (!wire.Unreachable(a.Err) || routed(a.Address)) {
			return false
		}
	}
	return true
}

// routed reports whether this machine has a route to an address, as one without IPv6 has to no IPv6 address. Connecting a UDP socket asks the routing table and sends nothing (connect(2)).
func routed(address string) bool {
	conn, err := net.Dial("udp", address) //nolint:noctx // it does not wait: the address is no name
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// phaseError blames the phase that was open, which is one that began; late: it ended in silence.
func (c *call) phaseError(open wire.Phase, err error, late bool) *chain.Error {
	switch open {
	case wire.PhaseNone, wire.PhaseDNS, wire.PhaseTCP:
		switch {
		case c.proxy != nil:
			return c.unsure(err, "the proxy %s itself could not be reached, so nothing is known of the load balancer: %s", c.proxyName(), wire.PlainText(err))
		case open == wire.PhaseDNS:
			return c.dnsError(err, late)
		}
		return c.tcpError(err, late)
	case wire.PhaseProxy:
		return c.proxyError(err, late)
	case wire.PhaseTLS:
		return c.tlsError(err, late)
	case wire.PhaseHTTP:
	}
	return c.httpError(err, late)
}

func (c *call) dnsError(err error, late bool) *chain.Error {
	host := c.target.Hostname()
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound && c.request.IPFamily != chain.IPFamilyAny:
		return c.fail(chain.ReasonDNSFailure, err, "the resolver knows no address for %s, which ip_family asks for, of the name %s", c.request.IPFamily, host)
	case errors.As(err, &dns) && dns.IsNotFound:
		return c.fail(chain.ReasonDNSFailure, err, "the resolver knows no address for the name %s", host)
	case late:
		return c.fail(chain.ReasonDNSFailure, err, "no answer from the resolver for %s in time", host)
	}
	if dns != nil {
		return c.fail(chain.ReasonDNSFailure, err, "looking up %s: the resolver %s says %s", host, cmp.Or(dns.Server, "of this machine"), chain.Redact(dns.Err))
	}
	return c.fail(chain.ReasonDNSFailure, err, "looking up %s: %s", host, wire.PlainText(err))
}

func (c *call) tcpError(err error, late bool) *chain.Error {
	switch {
	case late:
		return c.fail(chain.ReasonTCPFailure, err, "connecting to %s: no answer in time; packets are dropped on the way (security group, network ACL, route)", c.where())
	case errors.Is(err, syscall.ECONNREFUSED):
		return c.fail(chain.ReasonTCPFailure, err, "%s refused the connection: nothing listens there", c.where())
	case wire.Unreachable(err):
		return c.fail(chain.ReasonTCPFailure, err, "connecting to %s: %s; this came from the network (no route, or a firewall that says so), not from the load balancer", c.where(), wire.PlainText(err))
	}
	return c.fail(chain.ReasonTCPFailure, err, "connecting to %s: %s", c.where(), wire.PlainText(err))
}

// proxyError: a proxy that says that it got nowhere (RFC 9110, sections 15.6.3 to 15.6.5), or that stays silent while it connects, tells of the load balancer; any other answer is its own.
func (c *call) proxyError(err error, late bool) *chain.Error {
	var no *wire.ProxyRefusal
	switch {
	case errors.As(err, &no) && (no.Code == http.StatusBadGateway || no.Code == http.StatusServiceUnavailable || no.Code == http.StatusGatewayTimeout):
		return c.fail(chain.ReasonTCPFailure, err, "the proxy %s could not connect to %s: it answered %s", c.proxyName(), c.address, chain.Redact(no.Status))
	case errors.As(err, &no):
		return c.unsure(err, "the proxy %s refused to go to %s: it answered %s; nothing is known of the load balancer", c.proxyName(), c.address, chain.Redact(no.Status))
	case late:
		return c.fail(chain.ReasonTCPFailure, err, "the proxy %s took the request for a tunnel to %s and did not answer in time: one of the two is silent", c.proxyName(), c.address)
	}
	return c.unsure(err, "the proxy %s opened no tunnel to %s, so nothing is known of the load balancer: %s", c.proxyName(), c.address, wire.PlainText(err))
}

func (c *call) httpError(err error, late bool) *chain.Error {
	status, came := c.response.Status, len(c.response.Body)
	switch {
	case errors.As(err, new(*wire.ProxyRefusal)):
		return c.proxyError(err, late)
	case late && status == 0:
		return c.fail(chain.ReasonTimeout, err, "%s took the connection, and no whole header of an answer came within %s", c.where(), c.request.Timeout)
	case late:
		return c.fail(chain.ReasonTimeout, err, "%s answered %d, and the body, of which %d bytes came, did not end within %s", c.where(), status, came, c.request.Timeout)
	case c.seen.Asked && !c.seen.Answering:
		return c.noClientCertificate(err)
	case refusedTLS(err):
		return c.fail(chain.ReasonTLSFailure, err, "%s ended TLS after the handshake: %s", c.where(), wire.PlainText(err))
	case c.forwarded():
		return c.unsure(err, "the proxy %s gave no whole answer for %s, so nothing is known of the load balancer: %s", c.proxyName(), c.address, wire.PlainText(err))
	case status == 0:
		return c.fail(chain.ReasonTCPFailure, err, "%s took the connection and gave no whole HTTP answer: %s", c.where(), wire.PlainText(err))
	}
	return c.fail(chain.ReasonTCPFailure, err, "%s answered %d and broke off after %d bytes of the body: %s", c.where(), status, came, wire.PlainText(err))
}

// brokeOff reports whether the other side ended the connection, in order or not.
func brokeOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
