// Servers that answer badly, for ever or not at all: every one ends in time, with little memory, and in one reason.
//
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire/wiretest"
)

// drip sends a beginning, and then a piece every tenth of the brief timeout, for ever.
func drip(begin, piece string) func(net.Conn) {
	return talk(begin, func(conn net.Conn) {
		ticker := time.NewTicker(brief / 10)
		defer ticker.Stop()
		for range ticker.C {
			if _, err := io.WriteString(conn, piece); err != nil {
				return
			}
		}
	})
}

// flood sends a beginning, and then pieces as fast as they are taken, for ever.
func flood(begin, piece string) func(net.Conn) {
	return talk(begin, func(conn net.Conn) {
		for {
			if _, err := io.WriteString(conn, strings.Repeat(piece, 100)); err != nil {
				return
			}
		}
	})
}

const ok = "HTTP/1.1 200 OK\r\n"

func TestHostileAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		handle  func(net.Conn)
		timeout time.Duration
		want    verdict
		status  int
		body    string
	}{
		"hangs":                      {wiretest.Hang, brief, verdict{chain.ReasonTimeout, "no whole header of an answer came within 300ms"}, 0, ""},
		"hangs in the header":        {talk("HTTP/1.1 200", wiretest.Hang), brief, verdict{chain.ReasonTimeout, "no whole header"}, 0, ""},
		"drips a header":             {drip(ok, "X: y\r\n"), brief, verdict{chain.ReasonTimeout, "no whole header"}, 0, ""},
		"hangs in the body":          {talk(ok+"Content-Length: 9\r\n\r\nhel", wiretest.Hang), brief, verdict{chain.ReasonTimeout, "answered 200, and the body, of which 3 bytes came, did not end within 300ms"}, 200, "hel"},
		"drips a body":               {drip(ok+"Transfer-Encoding: chunked\r\n\r\n", "1\r\no\r\n"), brief, verdict{chain.ReasonTimeout, "did not end within 300ms"}, 200, "o"},
		"drips empty lines":          {drip("", "\r\n"), brief, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0, ""},
		"continues for ever":         {flood("", "HTTP/1.1 100 Continue\r\n\r\n"), ample, verdict{chain.ReasonTCPFailure, "exceeded"}, 0, ""},
		"closes":                     {talk("", closes), ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0, ""},
		"resets":                     {talk("", resets), ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0, ""},
		"resets in the header":       {talk("HTTP/1.1 200 OK\r\nX: ", resets), ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0, ""},
		"ends in the header":         {talk("HTTP/1.1 200 OK\r\nX: ", closes), ample, verdict{chain.ReasonTCPFailure, "unexpected EOF"}, 0, ""},
		"ends in the body":           {talk(ok+"Content-Length: 9\r\n\r\nhel", closes), ample, verdict{chain.ReasonTCPFailure, "answered 200 and broke off after 3 bytes of the body: unexpected EOF"}, 200, "hel"},
		"ends in a chunk":            {talk(ok+"Transfer-Encoding: chunked\r\n\r\n9\r\nhel", closes), ample, verdict{chain.ReasonTCPFailure, "broke off after 3 bytes"}, 200, "hel"},
		"talks nonsense":             {talk("hello\r\n\r\n", closes), ample, verdict{chain.ReasonTCPFailure, "malformed HTTP response"}, 0, ""},
		"talks binary":               {talk("\x00\xff\xfe\x1b[2Jgarbage\r\n\r\n", closes), ample, verdict{chain.ReasonTCPFailure, "malformed HTTP"}, 0, ""},
		"two lengths":                {talk(ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", closes), ample, verdict{chain.ReasonTCPFailure, "Content-Length"}, 0, ""},
		"a status that is none":      {talk("HTTP/1.1 2000 OK\r\n\r\n", closes), ample, verdict{chain.ReasonTCPFailure, "malformed HTTP status code"}, 0, ""},
		"an endless header":          {flood(ok+"X: ", "a"), ample, verdict{chain.ReasonTCPFailure, "exceeded"}, 0, ""},
		"endless headers":            {flood(ok, "X: y\r\n"), ample, verdict{chain.ReasonTCPFailure, "exceeded"}, 0, ""},
		"an endless body":            {flood(ok+"\r\n", "a"), ample, verdict{}, 200, strings.Repeat("a", maxBody)},
		"a switch of protocol":       {talk("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", wiretest.Hang), ample, verdict{}, 101, ""},
		"a body of a 304":            {talk("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nhello", wiretest.Hang), ample, verdict{}, 304, ""},
		"a secret in the error text": {talk("HTTP/1.1 k8s-aws-v1.c2VjcmV0\r\n\r\n", closes), ample, verdict{chain.ReasonTCPFailure, "[redacted]"}, 0, ""},
	} {
		ca := newCA(t)
		address := wiretest.Listen(t, c.handle)
		for scheme, address := range map[string]string{"http": address, "https": wiretest.Listen(t, secured(t, ca, c.handle))} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				response, facts, e := check(t, trusting(ca), chain.Request{URL: scheme + "://" + address, Timeout: c.timeout}, c.want)
				if response.Status != c.status || !strings.HasPrefix(string(response.Body), c.body) || len(response.Body) > maxBody || response.Truncated != (len(c.body) == maxBody) {
					t.Errorf("status %d, body of %d bytes, truncated %v; want %d, %d", response.Status, len(response.Body), response.Truncated, c.status, len(c.body))
				}
				if facts[chain.FactHTTPTime] == "" || e != nil && (len(e.Detail) > 1200 || strings.ContainsAny(e.Detail, "\n\x1b")) {
					t.Errorf("facts %v, error %v", facts, e)
				}
			})
		}
	}
}

// frames is an HTTP/2 server that answers the first request by hand.
func frames(answer func(*http2.Framer)) func(net.Conn) {
	return func(conn net.Conn) {
		io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
		framer := http2.NewFramer(conn, conn)
		framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if frame.Header().Type == http2.FrameHeaders {
				answer(framer)
			}
		}
	}
}

func header(status string) []byte {
	var block bytes.Buffer
	hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: status})
	return block.Bytes()
}

func TestHostileHTTP2(t *testing.T) {
	answered := http2.HeadersFrameParam{StreamID: 1, BlockFragment: header("200"), EndHeaders: true}
	for name, c := range map[string]struct {
		answer  func(*http2.Framer)
		timeout time.Duration
		want    verdict
		status  int
	}{
		"hangs":                   {func(*http2.Framer) {}, brief, verdict{chain.ReasonTimeout, "no whole header"}, 0},
		"refuses the stream":      {func(f *http2.Framer) { f.WriteRSTStream(1, http2.ErrCodeRefusedStream) }, ample, verdict{chain.ReasonTCPFailure, "REFUSED_STREAM"}, 0},
		"goes away":               {func(f *http2.Framer) { f.WriteGoAway(0, http2.ErrCodeNo, nil) }, ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0},
		"goes away in anger":      {func(f *http2.Framer) { f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("calm")) }, ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0},
		"resets after the header": {func(f *http2.Framer) { f.WriteHeaders(answered); f.WriteRSTStream(1, http2.ErrCodeInternal) }, ample, verdict{chain.ReasonTCPFailure, "answered 200 and broke off after 0 bytes"}, 200},
		"hangs after the header":  {func(f *http2.Framer) { f.WriteHeaders(answered) }, brief, verdict{chain.ReasonTimeout, "answered 200, and the body"}, 200},
		"a header that is none": {func(f *http2.Framer) {
			f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte("\xff\xff\xff"))
		}, ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0},
		"no status": {func(f *http2.Framer) { f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true}) }, ample, verdict{chain.ReasonTCPFailure, "gave no whole HTTP answer"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ca, dialled := newCA(t), 0
			handle := secured(t, ca, frames(c.answer), "h2")
			address := wiretest.Listen(t, func(conn net.Conn) { dialled++; handle(conn) })
			response, _, _ := check(t, trusting(ca), chain.Request{URL: "https://" + address, Timeout: c.timeout}, c.want)
			if response.Status != c.status || dialled != 1 {
				t.Errorf("status %d over %d connections; want %d over one: a request is not asked twice", response.Status, dialled, c.status)
			}
		})
	}
}
