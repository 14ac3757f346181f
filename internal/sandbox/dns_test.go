// The DNS server, asked by Go's own resolver and over both transports.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func newTestDNS(t *testing.T) *DNS {
	t.Helper()
	d, err := NewDNS()
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(d.Close(), d.Close())) })
	return d
}

func TestResolver(t *testing.T) {
	d := newTestDNS(t)
	d.Answer("Gone.eks.amazonaws.com.", DNSNXDomain)
	d.Answer("broken.eks.amazonaws.com", DNSServFail)
	d.Answer("silent.eks.amazonaws.com", DNSSilent)
	d.Answer("back.eks.amazonaws.com", DNSNXDomain)
	d.Answer("back.eks.amazonaws.com", DNSLoopback)
	tests := map[string]struct {
		addresses                 []string
		notFound, temporary, wait bool
	}{
		"sts.eu-west-1.amazonaws.com": {addresses: []string{"127.0.0.1"}},
		"UPPER.gr7.eks.amazonaws.com": {addresses: []string{"127.0.0.1"}},
		"back.eks.amazonaws.com":      {addresses: []string{"127.0.0.1"}},
		"gone.eks.amazonaws.com":      {notFound: true},
		"GONE.eks.amazonaws.com.":     {notFound: true},
		"broken.eks.amazonaws.com":    {temporary: true},
		"silent.eks.amazonaws.com":    {temporary: true, wait: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if test.wait {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			addresses, err := d.Resolver().LookupHost(ctx, name)
			wantSame(t, addresses, test.addresses)
			var dnsErr *net.DNSError
			if failed := errors.As(err, &dnsErr); failed != (test.addresses == nil) {
				t.Fatalf("got %v", err)
			}
			if dnsErr != nil {
				wantSame(t, []bool{dnsErr.IsNotFound, dnsErr.IsTemporary || dnsErr.IsTimeout, dnsErr.IsTimeout}, []bool{test.notFound, test.temporary, test.wait})
			}
		})
	}
}

// TestSearchDomains: a resolver that has search domains asks for NAME.DOMAIN next; that must not bring the name back.
func TestSearchDomains(t *testing.T) {
	d := newTestDNS(t)
	d.Answer("gone.example.com", DNSNXDomain)
	d.Answer("known.example.com", DNSLoopback)
	for name, want := range map[string]DNSAnswer{
		"gone.example.com.corp.internal": DNSNXDomain, "gone.example.company": DNSLoopback, "a.gone.example.com": DNSLoopback, "known.example.com.corp": DNSLoopback,
	} {
		wantSame(t, d.answerOf(name), want)
	}
}

func dnsQuestion(t *testing.T, kind dnsmessage.Type) []byte {
	t.Helper()
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName("a.example.com."), Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := message.Pack()
	must(t, err)
	return packed
}

func TestDNSReply(t *testing.T) {
	d := newTestDNS(t)
	reply := func(kind dnsmessage.Type) (m dnsmessage.Message) {
		must(t, m.Unpack(d.reply(dnsQuestion(t, kind))))
		return m
	}
	a, aaaa := reply(dnsmessage.TypeA), reply(dnsmessage.TypeAAAA)
	wantSame(t, a.ID, uint16(7))
	wantSame(t, a.Answers[0].Body, dnsmessage.ResourceBody(&dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}))
	wantSame(t, aaaa.RCode, dnsmessage.RCodeSuccess)
	wantSame(t, len(aaaa.Answers), 0)
	answer, err := a.Pack()
	must(t, err)
	for name, message := range map[string][]byte{"nothing": nil, "a header alone": answer[:12], "noise": []byte("not a message"), "an answer": answer} {
		if got := d.reply(message); got != nil {
			t.Errorf("%s is answered: %x", name, got)
		}
	}
}

// TestDNSOverTCP asks twice over one connection, then leaves it open for Close to end.
func TestDNSOverTCP(t *testing.T) {
	d := newTestDNS(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", d.Addr())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	question := dnsQuestion(t, dnsmessage.TypeA)
	for range 2 {
		_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(question))), question...))
		must(t, err)
		var length [2]byte
		_, err = io.ReadFull(conn, length[:])
		must(t, err)
		packed := make([]byte, binary.BigEndian.Uint16(length[:]))
		_, err = io.ReadFull(conn, packed)
		must(t, err)
		var reply dnsmessage.Message
		must(t, reply.Unpack(packed))
		wantSame(t, len(reply.Answers), 1)
	}
	soon(t, func() { must(t, d.Close()) })
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}
