// Replays: a token's presigned URL sent to STS as the authenticator sends it, to tell what STS refuses from what the cluster does not map.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/aws/smithy-go"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Replay presents a token's presigned URL to the region's STS, without credentials of its own, and returns who STS says signed it. The request goes to AWS_ENDPOINT_URL_STS when that is
// set, with the signed host as its Host header. Errors are *chain.Error of the step sts, or the context's own.
func (c *Client) Replay(ctx context.Context, token chain.Token, region string) (chain.Principal, error) {
	if err := checkRegion(region); err != nil {
		return chain.Principal{}, err
	}
	request, err := c.replayRequest(ctx, token, region)
	if err != nil {
		return chain.Principal{}, chain.Fail(chain.StepToken, chain.ReasonTokenMalformed, "replaying the presigned URL: "+err.Error(), nil, nil)
	}
	seen, begun := c.observe(), c.options.Now()
	traced := seen.begin(ctx, sighting{service: "STS", operation: opReplay, host: request.URL.Host})
	principal, reply, err := c.send(request.WithContext(traced))
	seen.end(begun, region, reply.response, err)
	if err == nil {
		return principal, nil
	}
	last := seen.seen()
	found := answerOf(err, last)
	if reply.response != nil {
		found.status, found.requestID = reply.response.StatusCode, reply.requestID
	}
	call := stsCall{operation: opReplay, doing: "replaying the presigned URL", facts: chain.Facts{chain.FactRegion: region}.Merge(last.facts())}
	return chain.Principal{}, c.stsError(ctx, call, found)
}

// replayRequest refuses a URL for any other host than the region's STS: a token is sent nowhere else. Its errors hold nothing of the URL but its host.
func (c *Client) replayRequest(ctx context.Context, token chain.Token, region string) (*http.Request, error) {
	canonical, err := canonicalSTS(ctx, region)
	if err != nil {
		return nil, err
	}
	signed, err := url.Parse(token.URL.Reveal())
	if err != nil || signed.Scheme != "https" || signed.Host != canonical.Host {
		return nil, fmt.Errorf("it is not a URL of https://%s", canonical.Host)
	}
	request := (&http.Request{Method: http.MethodGet, URL: signed, Host: signed.Host, Header: http.Header{}}).WithContext(ctx)
	request.Header.Set(clusterIDHeader, token.ClusterName)
	request.Header.Set("Accept", "application/json")
	override, err := c.override()
	if err != nil {
		return nil, err
	}
	if override != nil {
		there := *signed
		there.Scheme, there.Host = override.Scheme, override.Host
		request.URL = &there
	}
	return request, nil
}

// reply is what of the answer matters beside its body; response is nil when nothing came back.
type reply struct {
	response  *http.Response
	requestID string
}

// replayBody is STS's JSON, of a success or an error (aws-iam-authenticator pkg/token, getCallerIdentityWrapper).
type replayBody struct {
	GetCallerIdentityResponse struct {
		GetCallerIdentityResult struct {
			Account string
			ARN     string `json:"Arn"`
			UserID  string `json:"UserId"`
		}
	}
	Error     struct{ Code, Message string }
	RequestID string `json:"RequestId"`
}

func (c *Client) send(request *http.Request) (chain.Principal, reply, error) {
	response, err := c.replays.Do(request)
	if wrapper, ok := errors.AsType[*url.Error](err); ok { // its text holds the presigned URL
		err = wrapper.Err
	}
	if err != nil {
		return chain.Principal{}, reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(&boundedBody{ReadCloser: response.Body, left: maxAnswer})
	if err != nil {
		return chain.Principal{}, reply{}, err
	}
	var body replayBody
	parsed := json.Unmarshal(text, &body) == nil
	who := body.GetCallerIdentityResponse.GetCallerIdentityResult
	found := reply{response, body.RequestID}
	if parsed && response.StatusCode == http.StatusOK && who.ARN != "" {
		return chain.Principal{ARN: who.ARN, AccountID: who.Account, UserID: who.UserID}, found, nil
	}
	if !parsed {
		body.Error.Code, body.Error.Message = "", ""
	}
	return chain.Principal{}, found, &smithy.GenericAPIError{Code: body.Error.Code, Message: body.Error.Message}
}
