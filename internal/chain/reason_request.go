// Reasons of the step request: a real request through the load balancer did not come back as declared.
//
// SPDX-License-Identifier: Apache-2.0

package chain

var requestReasons = []ReasonInfo{
	{StepRequest, ReasonDNSFailure,
		"The request's host name does not resolve from here, or to no address of the IP version that ip_family asks for. Users may see the same.",
		"The look-up of the URL's host failed; nothing was dialled. Ruled out: the load balancer and its targets.",
		lines(
			"dig {host} A {host} AAAA",
			"aws elbv2 describe-load-balancers --region {region} --load-balancer-arns {load_balancer_arn} --query 'LoadBalancers[].DNSName' --output text",
			"The record of {host} must be an alias or CNAME of that name; look at Route 53 and at the log of external-dns.",
		)},
	{StepRequest, ReasonTCPFailure,
		"The load balancer's address does not take the connection, or breaks it before an HTTP answer is whole.",
		"TCP was refused, got no answer, or ended too early, here or as a proxy on the way said; the detail says where. Ruled out without a proxy: DNS; before a connection stood, behind an application load balancer: the targets.",
		lines(
			"aws elbv2 describe-listeners --region {region} --load-balancer-arn {load_balancer_arn} --query 'Listeners[].[Protocol,Port]'",
			"curl -sv --max-time 5 -o /dev/null {url}",
			"A timeout: the load balancer's security group must admit the exporter on that port; from inside the VPC an internet-facing one is reached through NAT.",
			"A connection that breaks: a listener of another protocol, a network load balancer without targets, or a target that died inside its answer.",
		)},
	{StepRequest, ReasonTLSFailure,
		"TLS with the load balancer fails: the certificate is expired, for another name, or by an unknown authority; or the handshake is refused, not answered, or not TLS at all.",
		"TCP connected and the handshake or the verification failed; the detail says which, by the local clock. Ruled out: DNS, TCP; where the load balancer itself ends TLS: the targets.",
		lines(
			"openssl s_client -connect {address} -servername {tls_name} -showcerts",
			"aws elbv2 describe-listeners --region {region} --load-balancer-arn {load_balancer_arn} --query 'Listeners[].Certificates'",
			"Attach a valid certificate for {tls_name} to the listener (Terraform: certificate_arn of aws_lb_listener); for a private CA set ca_file of the request, for another name sni.",
		)},
	{StepRequest, ReasonTimeout,
		"The load balancer took the request and no whole answer came in time.",
		"The connection stood and the request's own timeout passed; the detail says whether a header came. Ruled out: DNS, TCP, TLS. Whether the targets are healthy is the verdict of the step health.",
		lines(
			"curl -sv -o /dev/null --max-time 30 {url}",
			"aws elbv2 describe-target-health --region {region} --target-group-arn {target_group_arn}",
			"Slow everywhere: look at TargetResponseTime of the load balancer in CloudWatch and at the pods' CPU; when the path is meant to be slow, raise timeout of the request.",
		)},
	{StepRequest, ReasonStatusMismatch,
		"The answer has another HTTP status than expected.",
		"The status that came back against expect_status. Ruled out: DNS, TCP, TLS. A header Server: awselb/… marks the load balancer's own answers.",
		lines(
			"Got status {http_status}.",
			"curl -si --max-time 10 {url}",
			"From the load balancer itself: 502 a target refused or broke the connection; 503 no target, or all unused; 504 a target did not connect or answer in time; 404 a default rule.",
			"When the new status is right, correct expect_status of {target} in the configuration.",
		)},
	{StepRequest, ReasonBodyMismatch,
		"The status is as expected and the body is not: the request may have reached another application, or an error page.",
		"The body that came back does not hold expect_body. Ruled out: DNS, TCP, TLS, the status.",
		lines(
			"curl -si --max-time 10 {url}",
			"aws elbv2 describe-rules --region {region} --listener-arn LISTENER_ARN",
			"Check which rule takes this host and path; when the new body is right, correct expect_body of {target} in the configuration.",
		)},
}
