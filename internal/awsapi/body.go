// Request bodies are handed to the SDK as plain readers, or it may take a good answer for a broken connection.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"fmt"
	"io"

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
