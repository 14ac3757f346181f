// Events of a binding: the AWS Load Balancer Controller's reasons and, where only a message tells, its literal shapes are matched here, and nowhere else.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The reasons of the controller's events that decide something (pkg/k8s/events.go).
const (
	eventReconciled      = "SuccessfullyReconciled"
	eventFailedReconcile = "FailedReconcile"        // "Failed reconcile due to " and whatever went wrong
	eventFailedNetwork   = "FailedNetworkReconcile" // of bindings of addresses only: those of instances say FailedReconcile
)

// troubleWindow is how old an event may be; kube-apiserver keeps events for an hour (--event-ttl).
const troubleWindow = time.Hour

// The literal shapes in messages of FailedReconcile. The AWS SDK writes "operation error SERVICE: OPERATION, https response error …, api error CODE: MESSAGE" in newer
// versions of the controller, and "CODE: MESSAGE\n\tstatus code: 403, request id: …" in older ones; kube's recorder puts "(combined from similar events): " in front of what repeats.
var (
	// What stands between the controller and a registration: its own web identity, the role of another account, and what it asks of ELB on the way.
	registrationDenied = regexp.MustCompile(`[Nn]ot authorized to perform:? (?:elasticloadbalancing:(?:RegisterTargets|DeregisterTargets|DescribeTargetHealth|DescribeTargetGroups)|sts:AssumeRole(?:WithWebIdentity)?)\b`)
	unauthorized       = regexp.MustCompile(`\bUnauthorizedOperation: `) // EC2's code for access denied
	ec2Operation       = regexp.MustCompile(`operation error EC2: (\w+),`)
	securityGroupTags  = regexp.MustCompile(`expect(?:ed)? exactly one securityGroup tagged with `) // pkg/networking
	ruleLimit          = regexp.MustCompile(`\bRulesPerSecurityGroupLimitExceeded: `)               // EC2's code
)

// networkOperations are the calls to EC2 that the controller's networking makes.
var networkOperations = []string{"AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress", "DescribeSecurityGroups", "DescribeNetworkInterfaces", "DescribeInstances"}

// troubleReason is what a warning stands for; "" when it is not on the list.
func troubleReason(reason, message string) chain.Reason {
	switch {
	case reason == eventFailedNetwork:
		return chain.ReasonTGBNetworkReconcileFailed
	case reason != eventFailedReconcile:
		return ""
	case registrationDenied.MatchString(message):
		return chain.ReasonControllerAccessDenied
	case securityGroupTags.MatchString(message), ruleLimit.MatchString(message), unauthorized.MatchString(message) && ofNetworking(message):
		return chain.ReasonTGBNetworkReconcileFailed
	}
	return ""
}

// ofNetworking reports whether the call to EC2 that failed is one of networking; the old SDK does not name it, and nearly all calls are.
func ofNetworking(message string) bool {
	match := ec2Operation.FindStringSubmatch(message)
	return match == nil || slices.Contains(networkOperations, match[1])
}

// Trouble reads the binding's events of the last hour. It is the newest warning that is on the list of reasons, and the newest that is not, unless the controller has reconciled the binding since.
func (r *Reader) Trouble(ctx context.Context, reads ClusterReads, ref chain.BindingRef) (chain.BindingTrouble, error) {
	s, err := r.session(reads)
	if err != nil {
		return chain.BindingTrouble{}, err
	}
	q := question{verb: "list", resource: "events", namespace: ref.Namespace, kind: "EventList"}
	selectors := metav1.ListOptions{FieldSelector: fields.Set{"involvedObject.kind": "TargetGroupBinding", "involvedObject.name": ref.Name}.String()}
	history := history{now: r.dialer.options.Now()}
	err = s.list(ctx, q, selectors, func(ctx context.Context, options metav1.ListOptions) (string, error) {
		page, err := s.core.Events(ref.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			history.add(&page.Items[i])
		}
		return page.Continue, nil
	})
	if err != nil {
		return chain.BindingTrouble{}, err
	}
	return history.verdict(), nil
}

// history is what a binding's events say, in whatever order they come.
type history struct {
	now        time.Time
	reconciled time.Time
	trouble    chain.BindingTrouble
	other      string // the newest warning that is on no list
	otherLast  time.Time
}

func (h *history) add(e *corev1.Event) {
	at := lastSeen(e)
	if e.Reason == eventReconciled && at.After(h.reconciled) {
		h.reconciled = at
	}
	if e.Type != corev1.EventTypeWarning || h.now.Sub(at) > troubleWindow {
		return
	}
	switch reason := troubleReason(e.Reason, e.Message); {
	case reason != "" && at.After(h.trouble.Last):
		h.trouble = chain.BindingTrouble{Reason: reason, Text: chain.Redact(e.Message), Last: at}
	case reason == "" && at.After(h.otherLast):
		h.other, h.otherLast = chain.Redact(e.Message), at
	}
}

// verdict: event times have whole seconds, and what failed and succeeded within one of them was tried again at once.
func (h *history) verdict() chain.BindingTrouble {
	var trouble chain.BindingTrouble
	if h.trouble.Last.After(h.reconciled) {
		trouble = h.trouble
	}
	if h.otherLast.After(h.reconciled) {
		trouble.Other = h.other
	}
	return trouble
}

// lastSeen is when an event last happened: of the recorders' several fields the latest that is set. When the object was made counts for one without any of them alone, since an event may be
// written late, or restored.
func lastSeen(e *corev1.Event) time.Time {
	times := []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime.Time)
	}
	if latest := slices.MaxFunc(times, time.Time.Compare); !latest.IsZero() {
		return latest
	}
	return e.CreationTimestamp.Time
}
