// Bodies: requests are handed to the SDK as plain readers, or it may take a good answer for a broken connection; answers are read up to a bound.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// plainBody hides every method of a request's body but Read and Seek.
//
// smithy-go closes the body as soon as an answer begins; from then on its WriteTo returns io.EOF, where Read's io.EOF would be right (v1.28.9, transport/http/internal/io).
// A transport that has not yet looked for the body's end takes that for a failed write and closes the connection under the answer.
func plainBody(request *smithyhttp.Request) (*smithyhttp.Request, error) {
	body, ok := request.GetStream().(io.ReadSeeker)
	if !ok {
		return request, nil
	}
	plain, err := request.SetStream(struct{ io.ReadSeeker }{body})
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	return plain, nil
}

// maxAnswer bounds an answer, in bytes. The largest that AWS sends here, a page of 400 load balancers with their zones or the health of a thousand targets, has some 800 kB.
const maxAnswer = 4 << 20

// errAnswerTooLarge ends the reading of an answer past the bound.
var errAnswerTooLarge = errors.New("the answer is larger than 4 MiB")

// boundAnswers lets the deserializers read no more than the bound: the SDK itself reads for as long as something comes. broken is told of an error that ends the reading: the SDK's own
// error does not tell it from a text that cannot be parsed.
func boundAnswers(stack *middleware.Stack, broken func(error)) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("EKSSLOBoundAnswers", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		if raw, ok := out.RawResponse.(*smithyhttp.Response); ok && raw.Response != nil && raw.Body != nil {
			raw.Body = watchedBody{&boundedBody{ReadCloser: raw.Body, left: maxAnswer}, broken}
		}
		return out, metadata, err
	}), middleware.After)
}

// boundedBody fails, rather than ends, when there is more than the bound: half an answer is none.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errAnswerTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errAnswerTooLarge
	}
	return n, err
}

// watchedBody tells of every error but the end.
type watchedBody struct {
	io.ReadCloser
	broken func(error)
}

// Read implements io.Reader.
func (b watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.broken(err)
	}
	return n, err
}
