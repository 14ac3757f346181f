// An ELB API in memory, for tests with a clock of their own and for answers that no real one gives.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	shopARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef"
	webARN  = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/fedcba9876543210"
	albARN  = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/shop-alb/50dc6c495c0c9188"
)

// memory answers by operation, and counts. An operation without an answer is a defect of the test.
type memory struct {
	t *testing.T

	mu      sync.Mutex
	answers map[string]func(url.Values) (status int, body string)
	asked   []string // operations, in order
}

// Do implements aws.HTTPClient.
func (m *memory) Do(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	operation := form.Get("Action")
	m.asked = append(m.asked, operation)
	answer, ok := m.answers[operation]
	if !ok {
		m.t.Errorf("%s was asked: %v", operation, form)
		return nil, io.ErrUnexpectedEOF
	}
	status, body := answer(form)
	return &http.Response{StatusCode: status, Header: http.Header{"X-Amzn-Requestid": {"r-1"}}, Body: io.NopCloser(strings.NewReader(body)), Request: request}, nil
}

// take returns what was asked since the last time.
func (m *memory) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.asked
	m.asked = nil
	return asked
}

func (m *memory) answer(operation string, answer func(url.Values) (int, string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[operation] = answer
}

// result answers an operation with what is inside of its result.
func (m *memory) result(operation, inside string) {
	m.answer(operation, func(url.Values) (int, string) { return http.StatusOK, result(operation, inside) })
}

// fault answers an operation with an error of ELB's.
func (m *memory) fault(operation, code, message string) {
	m.answer(operation, func(url.Values) (int, string) { return fault(code, message) })
}

func result(operation, inside string) string {
	return fmt.Sprintf(`<%[1]sResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"><%[1]sResult>%[2]s</%[1]sResult><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></%[1]sResponse>`, operation, inside)
}

func fault(code, message string) (int, string) {
	return http.StatusBadRequest, fmt.Sprintf(`<ErrorResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`, code, message)
}

// members wraps texts into a list.
func members(list string, texts ...string) string {
	return "<" + list + "><member>" + strings.Join(texts, "</member><member>") + "</member></" + list + ">"
}

// groupXML is a target group with load balancers.
func groupXML(arn string, balancers ...string) string {
	name := strings.Split(arn, "/")[1]
	text := "<TargetGroupArn>" + arn + "</TargetGroupArn><TargetGroupName>" + name + "</TargetGroupName>"
	if len(balancers) > 0 {
		text += members("LoadBalancerArns", balancers...)
	}
	return text
}

const albXML = "<LoadBalancerArn>" + albARN + "</LoadBalancerArn><LoadBalancerName>shop-alb</LoadBalancerName><Type>application</Type><Scheme>internet-facing</Scheme><DNSName>shop-alb.example.com</DNSName>" +
	"<State><Code>active</Code></State><AvailabilityZones><member><ZoneName>eu-west-1a</ZoneName></member><member><ZoneName>eu-west-1b</ZoneName></member></AvailabilityZones>"

// newMemory is an ELB that has the groups shop and web, shop behind a load balancer, and a client of it.
func newMemory(t *testing.T, changes ...func(*Options)) (*Client, *memory) {
	t.Helper()
	isolate(t)
	t.Setenv("AWS_ACCESS_KEY_ID", keyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	m := &memory{t: t, answers: map[string]func(url.Values) (int, string){}}
	m.result(opDescribeTargetGroups, members("TargetGroups", groupXML(shopARN, albARN), groupXML(webARN)))
	m.result(opDescribeLoadBalancers, members("LoadBalancers", albXML))
	options := DefaultOptions()
	options.HTTPClient, options.ELBReadsPerSecond = m, 1000
	for _, change := range changes {
		change(&options)
	}
	client, err := New(t.Context(), options)
	must(t, err)
	return client, m
}

// group is a target whose observer has keys of its own, so that no sign-in is made.
func group(arn, name string) chain.Target {
	return chain.Target{Name: "shop", Kind: chain.KindALB, Group: chain.TargetGroup{
		Region: region, ARN: arn, Name: name, Observer: chain.Identity{Name: "reader", Source: chain.SourceEnvironment},
	}}
}
