// The authenticator's own call to STS: the presigned URL, replayed with the cluster's id instead of the one that the client signed.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sigs.k8s.io/aws-iam-authenticator/pkg/arn"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// STSEndpoint is where a sandbox's authenticator reaches STS: every STS host name is dialled at Address, and its certificate must chain to CAPEM.
type STSEndpoint struct {
	Address string // host:port
	CAPEM   []byte
}

const (
	stsTimeout   = 10 * time.Second // the verifier's client (pkg/token, NewVerifier)
	stsBodyLimit = 1 << 20
)

// client makes the verifier's HTTP client: 10 s for a call, redirects not followed.
func (e STSEndpoint) client() (*http.Client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(e.CAPEM) {
		return nil, errors.New("reading the certificate authority of STS: no PEM certificate in it")
	}
	dialer := &net.Dialer{}
	return &http.Client{
		Timeout:       stsTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, e.Address)
			},
			TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: stsTimeout, ForceAttemptHTTP2: true,
		},
	}, nil
}

func stsError(format string, args ...any) error {
	return &refusal{codeSTSError, "sts getCallerIdentity failed: " + fmt.Sprintf(format, args...)}
}

// askSTS performs the presigned GET under the cluster's own id, so a token that was signed for another cluster has a wrong signature here.
func askSTS(ctx context.Context, client *http.Client, p presigned, clusterID string) (identity, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url.String(), nil)
	if err != nil {
		return identity{}, formatError("error creating HTTP request: %s", chain.Redact(err.Error()))
	}
	request.Header.Set(clusterIDHeader, clusterID)
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
			err = urlErr.Err // without the URL
		}
		return identity{}, stsError("error during GET: %v on %s endpoint", err, p.region)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, stsBodyLimit))
	if err != nil {
		return identity{}, stsError("error reading HTTP result: %v", err)
	}
	if response.StatusCode != http.StatusOK {
		if strings.Contains(string(body), "Throttling") {
			return identity{}, &refusal{codeSTSThrottling, "sts getCallerIdentity was throttled: " + chain.Redact(string(body))}
		}
		return identity{}, stsError("error from AWS (expected 200, got %d) on %s endpoint. Body: %s", response.StatusCode, p.region, chain.Redact(string(body)))
	}
	return readCaller(body, p.accessKeyID)
}

// readCaller reads GetCallerIdentity's JSON answer.
func readCaller(body []byte, accessKeyID string) (identity, error) {
	var wrapper struct {
		GetCallerIdentityResponse struct {
			GetCallerIdentityResult struct{ Account, Arn, UserID string }
		}
	}
	if err := json.Unmarshal(body, &wrapper); err != nil {
		return identity{}, stsError("%s", err)
	}
	result := wrapper.GetCallerIdentityResponse.GetCallerIdentityResult
	kind, canonical, err := arn.Canonicalize(result.Arn)
	if err != nil {
		return identity{}, stsError("%s", err)
	}
	caller := identity{arn: result.Arn, canonicalARN: canonical, accountID: result.Account, userID: result.UserID, accessKeyID: accessKeyID}
	switch kind {
	case arn.FEDERATED_USER, arn.USER, arn.ROOT:
		return caller, nil
	case arn.NONE, arn.ROLE, arn.ASSUMED_ROLE:
	}
	parts := strings.Split(result.UserID, ":")
	if len(parts) != 2 {
		return identity{}, stsError("malformed UserID %q", result.UserID)
	}
	caller.userID, caller.sessionName = parts[0], parts[1]
	return caller, nil
}
