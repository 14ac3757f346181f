// A DNS server on loopback that knows every name, except where a fault is set.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// DNSAnswer is what the server says to a question about a name.
type DNSAnswer uint8

// The answers of a DNS server.
const (
	DNSLoopback DNSAnswer = iota // A 127.0.0.1; no record of any other type
	DNSNXDomain                  // there is no such name
	DNSServFail                  // the server failed
	DNSSilent                    // no answer at all
)

const (
	dnsTTL     = 1 // seconds
	dnsTimeout = 10 * time.Second
	dnsMaxUDP  = 512
)

// DNS answers on UDP and TCP, on the same port. It is safe for concurrent use.
type DNS struct {
	udp     net.PacketConn
	tcp     net.Listener
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	answers map[string]DNSAnswer
	conns   map[net.Conn]bool
}

// NewDNS serves on a free port of 127.0.0.1.
func NewDNS() (*DNS, error) {
	tcp, udp, err := listenBoth()
	if err != nil {
		return nil, err
	}
	d := &DNS{udp: udp, tcp: tcp, answers: map[string]DNSAnswer{}, conns: map[net.Conn]bool{}}
	d.running.Go(d.serveUDP)
	d.running.Go(d.serveTCP)
	return d, nil
}

// listenBoth finds a port that is free for TCP and UDP.
func listenBoth() (net.Listener, net.PacketConn, error) {
	var errs []error
	for range 10 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, fmt.Errorf("listening for DNS on loopback: %w", err)
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err == nil {
			return tcp, udp, nil
		}
		errs = append(errs, err, tcp.Close())
	}
	return nil, nil, fmt.Errorf("listening for DNS on loopback: %w", errors.Join(errs...))
}

// Answer sets what is said about a name, and about the name with a search domain behind it, which a resolver tries next.
func (d *DNS) Answer(name string, answer DNSAnswer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers[canonicalName(name)] = answer
}

func canonicalName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

func (d *DNS) answerOf(name string) DNSAnswer {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = canonicalName(name)
	for known, answer := range d.answers {
		if name == known || answer != DNSLoopback && strings.HasPrefix(name, known+".") {
			return answer
		}
	}
	return DNSLoopback
}

// Addr is host:port, for UDP and TCP.
func (d *DNS) Addr() string { return d.tcp.Addr().String() }

// Resolver asks this server alone.
func (d *DNS) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, d.Addr())
	}}
}

// Close ends the server and waits for its goroutines. Closing twice is harmless.
func (d *DNS) Close() error {
	d.mu.Lock()
	first := !d.closed
	d.closed = true
	for conn := range d.conns {
		_ = conn.Close() // its goroutine sees the end
	}
	d.mu.Unlock()
	if !first {
		return nil
	}
	err := errors.Join(d.udp.Close(), d.tcp.Close())
	d.running.Wait()
	return err
}

func (d *DNS) serveUDP() {
	buffer := make([]byte, dnsMaxUDP)
	for {
		n, from, err := d.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply := d.reply(buffer[:n]); reply != nil {
			_, _ = d.udp.WriteTo(reply, from) // a client that went away is no news
		}
	}
}

func (d *DNS) serveTCP() {
	for {
		conn, err := d.tcp.Accept()
		if err != nil {
			return
		}
		if d.keep(conn) {
			d.running.Go(func() { d.serveConn(conn) })
		}
	}
}

// keep registers a connection, so that Close ends it; false when the server is closed already.
func (d *DNS) keep(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = conn.Close()
		return false
	}
	d.conns[conn] = true
	return true
}

// serveConn answers the questions of one TCP connection, each with its length before it (RFC 1035, 4.2.2).
func (d *DNS) serveConn(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		d.mu.Lock()
		delete(d.conns, conn)
		d.mu.Unlock()
	}()
	for conn.SetDeadline(time.Now().Add(dnsTimeout)) == nil {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		reply := d.reply(question)
		if reply == nil {
			continue
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil { //nolint:gosec // one question and one address: far below 64 KiB
			return
		}
	}
}

// reply answers one question; nil means silence. What is no question gets none.
func (d *DNS) reply(message []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || header.Response {
		return nil
	}
	question, err := parser.Question()
	if err != nil {
		return nil
	}
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{question},
	}
	switch d.answerOf(question.Name.String()) {
	case DNSSilent:
		return nil
	case DNSNXDomain:
		reply.RCode = dnsmessage.RCodeNameError
	case DNSServFail:
		reply.RCode = dnsmessage.RCodeServerFailure
	case DNSLoopback:
		if question.Type == dnsmessage.TypeA {
			reply.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: dnsTTL},
				Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
			}}
		}
	}
	packed, err := reply.Pack()
	if err != nil {
		return nil
	}
	return packed
}
