// Observations: what is seen of a call on its way, whether or not an answer comes: how far it got, the skew in the Date header, one count per call.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
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
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
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
	reused    bool   // over a connection that an earlier call of the run had opened
	cause     error  // the transport's, or AWS's
	broken    error  // what ended the reading of the answer before its end
	answered  bool
	tagged    bool // the answer carries a request id, as every answer of an AWS service does
	received  int  // HTTP status of the answer; 0 without one
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
	if err := boundAnswers(stack, func(err error) { o.change(func(s *sighting) { s.broken = err }) }); err != nil {
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
var metadataCalls = map[string]string{"GetMetadata": serviceIMDS, opMetadataToken: serviceIMDS, "GetCredentials": serviceContainer}

const (
	serviceIMDS      = "ec2imds"
	serviceContainer = "container"
	opMetadataToken  = "getToken" // as the SDK's client spells it
)

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
	begun, call := o.client.options.Now(), sighting{service: service, operation: operation, host: host}
	out, metadata, err := next.HandleDeserialize(o.begin(ctx, call), in)
	if err != nil && o.lostConnection(ctx, out) && rewind(in) {
		out, metadata, err = next.HandleDeserialize(o.begin(ctx, call), in)
	}
	var response *http.Response
	if raw, ok := out.RawResponse.(*smithyhttp.Response); ok {
		response = raw.Response
	}
	o.end(begun, region, response, err)
	return out, metadata, err
}

// lostConnection reports whether a call ended, without a byte of an answer, on a connection that an earlier call had opened. That tells of the connection alone, which the other side may close
// at any time: only a new one tells whether it can be reached. A server that had begun to work on the call repeats it, which these calls all bear.
func (o *observation) lostConnection(ctx context.Context, out middleware.DeserializeOutput) bool {
	raw, _ := out.RawResponse.(*smithyhttp.Response)
	return ctx.Err() == nil && o.seen().reused && (raw == nil || raw.Response == nil || raw.StatusCode == 0)
}

// rewind readies a request to be sent again.
func rewind(in middleware.DeserializeInput) bool {
	request, ok := in.Request.(*smithyhttp.Request)
	return ok && request.RewindStream() == nil
}

// phaseOpening stands until the transport looks a name up, dials, or takes an open connection.
const phaseOpening = "opening a connection"

// begin starts a call; its context reports the transport's phases.
func (o *observation) begin(ctx context.Context, call sighting) context.Context {
	call.phase = phaseOpening
	o.change(func(s *sighting) { *s = call })
	phase := func(text string) { o.change(func(s *sighting) { s.phase = text }) }
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if info.Reused {
				o.change(func(s *sighting) {
					s.reused, s.phase, s.address = true, "sending the request", info.Conn.RemoteAddr().String()
				})
			}
		},
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

// serviceNames are those of services that the SDK calls otherwise than their hosts and IAM actions do.
var serviceNames = map[string]string{elb.ServiceID: "elasticloadbalancing"}

// end counts the call and measures the skew. region "" (the instance metadata service) has no clock of AWS's.
func (o *observation) end(begun time.Time, region string, response *http.Response, err error) {
	call, options := o.seen(), o.client.options
	dated := response != nil && response.StatusCode != 0
	answered, status := dated && !call.brokeOff(err), 0
	if answered {
		status = response.StatusCode
	}
	tagged := dated && hasRequestID(response.Header)
	o.change(func(s *sighting) { s.answered, s.received, s.tagged, s.cause = answered, status, tagged, err })
	service := cmp.Or(serviceNames[call.service], strings.ToLower(strings.ReplaceAll(call.service, " ", "_")))
	if tagged { // also of an answer that broke off: its header had come. The Date of a page in AWS's place tells nothing of AWS's clock.
		if skew, ok := skewOf(response.Header, begun, options.Now()); ok && region != "" {
			o.change(func(s *sighting) { s.skew, s.measured = skew, true })
			options.ObserveSkew(service+"."+region, skew)
		}
	}
	options.ObserveRequest(service, call.operation, requestCode(status, err))
}

// hasRequestID looks where the SDK does (aws-sdk-go-v2 aws/middleware, RequestIDRetriever).
func hasRequestID(header http.Header) bool {
	return header.Get("X-Amzn-Requestid") != "" || header.Get("X-Amz-Requestid") != ""
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
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case status == 0:
		return "none"
	case codeShape.MatchString(awsCode(err)):
		return awsCode(err)
	}
	return fmt.Sprintf("http_%d", status)
}
