// Listeners and their rules as the ELBv2 API describes them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// elbListener is a listener in an answer.
type elbListener struct {
	ListenerArn     string
	LoadBalancerArn string
	Port            int32
	Protocol        string
	DefaultActions  members[elbAction]
}

// elbAction is what a rule does: forward to a group, or a response of the load balancer's own.
type elbAction struct {
	Type                string
	TargetGroupArn      string `xml:",omitempty"`
	FixedResponseConfig *elbFixedResponse
}

type elbFixedResponse struct{ StatusCode string }

func (r ListenerRule) actions() members[elbAction] {
	action := elbAction{Type: "forward", TargetGroupArn: r.Group}
	if r.Group == "" {
		action = elbAction{Type: "fixed-response", FixedResponseConfig: &elbFixedResponse{"404"}}
	}
	return members[elbAction]{[]elbAction{action}}
}

// fallback is the default action.
func (l *Listener) fallback() ListenerRule {
	for _, rule := range l.Rules {
		if rule.Host == "" {
			return rule
		}
	}
	return ListenerRule{}
}

// listenerARN is a listener's, made of its load balancer's and its port.
func (l *LoadBalancer) listenerARN(listener *Listener) string {
	return fmt.Sprintf("%s/%016x", strings.Replace(l.ARN, ":loadbalancer/", ":listener/", 1), listener.Port)
}

func (s *State) describeListeners(c elbCall) (any, *awsError) {
	l, fault := s.balancer(c)
	if fault != nil {
		return nil, fault
	}
	var answer struct{ Listeners members[elbListener] }
	for _, listener := range l.Listeners {
		answer.Listeners.Member = append(answer.Listeners.Member,
			elbListener{l.listenerARN(listener), l.ARN, listener.Port, listener.Protocol, listener.fallback().actions()})
	}
	return answer, nil
}

// elbRule is a rule in an answer.
type elbRule struct {
	RuleArn    string
	Priority   string
	Conditions members[elbCondition]
	Actions    members[elbAction]
	IsDefault  bool
}

type elbCondition struct {
	Field  string
	Values members[string]
}

func (s *State) describeRules(c elbCall) (any, *awsError) {
	arn := c.form.Get("ListenerArn")
	if fault := c.invalid("listener", arn); fault != nil {
		return nil, fault
	}
	for _, l := range s.ELB.balancers {
		for _, listener := range l.Listeners {
			if l.listenerARN(listener) == arn {
				return struct{ Rules members[elbRule] }{members[elbRule]{listener.describeRules(arn)}}, nil
			}
		}
	}
	return nil, &awsError{http.StatusBadRequest, "ListenerNotFound", "One or more listeners not found"}
}

// describeRules lists the rules of hosts in order, and the default one at the end.
func (l *Listener) describeRules(arn string) []elbRule {
	ruleARN := func(n int) string {
		return fmt.Sprintf("%s/%016x", strings.Replace(arn, ":listener/", ":listener-rule/", 1), n)
	}
	var rules []elbRule
	for _, rule := range l.Rules {
		if rule.Host == "" {
			continue
		}
		n := len(rules) + 1
		host := elbCondition{"host-header", members[string]{[]string{rule.Host}}}
		rules = append(rules, elbRule{RuleArn: ruleARN(n), Priority: strconv.Itoa(n), Conditions: members[elbCondition]{[]elbCondition{host}}, Actions: rule.actions()})
	}
	return append(rules, elbRule{RuleArn: ruleARN(0), Priority: "default", Actions: l.fallback().actions(), IsDefault: true})
}
