// Tokens: GetCallerIdentity presigned for one cluster, as aws-iam-authenticator and `aws eks get-token` make it. No call is made.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	tokenPrefix     = "k8s-aws-v1."
	clusterIDHeader = "x-k8s-aws-id"
	// tokenQuery holds X-Amz-Expires for old servers; newer ones ignore it (aws-iam-authenticator pkg/token).
	tokenQuery = "?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60"
	emptyHash  = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256 of an empty body
)

// Token presigns GetCallerIdentity for a cluster at the canonical STS host of the session's region, whatever endpoint the exporter's own calls use.
func (s *Session) Token(ctx context.Context, clusterName string) (chain.Token, error) {
	malformed := func(err error) error {
		return chain.Fail(chain.StepToken, chain.ReasonTokenMalformed, fmt.Sprintf("presigning GetCallerIdentity for the cluster %q: %s", clusterName, chain.Redact(err.Error())), nil, err)
	}
	endpoint, err := canonicalSTS(ctx, s.region)
	if err != nil {
		return chain.Token{}, malformed(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+endpoint.Host+"/"+tokenQuery, nil)
	if err != nil {
		return chain.Token{}, malformed(err)
	}
	request.Header.Set(clusterIDHeader, clusterName)
	signed := s.client.options.Now().UTC().Truncate(time.Second) // the resolution of X-Amz-Date
	uri, _, err := v4.NewSigner().PresignHTTP(ctx, s.credentials, request, emptyHash, "sts", s.region, signed)
	if err != nil {
		return chain.Token{}, malformed(err)
	}
	expires := signed.Add(chain.TokenLifetime)
	if end := s.Expires(); !end.IsZero() && end.Before(expires) {
		expires = end
	}
	return chain.Token{
		Value: chain.NewSecret(tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(uri))), URL: chain.NewSecret(uri),
		ClusterName: clusterName, Signed: signed, Expires: expires,
	}, nil
}
