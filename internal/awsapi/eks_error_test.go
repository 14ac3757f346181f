// What the EKS API answers, in its own words, and the reason that it is.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The literal shapes. Only a missing cluster is a failure.
func TestEKSFail(t *testing.T) {
	const (
		missing = "No cluster found for name: prod."
		noEntry = "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'."
	)
	for name, c := range map[string]struct {
		operation, code, message string
		status                   int
		want                     verdict
	}{
		"no cluster":                {opDescribeCluster, "ResourceNotFoundException", missing, 404, failure(chain.StepToken, chain.ReasonClusterNotFound)},
		"no cluster, another text":  {opDescribeCluster, "ResourceNotFoundException", "", 404, failure(chain.StepToken, chain.ReasonClusterNotFound)},
		"no cluster for an entry":   {opDescribeAccessEntry, "ResourceNotFoundException", missing, 404, failure(chain.StepToken, chain.ReasonClusterNotFound)},
		"no cluster for a list":     {opListAccessEntries, "ResourceNotFoundException", "", 404, failure(chain.StepToken, chain.ReasonClusterNotFound)},
		"throttled, as seen":        {opDescribeCluster, "TooManyRequestsException", "Rate exceeded", 429, unknown(chain.ReasonEKSAPIThrottled)},
		"throttled, as documented":  {opDescribeCluster, "ThrottlingException", "Rate exceeded", 400, unknown(chain.ReasonEKSAPIThrottled)},
		"a proxy's 429":             {opDescribeCluster, "", "", 429, unknown(chain.ReasonObserverUnavailable)},
		"denied":                    {opDescribeCluster, "AccessDeniedException", "User: x is not authorized to perform: eks:DescribeCluster", 403, unknown(chain.ReasonObserverDenied)},
		"no entries in CONFIG_MAP":  {opDescribeAccessEntry, "InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP]", 400, unknown(chain.ReasonNotMeasurable)},
		"a request that is invalid": {opDescribeCluster, "InvalidRequestException", "", 400, unknown(chain.ReasonObserverUnavailable)},
		"a dead session":            {opDescribeCluster, "UnrecognizedClientException", "The security token included in the request is invalid.", 403, unknown(chain.ReasonObserverUnavailable)},
		"a wrong clock":             {opDescribeCluster, "InvalidSignatureException", "Signature expired", 403, unknown(chain.ReasonObserverUnavailable)},
		"AWS is down":               {opDescribeCluster, "ServiceUnavailableException", "", 503, unknown(chain.ReasonObserverUnavailable)},
		"a proxy's page":            {opDescribeCluster, "", "", 403, unknown(chain.ReasonObserverUnavailable)},
		"silence":                   {opDescribeCluster, "", "", 0, unknown(chain.ReasonObserverUnavailable)},
	} {
		t.Run(name, func(t *testing.T) {
			call := eksCall{operation: c.operation, cluster: "prod", observer: "reader", facts: chain.Facts{chain.FactObserver: "reader"}}
			a := answer{code: c.code, message: c.message, status: c.status, err: errors.New("the cause")}
			e := wantVerdict(t, call.fail(t.Context(), a), c.want)
			wantText(t, e.Detail, c.operation+" of the cluster prod as the observer reader: ")
			wantSame(t, e.Facts[chain.FactObserver], "reader")
		})
	}
	err := eksCall{operation: opDescribeAccessEntry}.fail(t.Context(), answer{code: "ResourceNotFoundException", message: noEntry, status: 404})
	if !errors.Is(err, errNoEntry) {
		t.Errorf("got %v, want %v", err, errNoEntry)
	}
}

// Our own end is nobody's failure, in the answer as in the budget.
func TestEKSCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"an answer": eksCall{}.fail(ctx, answer{status: 500}), "the budget": eksCall{}.overBudget(ctx, ctx.Err()), "the observer": observerError(ctx, "reader", nil, ctx.Err()),
	} {
		if !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Answers that make no sense are the observer's trouble, not a cluster without an authority.
func TestEKSForeignAnswers(t *testing.T) {
	for name, c := range map[string]struct{ body, detail string }{
		"no cluster":           {`{}`, "it holds no cluster"},
		"a broken authority":   {`{"cluster":{"name":"prod","certificateAuthority":{"data":"%%%"}}}`, "the certificate authority is not base64"},
		"a page, not an entry": {`<html>`, "HTTP 200 without an AWS error"},
	} {
		t.Run(name, func(t *testing.T) {
			w := literal(t, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(c.body)) })
			target := w.target("prod")
			target.Observer.Hops = nil
			_, err := w.client.Cluster(t.Context(), target)
			wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, c.detail)
		})
	}
	w := literal(t, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(`{}`)) })
	target := w.target("prod")
	target.Observer.Hops = nil
	_, _, err := w.client.AccessEntry(t.Context(), target, deployARN)
	wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
}

// A cluster's every field, as EKS spells it.
func TestClusterFields(t *testing.T) {
	w := literal(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`{"cluster":{"name":"prod","arn":"arn:aws:eks:eu-west-1:111122223333:cluster/prod","status":"UPDATING","endpoint":"https://ABC.gr7.eu-west-1.eks.amazonaws.com",
			"certificateAuthority":{"data":"cGVt"},"accessConfig":{"authenticationMode":"API_AND_CONFIG_MAP"},"identity":{"oidc":{"issuer":"https://issuer"}},
			"resourcesVpcConfig":{"endpointPublicAccess":true,"endpointPrivateAccess":true,"publicAccessCidrs":["198.51.100.0/24"]}}}`))
	})
	target := w.target("prod")
	target.Observer.Hops = nil
	got, err := w.client.Cluster(t.Context(), target)
	must(t, err)
	got.Read = time.Time{}
	wantSame(t, got, chain.ClusterInfo{
		Name: "prod", ARN: "arn:aws:eks:eu-west-1:111122223333:cluster/prod", Status: "UPDATING", Endpoint: "https://ABC.gr7.eu-west-1.eks.amazonaws.com", CA: []byte("pem"),
		AuthMode: chain.AuthModeAPIAndConfigMap, PublicIPs: []string{"198.51.100.0/24"}, Public: true, Private: true,
	})
}

// A server that repeats a page token would never end.
func TestAccessEntriesEnd(t *testing.T) {
	calls := 0
	w := literal(t, func(rw http.ResponseWriter, _ *http.Request) {
		calls++
		_, _ = rw.Write([]byte(`{"accessEntries":["` + deployARN + `"],"nextToken":"again"}`))
	})
	target := w.target("prod")
	target.Observer.Hops = nil
	got, err := w.client.AccessEntries(t.Context(), target)
	must(t, err)
	wantSame(t, got, []string{deployARN, deployARN})
	wantSame(t, calls, 2)
}

// The observer's token fails as the observer does.
func TestObserverTokenRefused(t *testing.T) {
	w := newWorld(t)
	target := w.target("prod")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	_, err := w.client.ObserverToken(t.Context(), target)
	wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
}

// Every partition's region has its partition and its home, and only there.
func TestRegionPartition(t *testing.T) {
	for region, want := range map[string][2]string{
		"eu-west-1": {"aws", "us-east-1"}, "cn-northwest-1": {"aws-cn", "cn-north-1"}, "us-gov-east-1": {"aws-us-gov", "us-gov-west-1"}, "us-iso-west-1": {"aws-iso", "us-iso-east-1"},
		"us-isob-east-1": {"aws-iso-b", "us-isob-east-1"}, "us-isof-east-1": {"aws-iso-f", "us-isof-south-1"}, "eu-isoe-west-1": {"aws-iso-e", "eu-isoe-west-1"}, "eusc-de-east-1": {"aws-eusc", "eusc-de-east-1"},
	} {
		partition, home := regionPartition(region)
		wantSame(t, [2]string{partition, home}, want)
		must(t, checkRegion(region))
		must(t, checkRegion(home))
	}
}

// An override that became no URL after New had read it stops a replay before anything is sent.
func TestOverride(t *testing.T) {
	isolate(t)
	for value, want := range map[string]string{"": "", "https://vpce.example.com": "vpce.example.com", "http://127.0.0.1:8080/": "127.0.0.1:8080", "sts.example.com": "error", "https://%zz": "error"} {
		t.Setenv("AWS_ENDPOINT_URL_STS", "")
		client, err := New(t.Context(), DefaultOptions())
		must(t, err)
		t.Setenv("AWS_ENDPOINT_URL_STS", value)
		u, err := client.override()
		got := ""
		switch {
		case err != nil:
			got = "error"
		case u != nil:
			got = u.Host
		}
		wantSame(t, got, want)
	}
}

// The texts of an answer, as a detail shows them.
func TestAnswerText(t *testing.T) {
	deadline := &url.Error{Op: "Post", URL: "https://sts.example.com/?secret", Err: context.DeadlineExceeded}
	for name, c := range map[string]struct {
		a    answer
		want string
	}{
		"words":         {answer{status: 403, code: "AccessDenied", message: "no"}, "403 AccessDenied: no"},
		"a code":        {answer{status: 400, code: "IDPCommunicationError"}, "400 IDPCommunicationError"},
		"neither":       {answer{status: 502}, "HTTP 502 without an AWS error"},
		"in no time":    {answer{sighting: sighting{phase: "resolving sts.example.com"}, err: deadline}, "no answer in time, while resolving sts.example.com"},
		"a broken wire": {answer{sighting: sighting{phase: "in the TLS handshake"}, err: &url.Error{URL: "https://secret", Err: errors.New("EOF")}}, "no answer, while in the TLS handshake: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			wantSame(t, c.a.text(), c.want)
			if strings.Contains(c.a.text(), "secret") {
				t.Error("the URL shows")
			}
		})
	}
}
