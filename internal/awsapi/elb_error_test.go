// What the ELB API answers, in its own words, and the reason that it is.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The literal shapes. Only a missing target group is a failure.
func TestELBFail(t *testing.T) {
	missing := failure(chain.StepRegistration, chain.ReasonTargetGroupMissing)
	for name, c := range map[string]struct {
		shapeless     bool
		code, message string
		status        int
		want          verdict
		detail        string
	}{
		"C71: gone":                     {false, "TargetGroupNotFound", "Target groups '" + shopARN + "' not found", 400, missing, "400 TargetGroupNotFound: Target groups '" + shopARN + "' not found"},
		"gone, as newer services do":    {false, "TargetGroupNotFoundException", "", 400, missing, "400 TargetGroupNotFoundException"},
		"C71: no ARN at all":            {true, "ValidationError", "'shop' is not a valid target group ARN", 400, missing, "'shop' is not a valid target group ARN; this is not the shape of a target group's ARN or name, so there is none"},
		"an ARN of another account":     {false, "ValidationError", "'" + shopARN + "' is not a valid target group ARN", 400, unknown(chain.ReasonObserverUnavailable), "ELB says this also of an ARN of another account"},
		"C73: throttled":                {false, "Throttling", "Rate exceeded", 400, unknown(chain.ReasonELBAPIThrottled), "400 Throttling: Rate exceeded"},
		"throttled, as documented":      {false, "ThrottlingException", "Rate exceeded", 400, unknown(chain.ReasonELBAPIThrottled), ""},
		"throttled, by the request":     {false, "RequestLimitExceeded", "", 503, unknown(chain.ReasonELBAPIThrottled), ""},
		"throttled, by count":           {false, "TooManyRequests", "", 429, unknown(chain.ReasonELBAPIThrottled), ""},
		"a proxy's 429":                 {false, "", "", 429, unknown(chain.ReasonObserverUnavailable), "HTTP 429 without an AWS error"},
		"denied":                        {false, "AccessDenied", "User: x is not authorized", 403, unknown(chain.ReasonObserverDenied), "403 AccessDenied: User: x is not authorized"},
		"denied, as newer services do":  {false, "AccessDeniedException", "", 403, unknown(chain.ReasonObserverDenied), ""},
		"no such load balancer":         {false, "LoadBalancerNotFound", "Load balancers 'x' not found", 400, unknown(chain.ReasonNotMeasurable), "Load balancers 'x' not found"},
		"a dead session":                {false, "ExpiredToken", "The security token included in the request is expired", 403, unknown(chain.ReasonObserverUnavailable), "403 ExpiredToken"},
		"AWS is down":                   {false, "ServiceUnavailable", "", 503, unknown(chain.ReasonObserverUnavailable), "503 ServiceUnavailable"},
		"a word that nobody knows":      {true, "HealthUnavailable", "", 500, unknown(chain.ReasonObserverUnavailable), ""},
		"a proxy's page":                {false, "", "", 403, unknown(chain.ReasonObserverUnavailable), "HTTP 403 without an AWS error"},
		"silence":                       {true, "", "", 0, unknown(chain.ReasonObserverUnavailable), "no answer, while connecting: "},
		"a message with a secret in it": {false, "InternalFailure", "Credential=" + keyID + "/x", 500, unknown(chain.ReasonObserverUnavailable), "[redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			call := elbCall{operation: opDescribeTargetHealth, of: "the target group shop", observer: "reader", facts: chain.Facts{chain.FactObserver: "reader"}, shapeless: c.shapeless}
			a := answer{sighting: sighting{service: "Elastic Load Balancing v2", host: "elb.example.com", phase: "connecting"}, code: c.code, message: c.message, status: c.status, err: errors.New("the cause")}
			e := wantVerdict(t, call.fail(t.Context(), a), c.want)
			wantText(t, e.Detail, opDescribeTargetHealth+" of the target group shop as the observer reader: ", c.detail)
			action := chain.Facts{chain.FactObserver: "reader"}
			if c.want.Reason == string(chain.ReasonObserverDenied) {
				action[chain.FactAction] = "elasticloadbalancing:DescribeTargetHealth"
			}
			wantSame(t, chain.Facts{chain.FactObserver: e.Facts[chain.FactObserver]}.Merge(pick(e.Facts, chain.FactAction, chain.FactHost)), action)
		})
	}
}

// pick keeps the facts of some names.
func pick(facts chain.Facts, names ...chain.Fact) chain.Facts {
	picked := chain.Facts{}
	for _, name := range names {
		if value, ok := facts[name]; ok {
			picked[name] = value
		}
	}
	return picked
}

// Our own end is nobody's failure, in the answer, in the budget and in a wait.
func TestELBCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"an answer": elbCall{}.fail(ctx, answer{status: 500}), "the budget": elbCall{}.overBudget(ctx, ctx.Err()), "a wait": elbReader{}.waited(ctx, ctx.Err()),
	} {
		if !errors.Is(err, context.Canceled) || errors.As(err, new(*chain.Error)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The observer's own troubles come before any read, and say whose they are.
func TestELBObserver(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *chain.TargetGroup)
		detail string
	}{
		"no observer": {func(_ *testing.T, g *chain.TargetGroup) { g.Observer = chain.Identity{} }, "the target group shop names no observer, so nobody may read the ELB API for it"},
		"without keys": {func(t *testing.T, _ *chain.TargetGroup) {
			t.Helper()
			t.Setenv("AWS_ACCESS_KEY_ID", "")
		}, "the observer reader could not sign in: credentials/no_credentials"},
		"no region": {func(_ *testing.T, g *chain.TargetGroup) { g.Region = "" }, "the observer reader could not sign in: credentials/region_unset"},
	} {
		t.Run(name, func(t *testing.T) {
			client, m := newMemory(t)
			target := group("", "shop")
			c.change(t, &target.Group)
			_, err := client.Group(t.Context(), target)
			e := wantVerdict(t, err, unknown(chain.ReasonObserverUnavailable))
			wantText(t, e.Detail, c.detail)
			wantSame(t, e.Facts[chain.FactRegion], target.Group.Region)
			wantSame(t, m.take(), []string(nil))
		})
	}
}

// A session that ELB no longer believes is not kept.
func TestELBSessionRevoked(t *testing.T) {
	client, m := newMemory(t)
	target := group(shopARN, "")
	r := client.groupReader(target.Group)
	kept := &Session{client: client, region: region}
	kept.credentials.AccessKeyID, kept.credentials.SecretAccessKey = "ASIAKEPT", "s"
	for code, stays := range map[string]bool{"Throttling": true, "ExpiredToken": false} {
		client.sessions.put(r.key(), kept, time.Now(), time.Hour)
		m.fault(opDescribeTargetHealth, code, "")
		_, err := client.Health(t.Context(), target, shopARN)
		if err == nil {
			t.Fatal("no error")
		}
		if _, ok := client.sessions.get(r.key(), time.Now()); ok != stays {
			t.Errorf("%s: the session is kept: %t", code, ok)
		}
	}
}

// Observers share a session only when they are the same in all, also in an external id, which shows nowhere.
func TestSessionKey(t *testing.T) {
	with := func(change func(*chain.TargetGroup)) string {
		g := chain.TargetGroup{Region: region, Observer: chain.Identity{Name: "reader", Hops: []chain.Hop{{RoleARN: readerARN, ExternalID: chain.NewSecret(external)}}}}
		change(&g)
		return (&Client{}).groupReader(g).key()
	}
	same := with(func(*chain.TargetGroup) {})
	wantSame(t, with(func(g *chain.TargetGroup) {
		g.Name, g.Observer.SessionPolicy, g.Observer.ReuseSession = "web", chain.SessionPolicyDenyAll, time.Hour
	}), same)
	if strings.Contains(same, external) {
		t.Errorf("the external id shows: %s", same)
	}
	keys := map[string]string{same: "the same"}
	for name, change := range map[string]func(*chain.TargetGroup){
		"region":         func(g *chain.TargetGroup) { g.Region = "eu-north-1" },
		"role":           func(g *chain.TargetGroup) { g.Observer.Hops[0].RoleARN = deployARN },
		"external id":    func(g *chain.TargetGroup) { g.Observer.Hops[0].ExternalID = chain.NewSecret("another") },
		"no external id": func(g *chain.TargetGroup) { g.Observer.Hops[0].ExternalID = chain.Secret{} },
		"id's place": func(g *chain.TargetGroup) {
			g.Observer.Hops = []chain.Hop{{RoleARN: readerARN}, {RoleARN: readerARN, ExternalID: chain.NewSecret(external)}}
		},
		"id's other place": func(g *chain.TargetGroup) {
			g.Observer.Hops = []chain.Hop{{RoleARN: readerARN, ExternalID: chain.NewSecret(external)}, {RoleARN: readerARN}}
		},
	} {
		key := with(change)
		if other, taken := keys[key]; taken {
			t.Errorf("%s has the key of %s", name, other)
		}
		keys[key] = name
	}
}
