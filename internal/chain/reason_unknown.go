// Reasons of unknown: the prober's own troubles, which are neither good nor bad and burn no budget.
//
// SPDX-License-Identifier: Apache-2.0

package chain

var unknownReasons = []ReasonInfo{
	{StepNone, ReasonObserverDenied,
		"The observer, the identity that reads the EKS and ELB APIs and the cluster's objects, may not read what the probe needed. What is under test was not judged by this.",
		"AWS or the apiserver answered access denied to the observer's own call.",
		lines(
			"Denied to observer {observer}: {action}.",
			"In AWS: eks-slo-exporter check --print=iam writes the least policy of each observer; its field policy is the document.",
			"aws iam put-role-policy --role-name OBSERVER_ROLE --policy-name eks-slo-observer --policy-document file://policy.json",
			"In Kubernetes: eks-slo-exporter check --print=rbac writes what kubectl apply -f takes; the observer's access entry needs the group eks-slo-observers.",
		)},
	{StepNone, ReasonObserverUnavailable,
		"The observer could not sign in, did not get an answer in time, or none is configured, so its read was not made.",
		"The observer's own chain failed, or its wait ended, before AWS judged the call; the detail says how.",
		lines(
			"Sign in as the observer and read what it reads; the detail above has AWS' own words.",
			"An access target: aws eks describe-cluster --region {region} --name {eks_name} --query cluster.status",
			"A target group: aws elbv2 describe-target-groups --region {region} --names {target_group}",
			"A cluster without an observer: set one, or set endpoint and ca_file.",
		)},
	{StepNone, ReasonNotMeasurable,
		"What was asked cannot be measured here: a write that cannot be dry-run or needs what is not there, a review that the cluster does not answer, or targets that are neither good nor bad.",
		"The server answered, and its answer says nothing about the target. It is never counted as good.",
		lines(
			"Read the detail: it names what could not be asked, and the server's words.",
			"A rule of dry_run that cannot be tried: take it out, or name a manifest_file; as a rule of allow it is still reviewed.",
			"A target group whose health checks are off: switch them on. One whose targets are all in initial: wait for their first checks.",
		)},
	{StepNone, ReasonSTSThrottled,
		"STS throttled the prober's own calls. The identity was not judged.",
		"STS answered Throttling (HTTP 400) to the prober; the quota is shared by the account and region.",
		lines(
			"Raise interval, or set reuse_session on identity {identity}: a run then makes no AssumeRole of its own.",
			"aws cloudtrail lookup-events --region {region} --lookup-attributes AttributeKey=EventName,AttributeValue=AssumeRole --max-results 50",
			"That shows who else calls; moving the exporter to an account of its own gives it a quota of its own.",
		)},
	{StepNone, ReasonEKSAuthThrottled,
		"The EKS Auth API throttled the Pod Identity agent, so the source gave no credentials this time.",
		"The agent relayed a throttling error of AssumeRoleForPodIdentity. Ruled out: a missing association, an unreachable agent.",
		lines(
			"Raise interval of the targets of identity {identity}, or set reuse_session on it.",
			"kubectl logs -n kube-system -l app.kubernetes.io/name=eks-pod-identity-agent --since=15m",
		)},
	{StepNone, ReasonEKSAPIThrottled,
		"The EKS API throttled the observer, or the exporter's own budget of EKS reads was spent. Where the cluster was known before, the probe went on with the known endpoint and CA.",
		"EKS answered TooManyRequestsException or ThrottlingException, or the read waited for its turn for as long as the run had; the detail says which. Nothing is said of the cluster's apiserver.",
		lines(
			"When EKS throttles, lower aws_api_budget.eks_reads_per_second; when the own budget was spent, raise it.",
			"aws cloudtrail lookup-events --region {region} --lookup-attributes AttributeKey=EventName,AttributeValue=DescribeCluster --max-results 50",
			"aws service-quotas list-service-quotas --region {region} --service-code eks",
		)},
	{StepNone, ReasonELBAPIThrottled,
		"The ELB API throttled the observer. The last value stays, with its age, and no event is counted as good or bad.",
		"ELB answered Throttling, or the read waited for its turn in the exporter's own budget for as long as the run had; the detail says which. AWS' bucket is shared by everything in the account and region, the load balancer controller too.",
		lines(
			"When ELB throttles, lower aws_api_budget.elb_reads_per_second, or raise interval of the target groups in {region}; when the own budget was spent, raise it.",
			"aws cloudtrail lookup-events --region {region} --lookup-attributes AttributeKey=EventName,AttributeValue=DescribeTargetHealth --max-results 50",
			"When the load balancer controller is the busiest caller, limit it with its flag --aws-api-throttle.",
		)},
	{StepNone, ReasonReadFailed,
		"A read failed in a way that says nothing about the target: a network error towards an AWS API, an answer that does not parse, an error without a known class.",
		"The error was not a denial, not throttling and not a statement about the target; the detail has its redacted text.",
		lines(
			"Read the detail; when it comes back, run the target by hand: eks-slo-exporter probe {target}",
			"curl -sv --max-time 5 -o /dev/null https://sts.{region}.amazonaws.com/",
			"An answer that should have a reason of its own is worth a report, with the detail and the request id.",
		)},
	{StepNone, ReasonOverrun,
		"The run of an earlier slot was still going on when this slot came, so this one was not probed.",
		"The scheduler, which never runs a target twice at a time. A slow target ends in its own timeout; an overrun is the prober's.",
		lines(
			"Look at eks_slo_exporter_probes_in_flight, eks_slo_exporter_probe_lateness_seconds and eks_slo_exporter_probe_overruns_total.",
			"Give the exporter more CPU (a CPU limit throttles it), raise interval, or run a second exporter with half of the targets.",
		)},
	{StepNone, ReasonMissedSlot,
		"Nobody probed in this slot: the exporter was stopped, suspended or starved of CPU.",
		"The scheduler found the slot in the past when it came to it.",
		lines(
			"kubectl get pods -n NAMESPACE -l app.kubernetes.io/name=eks-slo-exporter -o wide",
			"Look at restarts, evictions and CPU throttling of the exporter, and at eks_slo_exporter_probe_lateness_seconds.",
			"A laptop or virtual machine that sleeps misses its slots: run the exporter where it is always on.",
		)},
}
