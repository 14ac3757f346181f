// The body that the transport reads is a plain reader: the SDK's own would fail a good answer after it is closed.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"errors"
	"io"
	"strings"
	"testing"

	smithyhttp "github.com/aws/smithy-go/transport/http"
)

func TestPlainBodyHidesWriteTo(t *testing.T) {
	request, ok := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	if !ok {
		t.Fatal("the SDK's request has another type")
	}
	request, err := request.SetStream(strings.NewReader("Action=GetCallerIdentity"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := plainBody(request)
	if err != nil {
		t.Fatal(err)
	}
	body := plain.Build(t.Context()).Body
	if _, special := plain.GetStream().(io.WriterTo); special {
		t.Error("the stream still has WriteTo")
	}
	text, err := io.ReadAll(body)
	if err != nil || string(text) != "Action=GetCallerIdentity" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		t.Errorf("copying what is left after Close: %v, want nothing to be wrong", err)
	}
}

func TestPlainBodyWithoutABody(t *testing.T) {
	request, ok := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	if !ok {
		t.Fatal("the SDK's request has another type")
	}
	if plain, err := plainBody(request); err != nil || plain != request {
		t.Errorf("got %v, %v, want the request as it is", plain, err)
	}
}

func TestBoundedBody(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		want error
	}{
		"at the bound":   {maxAnswer, nil},
		"past the bound": {maxAnswer + 1, errAnswerTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			body := &boundedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("a", c.size))), left: maxAnswer}
			text, err := io.ReadAll(body)
			if !errors.Is(err, c.want) || c.want == nil && len(text) != c.size {
				t.Errorf("read %d bytes, %v, want %v", len(text), err, c.want)
			}
			if c.want != nil {
				if n, err := body.Read(make([]byte, 10)); n != 0 || !errors.Is(err, c.want) {
					t.Errorf("read again: %d, %v", n, err)
				}
			}
		})
	}
}
