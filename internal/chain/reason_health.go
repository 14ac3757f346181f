// Reasons of the step health: registered targets do not pass the load balancer's health check.
//
// SPDX-License-Identifier: Apache-2.0

package chain

var healthReasons = []ReasonInfo{
	{StepHealth, ReasonHealthCheckCodeMismatch,
		"Targets answer the health check with a status that the group does not accept. They are reached: the path, the accepted status, or what the application checks there is wrong.",
		"The targets say Target.ResponseCodeMismatch, the commonest cause of the unhealthy ones. Ruled out: security groups and ports, since an answer came.",
		lines(
			"aws elbv2 describe-target-health --region {region} --target-group-arn {target_group_arn} --query 'TargetHealthDescriptions[].TargetHealth'",
			"aws elbv2 modify-target-group --region {region} --target-group-arn {target_group_arn} --health-check-path HEALTH_PATH --matcher HttpCode=200",
			"Made by an Ingress? Set alb.ingress.kubernetes.io/healthcheck-path and success-codes there, or the controller undoes it.",
			"A 401 or 302 means that the path wants a login: use one that needs none.",
		)},
	{StepHealth, ReasonHealthCheckTimeout,
		"The health check gets no answer. Many at once: most often a security group or network ACL drops it. One alone: that application is stuck or slow.",
		"The targets say Target.Timeout, the commonest cause of the unhealthy ones. Ruled out: a refused connection and a wrong status, which have codes of their own.",
		lines(
			"aws elbv2 describe-target-health --region {region} --target-group-arn {target_group_arn}",
			"aws ec2 authorize-security-group-ingress --region {region} --group-id TARGET_SECURITY_GROUP_ID --protocol tcp --port HEALTH_PORT --source-group LOAD_BALANCER_SECURITY_GROUP_ID",
			"One target alone: kubectl get pods -n {namespace} -o wide, then look at its CPU limit and its log; a slow check may need aws elbv2 modify-target-group with --health-check-timeout-seconds.",
		)},
	{StepHealth, ReasonHealthCheckFailed,
		"The health check's connection is refused or its answer is no valid one: nothing listens on the port, or the protocol is wrong.",
		"The targets say Target.FailedHealthChecks, the commonest cause of the unhealthy ones. Ruled out behind an application load balancer: silence (health_check_timeout) and a wrong status; a network one may have this code for those too.",
		lines(
			"aws elbv2 describe-target-groups --region {region} --target-group-arns {target_group_arn} --query 'TargetGroups[].[HealthCheckProtocol,HealthCheckPort,HealthCheckPath]'",
			"kubectl get pods -n {namespace} -o wide",
			"The container must listen on that port on 0.0.0.0, not on 127.0.0.1; a TLS server needs health check protocol HTTPS.",
			"aws elbv2 modify-target-group --region {region} --target-group-arn {target_group_arn} --health-check-protocol HTTPS --health-check-port HEALTH_PORT",
		)},
	{StepHealth, ReasonInitialStuck,
		"Targets stay in initial for longer than registration and the first checks can take.",
		"ELB gives no times: it rests on what was seen before, or on the age of pods and instances, beyond registration plus interval times threshold. Before that, initial is neither good nor bad.",
		lines(
			"aws elbv2 describe-target-health --region {region} --target-group-arn {target_group_arn}",
			"Do not restart the pods, which begins the wait anew; a network load balancer takes 3 to 5 minutes by design.",
			"Check that health checks can reach the targets (as for health_check_timeout) and that a listener forwards to the group.",
		)},
	{StepHealth, ReasonBelowMinHealthy,
		"Fewer targets are healthy than min_healthy asks for, and no unhealthy one explains it: they are missing, initial, draining, unused, unavailable, gone from the cluster, failing by design (externalTrafficPolicy Local), or of an unknown code.",
		"The count of healthy targets against min_healthy, with no unhealthy target of the cluster that has a known code; the detail names what is ready and not registered. Ruled out: failing health checks, targets that are initial for too long.",
		lines(
			"kubectl get pods,deployments -n {namespace}",
			"kubectl scale deployment -n {namespace} DEPLOYMENT --replicas=REPLICAS",
			"In every rollout? Lower maxUnavailable of the deployment, or min_healthy of {target} in the configuration.",
		)},
	{StepHealth, ReasonAllUnhealthyFailOpen,
		"No target is healthy, so the load balancer may send to all of them. Users may still be served: this is not called an outage, and a good request does not clear it.",
		"Some targets are unhealthy and none is healthy, of any cluster; their codes are in the detail. Ruled out: an empty group, targets that are merely initial or unavailable.",
		lines(
			"aws elbv2 describe-target-health --region {region} --target-group-arn {target_group_arn} --query 'TargetHealthDescriptions[].TargetHealth' --output table",
			"Mend the check for all targets at once, since the first one that passes gets the whole traffic.",
			"Target.ResponseCodeMismatch: its path or matcher. Target.Timeout: the security group of the targets. Target.FailedHealthChecks: its port or protocol. Elb.InternalError: AWS.",
			"A wrong path: aws elbv2 modify-target-group --region {region} --target-group-arn {target_group_arn} --health-check-path HEALTH_PATH --matcher HttpCode=200",
		)},
	{StepHealth, ReasonELBInternalError,
		"The load balancer failed to check its targets through a fault of its own.",
		"The targets say Elb.InternalError. Ruled out: the targets, which were not judged.",
		lines(
			"aws elbv2 describe-load-balancers --region {region} --load-balancer-arns {load_balancer_arn} --query 'LoadBalancers[].State'",
			"Look at https://health.aws.amazon.com/health/status for {region}; when it lasts, open a case with AWS Support.",
		)},
}
