// Observations: what is seen of a call on its way, whether or not an answer comes: how far it got, the skew in the Date header, one count per call.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strings"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// observation follows the calls of one SDK client. Its hooks run in the transport's goroutines, which may outlive the call.
type observation struct {
	client *Client

	mu   sync.Mutex
	last sighting
}

// sighting is what was seen of the latest call.
type sighting struct {
	service   string // as the SDK spells it, such as STS
	operation string
	host      string
	phase     string // what was being done last
	address   string // the peer that was dialled last, which may be a proxy
	answered  bool
	skew      time.Duration
	measured  bool
}

func (c *Client) observe() *observation { return &observation{client: c} }

func (o *observation) seen() sighting {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

func (o *observation) change(f func(*sighting)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(&o.last)
}

// attach puts the observation around the deserializer, so that it sees the response as well as AWS's error, and bounds the answer within.
func (o *observation) attach(stack *middleware.Stack) error {
	if err := boundAnswers(stack); err != nil {
		return err
	}
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("EKSSLOObservation", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (middleware.DeserializeOutput, middleware.Metadata, error) {
		return o.handle(ctx, stack.ID(), in, next)
	}), middleware.Before)
}

// metadataCalls are operations of clients that do not put their names into the context, where those of an outer call may still stand: the credentials of an AssumeRole are
// asked for within it.
var metadataCalls = map[string]string{"GetMetadata": serviceIMDS, "GetToken": serviceIMDS, "GetCredentials": "container"}

const serviceIMDS = "ec2imds"

func (o *observation) handle(ctx context.Context, operation string, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	host := ""
	if request, ok := in.Request.(*smithyhttp.Request); ok {
		plain, err := plainBody(request)
		if err != nil {
			return middleware.DeserializeOutput{}, middleware.Metadata{}, err
		}
		host, in.Request = request.URL.Host, plain
	}
	service, region := awsmiddleware.GetServiceID(ctx), awsmiddleware.GetRegion(ctx)
	if awsmiddleware.GetOperationName(ctx) != operation {
		service, region = metadataCalls[operation], ""
	}
	begun := o.client.options.Now()
	out, metadata, err := next.HandleDeserialize(o.begin(ctx, sighting{service: service, operation: operation, host: host}), in)
	var response *http.Response
	if raw, ok := out.RawResponse.(*smithyhttp.Response); ok {
		response = raw.Response
	}
	o.end(begun, region, response, err)
	return out, metadata, err
}

// begin starts a call; its context reports the transport's phases.
func (o *observation) begin(ctx context.Context, call sighting) context.Context {
	call.phase = "opening a connection"
	o.change(func(s *sighting) { *s = call })
	phase := func(text string) { o.change(func(s *sighting) { s.phase = text }) }
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(info httptrace.DNSStartInfo) { phase("resolving " + info.Host) },
		ConnectStart: func(_, address string) {
			o.change(func(s *sighting) { s.phase, s.address = "connecting to "+address, address })
		},
		ConnectDone: func(_, address string, err error) {
			if err == nil {
				phase("connected to " + address)
			}
		},
		TLSHandshakeStart: func() { phase("in the TLS handshake") },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				phase("sending the request")
			}
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				phase("waiting for the answer")
			}
		},
		GotFirstResponseByte: func() { phase("reading the answer") },
	})
}

// end counts the call and measures the skew. region "" (the instance metadata service) has no clock of AWS's.
func (o *observation) end(begun time.Time, region string, response *http.Response, err error) {
	answered := response != nil && response.StatusCode != 0
	o.change(func(s *sighting) { s.answered = answered })
	call, options := o.seen(), o.client.options
	service := strings.ToLower(strings.ReplaceAll(call.service, " ", "_"))
	status := 0
	if answered {
		status = response.StatusCode
		if skew, ok := skewOf(response.Header, begun, options.Now()); ok && region != "" {
			o.change(func(s *sighting) { s.skew, s.measured = skew, true })
			options.ObserveSkew(service+"."+region, skew)
		}
	}
	options.ObserveRequest(service, call.operation, requestCode(status, err))
}

// skewOf compares the middle of the call with the Date header, whose resolution is a second. An answer out of a cache (Age) tells nothing.
func skewOf(header http.Header, begun, ended time.Time) (time.Duration, bool) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || header.Get("Age") != "" {
		return 0, false
	}
	middle := begun.Add(ended.Sub(begun) / 2)
	return middle.Sub(date.Add(500 * time.Millisecond)), true
}

var codeShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]{0,63}$`)

// requestCode is the label value of a call's end (see Options.ObserveRequest). Foreign text is no label: what does not look like a code is its HTTP status.
func requestCode(status int, err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case status == 0:
		return "none"
	case errors.As(err, &api) && codeShape.MatchString(api.ErrorCode()) && api.ErrorCode() != "UnknownError":
		return api.ErrorCode()
	}
	return fmt.Sprintf("http_%d", status)
}
