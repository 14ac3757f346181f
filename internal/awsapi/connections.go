// Connections: a run asks STS over a pool of its own, so that it begins without any connection, as a new job does, and pays for one handshake.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// idleLimit ends a connection that a run left open without its last question, GetCallerIdentity, which closes it at once.
const idleLimit = time.Second

// stsCalls are the calls of one run to STS. Client and pool are made for the run: the SDK's signer keeps a signing key by the access key's id alone, so that a client that lived
// on would sign with a secret that is no longer the configured one (aws-sdk-go-v2 aws/signer/internal/v4, derivedKeyCache).
type stsCalls struct {
	api       *sts.Client
	transport *http.Transport
}

func (c *Client) sts(region string) *stsCalls {
	transport := c.transport.Clone()
	transport.DisableKeepAlives, transport.IdleConnTimeout = false, idleLimit
	return &stsCalls{transport: transport, api: sts.NewFromConfig(c.base, func(o *sts.Options) {
		o.Region, o.HTTPClient = region, &http.Client{Transport: transport, CheckRedirect: noRedirect}
	})}
}

// close ends the connections that no call uses.
func (s *stsCalls) close() { s.transport.CloseIdleConnections() }

// noRedirect: AWS makes none, and what answers in its place is told as it is.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// as is the option of a call that is signed with the credentials, or with none, and watched.
func as(credentials aws.CredentialsProvider, seen *observation) func(*sts.Options) {
	return func(o *sts.Options) {
		o.Credentials = credentials
		o.APIOptions = append(o.APIOptions, seen.attach)
	}
}
