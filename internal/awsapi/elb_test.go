// The health of targets and the attributes of groups, as ELB spells them.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Every field, in ELB's order; states, codes and overrides that nobody knows stay as they are spelled.
func TestHealth(t *testing.T) {
	client, m := newMemory(t)
	var asked url.Values
	m.answer(opDescribeTargetHealth, func(form url.Values) (int, string) {
		asked = form
		return http.StatusOK, result(opDescribeTargetHealth, members("TargetHealthDescriptions",
			`<Target><Id>10.0.1.11</Id><Port>8080</Port><AvailabilityZone>eu-west-1a</AvailabilityZone></Target><HealthCheckPort>8080</HealthCheckPort><TargetHealth><State>healthy</State></TargetHealth>`+
				`<AnomalyDetection><Result>anomalous</Result><MitigationInEffect>yes</MitigationInEffect></AnomalyDetection>`+
				`<AdministrativeOverride><State>zonal_shift_active</State><Reason>AdministrativeOverride.ZonalShiftActive</Reason></AdministrativeOverride>`,
			`<Target><Id>i-0aaaaaaaaaaaaaaa1</Id><Port>30080</Port></Target><TargetHealth><State>unhealthy</State><Reason>Target.ResponseCodeMismatch</Reason>`+
				`<Description>Health checks failed with these codes: [503] Credential=`+keyID+`/x</Description></TargetHealth>`+
				`<AnomalyDetection><Result>normal</Result><MitigationInEffect>no</MitigationInEffect></AnomalyDetection><AdministrativeOverride><State>no_override</State></AdministrativeOverride>`,
			`<Target><Id>arn:aws:lambda:eu-west-1:111122223333:function:f</Id></Target><TargetHealth><State>sleeping</State><Reason>Target.Asleep</Reason></TargetHealth>`))
	})
	got, err := client.Health(t.Context(), group(shopARN, "shop"), shopARN)
	must(t, err)
	wantSame(t, got, []chain.TargetHealth{
		{ID: "10.0.1.11", Port: 8080, Zone: "eu-west-1a", State: chain.TargetHealthy, Override: "zonal_shift_active", Anomalous: true, Mitigated: true},
		{ID: "i-0aaaaaaaaaaaaaaa1", Port: 30080, State: chain.TargetUnhealthy, Code: chain.CodeResponseCodeMismatch, Description: "Health checks failed with these codes: [503] [redacted]", Override: "no_override"},
		{ID: "arn:aws:lambda:eu-west-1:111122223333:function:f", State: "sleeping", Code: "Target.Asleep"},
	})
	wantSame(t, []string{asked.Get("TargetGroupArn"), asked.Get("Include.member.1")}, []string{shopARN, "All"})
}

// An empty group is an answer, and asked for anew each time.
func TestHealthOfNone(t *testing.T) {
	client, m := newMemory(t)
	m.result(opDescribeTargetHealth, "<TargetHealthDescriptions/>")
	for range 2 {
		got, err := client.Health(t.Context(), group(shopARN, ""), shopARN)
		must(t, err)
		wantSame(t, got, []chain.TargetHealth{})
	}
	wantSame(t, m.take(), []string{opDescribeTargetHealth, opDescribeTargetHealth})
}

// An answer without what every answer holds says nothing: least of all that a group is empty.
func TestELBForeignAnswers(t *testing.T) {
	for name, c := range map[string]struct{ body, detail string }{
		"nothing":            {"", "the answer makes no sense: it holds no list of targets"},
		"no list":            {result(opDescribeTargetHealth, ""), "it holds no list of targets"},
		"no id":              {result(opDescribeTargetHealth, members("TargetHealthDescriptions", `<Target/><TargetHealth><State>healthy</State></TargetHealth>`)), "a target without an id or a state"},
		"no target":          {result(opDescribeTargetHealth, members("TargetHealthDescriptions", ``)), "a target without an id or a state"},
		"no state":           {result(opDescribeTargetHealth, members("TargetHealthDescriptions", `<Target><Id>i-1</Id></Target><TargetHealth/>`)), "a target without an id or a state"},
		"words without end":  {result(opDescribeTargetHealth, members("TargetHealthDescriptions", manyStates(100)...)), "it holds more than 64 states and codes, of which ELB has some twenty"},
		"a port of no port":  {result(opDescribeTargetHealth, members("TargetHealthDescriptions", `<Target><Id>i-1</Id><Port>99999999999</Port></Target>`)), "HTTP 200 without an AWS error"},
		"a page":             {"<html>please log in", "HTTP 200 without an AWS error"},
		"half an answer":     {result(opDescribeTargetHealth, members("TargetHealthDescriptions", `<Target>`))[:200], "HTTP 200 without an AWS error"},
		"an answer too long": {"<DescribeTargetHealthResponse>" + strings.Repeat(" ", maxAnswer), "no answer, while "},
	} {
		t.Run(name, func(t *testing.T) {
			client, m := newMemory(t)
			m.answer(opDescribeTargetHealth, func(url.Values) (int, string) { return http.StatusOK, c.body })
			_, err := client.Health(t.Context(), group(shopARN, "shop"), shopARN)
			wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, "DescribeTargetHealth of the target group "+shopARN+" as the observer reader: ", c.detail)
		})
	}
}

// manyStates are targets in a state and with a code of their own each.
func manyStates(n int) (targets []string) {
	for i := range n {
		targets = append(targets, fmt.Sprintf("<Target><Id>i-%d</Id></Target><TargetHealth><State>state-%d</State><Reason>Code.%d</Reason></TargetHealth>", i, i, i))
	}
	return targets
}

// Ids, zones, states and codes become pages, labels and JSON: they are bounded, and hold no secret.
func TestHealthIsFitForPeople(t *testing.T) {
	client, m := newMemory(t)
	foreign := strings.Repeat("x", 5000) + " k8s-aws-v1.c2VjcmV0"
	m.result(opDescribeTargetHealth, members("TargetHealthDescriptions", fmt.Sprintf("<Target><Id>%[1]s</Id><AvailabilityZone>%[1]s</AvailabilityZone></Target><TargetHealth><State>%[1]s</State><Reason>%[1]s</Reason></TargetHealth>",
		"AKIAAAAAAAAAAAAAAAAA\n"+foreign)))
	got, err := client.Health(t.Context(), group(shopARN, ""), shopARN)
	must(t, err)
	for _, text := range []string{got[0].ID, got[0].Zone, string(got[0].State), got[0].Code} {
		if len(text) > 1010 || strings.ContainsAny(text, "\n") || strings.Contains(text, "AKIA") {
			t.Errorf("%d bytes: %.40q", len(text), text)
		}
	}
}

// Whatever comes back: no panic, no failure but by ELB's own word, no secret, and never an empty group that ELB did not tell.
func FuzzHealth(f *testing.F) {
	_, gone := fault("TargetGroupNotFound", "gone")
	for _, seed := range []string{"", "<html>", gone, result(opDescribeTargetHealth, "<TargetHealthDescriptions/>"), result(opDescribeTargetHealth, members("TargetHealthDescriptions", `<Target><Id>i-1</Id></Target><TargetHealth><State>healthy</State></TargetHealth>`))} {
		f.Add(http.StatusOK, seed)
		f.Add(http.StatusBadRequest, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		client, m := newMemory(t)
		m.answer(opDescribeTargetHealth, func(url.Values) (int, string) { return status, body })
		got, err := client.Health(t.Context(), group(shopARN, ""), shopARN)
		e := chain.AsError(err)
		switch {
		case e == nil && len(got) == 0 && !strings.Contains(body, "TargetHealthDescriptions"):
			t.Errorf("an empty group of %d %q", status, body)
		case e != nil && e.Outcome == chain.OutcomeFailure && !strings.Contains(body, "TargetGroupNotFound"):
			t.Errorf("a failure of %d %q: %v", status, body, e)
		case e != nil:
			wantNoSecret(t, e.Error(), nil)
		}
	})
}

func TestAttributes(t *testing.T) {
	attribute := func(key, value string) string { return "<Key>" + key + "</Key><Value>" + value + "</Value>" }
	for name, c := range map[string]struct {
		attributes []string
		want       chain.GroupAttributes
		err        string
	}{
		"the defaults":  {[]string{attribute(minHealthyCount, "1"), attribute(minHealthyPercent, "off"), attribute("deregistration_delay.timeout_seconds", "300")}, chain.GroupAttributes{MinHealthyCount: 1}, ""},
		"others":        {[]string{attribute(minHealthyCount, "off"), attribute(minHealthyPercent, "50"), attribute("stickiness.enabled", "false")}, chain.GroupAttributes{MinHealthyPercent: 50}, ""},
		"of a function": {[]string{attribute("lambda.multi_value_headers.enabled", "false")}, chain.GroupAttributes{MinHealthyCount: 1}, ""},
		"no number":     {[]string{attribute(minHealthyCount, "many")}, chain.GroupAttributes{}, `the attribute ` + minHealthyCount + ` is "many", which is no number`},
		"below nothing": {[]string{attribute(minHealthyCount, "-1")}, chain.GroupAttributes{}, `is "-1", which is no number`},
		"beyond reason": {[]string{attribute(minHealthyCount, "99999999999")}, chain.GroupAttributes{}, "which is no number"},
	} {
		t.Run(name, func(t *testing.T) {
			client, m := newMemory(t)
			m.result(opDescribeGroupAttributes, members("Attributes", c.attributes...))
			got, err := client.Attributes(t.Context(), group(shopARN, ""), shopARN)
			if c.err != "" {
				wantText(t, wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable)).Detail, c.err)
				return
			}
			must(t, err)
			wantSame(t, got, c.want)
		})
	}
}

// Attributes are read every ten minutes, for each group; an error is not kept.
func TestAttributesAreKept(t *testing.T) {
	client, m := newMemory(t)
	synctest.Test(t, func(t *testing.T) {
		read := func(arn string, want int) {
			t.Helper()
			_, err := client.Attributes(t.Context(), group(arn, ""), arn)
			if want < 0 {
				wantVerdict(t, err, failure(chain.StepRegistration, chain.ReasonTargetGroupMissing))
				want = 1
			} else {
				must(t, err)
			}
			wantSame(t, len(m.take()), want)
		}
		m.fault(opDescribeGroupAttributes, "TargetGroupNotFound", "")
		read(shopARN, -1)
		m.result(opDescribeGroupAttributes, "<Attributes/>")
		read(shopARN, 1)
		time.Sleep(keepAttributes - time.Nanosecond)
		read(shopARN, 0)
		read(webARN, 1)
		time.Sleep(time.Nanosecond)
		read(shopARN, 1)
		read(webARN, 0)
	})
}

// Reads of an account wait for their turn in its bucket. One that cannot have it in time is not sent, and says whose budget it was.
func TestELBBudget(t *testing.T) {
	var waits []time.Duration
	client, m := newMemory(t, func(o *Options) {
		o.ELBReadsPerSecond, o.EKSReadsPerSecond = 2, 1000
		o.ObserveWait = func(wait time.Duration) { waits = append(waits, wait) }
	})
	m.result(opDescribeTargetHealth, "<TargetHealthDescriptions/>")
	synctest.Test(t, func(t *testing.T) {
		for range 7 {
			_, err := client.Health(t.Context(), group(shopARN, ""), shopARN)
			must(t, err)
		}
		other := strings.Replace(shopARN, account, "444455556666", 1)
		_, err := client.Health(t.Context(), group(other, ""), other)
		must(t, err)
		_, err = client.Health(t.Context(), group("", "shop"), shopARN)
		must(t, err)
		wantSame(t, waits, []time.Duration{0, 0, 0, 0, 0, 500 * time.Millisecond, 500 * time.Millisecond, 0, 0})

		m.take()
		ctx, cancel := context.WithTimeout(t.Context(), 499*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err = client.Health(ctx, group(shopARN, ""), shopARN)
		wantSame(t, time.Since(began), time.Duration(0))
		e := wantVerdict(t, err, unknown(chain.ReasonELBAPIThrottled))
		wantText(t, e.Detail, "DescribeTargetHealth of the target group "+shopARN+" was not sent: the exporter's own budget, aws_api_budget.elb_reads_per_second", "AWS did not throttle")
		wantSame(t, m.take(), []string(nil))
	})
}

// The bucket's burst is what a rate asks for in a second, and never below five.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for perSecond, burst := range map[float64]int{0.1: 5, 2: 5, 7.5: 8} {
			b, n := newBudgets(perSecond, func(time.Duration) {}), 0
			for began := time.Now(); time.Since(began) == 0; n++ {
				must(t, b.wait(t.Context(), account, region))
			}
			wantSame(t, n, burst+1) // the last of which waited
		}
	})
}

// Metrics name the service as its host does.
func TestELBServiceName(t *testing.T) {
	var seen []string
	client, m := newMemory(t, func(o *Options) {
		o.ObserveRequest = func(service, operation, code string) { seen = append(seen, service+" "+operation+" "+code) }
	})
	m.fault(opDescribeTargetHealth, "Throttling", "Rate exceeded")
	_, err := client.Health(t.Context(), group(shopARN, ""), shopARN)
	wantVerdict(t, err, unknown(chain.ReasonELBAPIThrottled))
	wantSame(t, seen, []string{"elasticloadbalancing DescribeTargetHealth Throttling"})
}
