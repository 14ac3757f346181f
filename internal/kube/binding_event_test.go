// The events of a binding: the controller's literal messages, and which of several events counts.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// Messages as they were published, with made-up accounts (aws-load-balancer-controller pull request 1618, issues 1312 and 3731, pkg/networking; AWS SDK for Go v2).
const (
	deniedV1 = "Failed reconcile due to AccessDenied: User: arn:aws:sts::111122223333:assumed-role/aws-lb-controller/1604526445790853017 is not authorized to perform: " +
		"elasticloadbalancing:RegisterTargets on resource: arn:aws:elasticloadbalancing:us-west-2:111122223333:targetgroup/app/161ecbe439f88334\n\tstatus code: 403, request id: 75cf841f-bde3"
	deniedV2 = "Failed reconcile due to operation error Elastic Load Balancing v2: DeregisterTargets, https response error StatusCode: 403, RequestID: 362bc6af-5215, api error AccessDenied: " +
		"User: arn:aws:sts::111122223333:assumed-role/lbc/1 is not authorized to perform: elasticloadbalancing:DeregisterTargets on resource: arn:aws:elasticloadbalancing:eu-west-1:111122223333:" +
		"targetgroup/shop/0123456789abcdef because no identity-based policy allows the elasticloadbalancing:DeregisterTargets action"
	tagsV2          = "expect exactly one securityGroup tagged with kubernetes.io/cluster/prod for eni eni-0b6ed10e, got: [sg-0b21ca40 sg-0d450bf1]"
	tagsV3          = "Failed reconcile due to expected exactly one securityGroup tagged with kubernetes.io/cluster/prod for eni eni-0b6ed10e, got: [] (clusterName: prod)"
	unauthorizedV1  = "Failed reconcile due to UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: kVVQ1uoU\n\tstatus code: 403, request id: 8a569a17"
	unauthorizedV2  = "Failed reconcile due to operation error EC2: AuthorizeSecurityGroupIngress, https response error StatusCode: 403, RequestID: 1, api error UnauthorizedOperation: You are not authorized to perform this operation."
	unauthorizedVPC = "Failed reconcile due to operation error EC2: DescribeVpcs, https response error StatusCode: 403, RequestID: 1, api error UnauthorizedOperation: You are not authorized to perform this operation."
	ruleLimitV2     = "Failed reconcile due to operation error EC2: AuthorizeSecurityGroupIngress, https response error StatusCode: 400, RequestID: 1, api error RulesPerSecurityGroupLimitExceeded: The maximum number of rules per security group has been reached."
	otherDenied     = "Failed reconcile due to operation error Elastic Load Balancing v2: DescribeTargetHealth, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/lbc/1 is not authorized to perform: elasticloadbalancing:DescribeTargetHealth because no identity-based policy allows it"
	webIdentityV1   = "Failed reconcile due to WebIdentityErr: failed to retrieve credentials\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\n\tstatus code: 403, request id: 1"
	webIdentityV2   = "Failed reconcile due to operation error Elastic Load Balancing v2: DescribeTargetHealth, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, " +
		"operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"
	crossAccount = "Failed reconcile due to operation error Elastic Load Balancing v2: DescribeTargetHealth, get identity: get credentials: operation error STS: AssumeRole, https response error StatusCode: 403, RequestID: 1, " +
		"api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/lbc/1 is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::999988887777:role/lb"
	groupGone = "Failed reconcile due to operation error Elastic Load Balancing v2: DescribeTargetHealth, https response error StatusCode: 400, RequestID: 1, api error TargetGroupNotFound: Target groups 'arn' not found"
)

func TestTroubleReason(t *testing.T) {
	for name, test := range map[string]struct {
		reason, message string
		want            chain.Reason
	}{
		"denied, old SDK":                 {"FailedReconcile", deniedV1, chain.ReasonControllerAccessDenied},
		"denied, new SDK":                 {"FailedReconcile", deniedV2, chain.ReasonControllerAccessDenied},
		"denied again and again":          {"FailedReconcile", "(combined from similar events): " + deniedV2, chain.ReasonControllerAccessDenied},
		"denied the way to it":            {"FailedReconcile", otherDenied, chain.ReasonControllerAccessDenied},
		"denied its own role, new SDK":    {"FailedReconcile", webIdentityV2, chain.ReasonControllerAccessDenied},
		"denied its own role, old SDK":    {"FailedReconcile", webIdentityV1, chain.ReasonControllerAccessDenied},
		"denied another account's role":   {"FailedReconcile", crossAccount, chain.ReasonControllerAccessDenied},
		"denied what it can do without":   {"FailedReconcile", strings.ReplaceAll(otherDenied, "DescribeTargetHealth", "AddTags"), ""},
		"a longer action":                 {"FailedReconcile", "is not authorized to perform: elasticloadbalancing:RegisterTargetsForever", ""},
		"denied, in a clean-up":           {"FailedCleanup", deniedV2, ""},
		"network, by its reason":          {"FailedNetworkReconcile", tagsV2, chain.ReasonTGBNetworkReconcileFailed},
		"network, whatever it says":       {"FailedNetworkReconcile", deniedV1, chain.ReasonTGBNetworkReconcileFailed},
		"tags, of instances":              {"FailedReconcile", tagsV3, chain.ReasonTGBNetworkReconcileFailed},
		"security groups denied, old SDK": {"FailedReconcile", unauthorizedV1, chain.ReasonTGBNetworkReconcileFailed},
		"security groups denied, new SDK": {"FailedReconcile", unauthorizedV2, chain.ReasonTGBNetworkReconcileFailed},
		"another call to EC2 denied":      {"FailedReconcile", unauthorizedVPC, ""},
		"too many rules":                  {"FailedReconcile", ruleLimitV2, chain.ReasonTGBNetworkReconcileFailed},
		"the group is gone":               {"FailedReconcile", groupGone, ""},
		"the service is gone":             {"BackendNotFound", `backend not found: services "shop" not found`, ""},
		"somebody quotes the denial":      {"Note", deniedV1, ""},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, troubleReason(test.reason, test.message), test.want) })
	}
}

func TestTrouble(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	denied := chain.BindingTrouble{Reason: chain.ReasonControllerAccessDenied, Text: "Failed reconcile due to x is not authorized to perform: elasticloadbalancing:RegisterTargets", Last: at(10 * time.Minute)}
	deniedAnd := func(other string) chain.BindingTrouble {
		both := denied
		both.Other = other
		return both
	}
	for name, test := range map[string]struct {
		report func(*sandbox.Objects)
		want   chain.BindingTrouble
	}{
		"none":  {func(*sandbox.Objects) {}, chain.BindingTrouble{}},
		"fresh": {func(o *sandbox.Objects) { o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last) }, denied},
		"the newest on the list": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedNetworkReconcile", tagsV2, at(20*time.Minute))
			o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last)
			o.Report(shopRef, "FailedReconcile", groupGone, at(time.Minute))
		}, deniedAnd(groupGone)},
		"on no list": {func(o *sandbox.Objects) {
			o.Report(shopRef, "BackendNotFound", "older", at(20*time.Minute))
			o.Report(shopRef, "FailedReconcile", groupGone, at(time.Minute))
		}, chain.BindingTrouble{Other: groupGone}},
		"on no list, cleared since": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedReconcile", groupGone, at(2*time.Minute))
			o.Report(shopRef, "SuccessfullyReconciled", "", at(time.Minute))
		}, chain.BindingTrouble{}},
		"cleared since": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last)
			o.Report(shopRef, "SuccessfullyReconciled", "", at(time.Minute))
		}, chain.BindingTrouble{}},
		"cleared at once": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last)
			o.Report(shopRef, "SuccessfullyReconciled", "", denied.Last.Add(time.Millisecond))
		}, chain.BindingTrouble{}},
		"back since": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last)
			o.Report(shopRef, "SuccessfullyReconciled", "", at(11*time.Minute))
		}, denied},
		"of an hour ago":     {func(o *sandbox.Objects) { o.Report(shopRef, "FailedReconcile", denied.Text, at(61*time.Minute)) }, chain.BindingTrouble{}},
		"of another binding": {func(o *sandbox.Objects) { o.Report(webRef, "FailedReconcile", denied.Text, denied.Last) }, chain.BindingTrouble{}},
		"of another kind": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last)
			for _, e := range o.Events {
				e.InvolvedObject.Kind = "Ingress"
			}
		}, chain.BindingTrouble{}},
		"no warning": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedReconcile", denied.Text, denied.Last)
			for _, e := range o.Events {
				e.Type = corev1.EventTypeNormal
			}
		}, chain.BindingTrouble{}},
		"a secret in it": {func(o *sandbox.Objects) {
			o.Report(shopRef, "FailedNetworkReconcile", "X-Amz-Signature=0123456789abcdef", denied.Last)
		},
			chain.BindingTrouble{Reason: chain.ReasonTGBNetworkReconcileFailed, Text: "[redacted]", Last: denied.Last}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneReader(t)
			s.objects(test.report)
			got, err := s.Trouble(t.Context(), s.reads, shopRef)
			must(t, err)
			got.Last = got.Last.UTC()
			test.want.Last = test.want.Last.UTC()
			wantSame(t, got, test.want)
		})
	}
}

// Recorders fill in different fields: the legacy ones lastTimestamp, those of events.k8s.io eventTime and series.
func TestLastSeen(t *testing.T) {
	first := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	last := first.Add(time.Hour)
	for name, test := range map[string]struct {
		event corev1.Event
		want  time.Time
	}{
		"legacy":         {corev1.Event{FirstTimestamp: metav1.NewTime(first), LastTimestamp: metav1.NewTime(last)}, last},
		"once":           {corev1.Event{EventTime: metav1.NewMicroTime(first)}, first},
		"a series":       {corev1.Event{EventTime: metav1.NewMicroTime(first), Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(last)}}, last},
		"written late":   {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(last)}, LastTimestamp: metav1.NewTime(first)}, first},
		"made, no more":  {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(first)}}, first},
		"nothing at all": {corev1.Event{}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) { wantSame(t, lastSeen(&test.event), test.want) })
	}
}
