// The floor: the requests of one cold chain and nothing else, with net/http and the SDK's signer.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// floor does what a run does on the wire: one connection to STS for the two hops and GetCallerIdentity, one to the apiserver for /readyz, the review and the access reviews at once.
type floor struct {
	sts, apiserver string
	tokenFile      string
	externalID     string
	exporterRole   string
	role           string
	region         string
	eksName        string
	rules          []chain.Rule
	stsPool        *x509.CertPool
	apiPool        *x509.CertPool
}

func newFloor(target chain.Target, env map[string]string) (*floor, error) {
	stsCA, err := os.ReadFile(env["AWS_CA_BUNDLE"])
	if err != nil {
		return nil, err
	}
	apiCA, err := os.ReadFile(target.Cluster.CAFile)
	if err != nil {
		return nil, err
	}
	id, err := os.ReadFile(target.Identity.Hops[0].ExternalIDFile)
	if err != nil {
		return nil, err
	}
	f := &floor{
		sts: os.Getenv("AWS_ENDPOINT_URL_STS"), apiserver: target.Cluster.Endpoint, tokenFile: env["AWS_WEB_IDENTITY_TOKEN_FILE"], externalID: strings.TrimSpace(string(id)),
		exporterRole: env["AWS_ROLE_ARN"], role: target.Identity.Hops[0].RoleARN, region: target.Cluster.Region, eksName: target.Cluster.EKSName,
		rules: append(append([]chain.Rule{}, target.Allow...), target.Deny...), stsPool: x509.NewCertPool(), apiPool: x509.NewCertPool(),
	}
	f.stsPool.AppendCertsFromPEM(stsCA)
	f.apiPool.AppendCertsFromPEM(apiCA)
	return f, nil
}

func (f *floor) run(ctx context.Context) error {
	sts := client(f.stsPool)
	defer sts.CloseIdleConnections()
	token, err := f.signIn(ctx, sts)
	if err != nil {
		return err
	}
	api := client(f.apiPool)
	defer api.CloseIdleConnections()
	return f.ask(ctx, api, token)
}

func client(pool *x509.CertPool) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}}
}

// stsCredentials is the one part of the two hops' answers that is needed.
type stsCredentials struct {
	Web  awsCredentials `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	Role awsCredentials `xml:"AssumeRoleResult>Credentials"`
}

type awsCredentials struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
}

func (c awsCredentials) sdk() aws.Credentials {
	return aws.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken}
}

func (f *floor) signIn(ctx context.Context, client *http.Client) (string, error) {
	jwt, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return "", err
	}
	var answer stsCredentials
	err = f.call(ctx, client, aws.Credentials{}, &answer, url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {f.exporterRole}, "RoleSessionName": {"floor"}, "WebIdentityToken": {string(jwt)}, "DurationSeconds": {"900"},
	})
	if err != nil {
		return "", err
	}
	err = f.call(ctx, client, answer.Web.sdk(), &answer, url.Values{
		"Action": {"AssumeRole"}, "RoleArn": {f.role}, "RoleSessionName": {"floor"}, "ExternalId": {f.externalID}, "DurationSeconds": {"900"},
		"Policy": {`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`},
	})
	if err != nil {
		return "", err
	}
	session := answer.Role.sdk()
	var caller struct {
		Arn string `xml:"GetCallerIdentityResult>Arn"`
	}
	if err := f.call(ctx, client, session, &caller, url.Values{"Action": {"GetCallerIdentity"}}); err != nil {
		return "", err
	}
	if caller.Arn == "" {
		return "", errors.New("STS told no ARN")
	}
	return f.presign(ctx, session)
}

func (f *floor) call(ctx context.Context, client *http.Client, credentials aws.Credentials, into any, form url.Values) error {
	form.Set("Version", "2011-06-15")
	body := form.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.sts+"/", strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if credentials.AccessKeyID != "" {
		sum := sha256.Sum256([]byte(body))
		if err := v4.NewSigner().SignHTTP(ctx, credentials, request, hex.EncodeToString(sum[:]), "sts", f.region, time.Now()); err != nil {
			return err
		}
	}
	text, err := read(client, request)
	if err != nil {
		return err
	}
	return xml.Unmarshal(text, into)
}

func read(client *http.Client, request *http.Request) ([]byte, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s", request.Method, request.URL.Path, response.Status)
	}
	return text, err
}

func (f *floor) presign(ctx context.Context, session aws.Credentials) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://sts."+f.region+".amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60", nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("X-K8s-Aws-Id", f.eksName)
	empty := sha256.Sum256(nil)
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, session, request, hex.EncodeToString(empty[:]), "sts", f.region, time.Now())
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(signed)), err
}

// ask does the reviews.
func (f *floor) ask(ctx context.Context, client *http.Client, token string) error {
	if _, err := f.kube(ctx, client, "/readyz", "", nil); err != nil {
		return err
	}
	review, err := f.kube(ctx, client, "/apis/authentication.k8s.io/v1/selfsubjectreviews", token,
		map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
	if err != nil {
		return err
	}
	var who struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	if err := json.Unmarshal(review, &who); err != nil || who.Status.UserInfo.Username == "" {
		return fmt.Errorf("the review told no user: %w", err)
	}
	errs := make([]error, len(f.rules))
	var all sync.WaitGroup
	for i, rule := range f.rules {
		all.Go(func() { errs[i] = f.access(ctx, client, token, rule) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (f *floor) access(ctx context.Context, client *http.Client, token string, rule chain.Rule) error {
	text, err := f.kube(ctx, client, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", token, map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]string{"verb": rule.Verb, "group": rule.Group, "resource": rule.Resource, "namespace": rule.Namespace}},
	})
	if err != nil {
		return err
	}
	var decision struct{ Status struct{ Allowed bool } }
	return json.Unmarshal(text, &decision)
}

// kube asks the apiserver: a nil object is a GET, any other is posted.
func (f *floor) kube(ctx context.Context, client *http.Client, path, token string, object any) ([]byte, error) {
	method := http.MethodGet
	var body io.Reader
	if object != nil {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, f.apiserver+path, body)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
	}
	return read(client, request)
}
