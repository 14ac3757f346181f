// Reasons of the step token: the bearer token, and the cluster that it is made for.
//
// SPDX-License-Identifier: Apache-2.0

package chain

var tokenReasons = []ReasonInfo{
	{StepToken, ReasonTokenMalformed,
		"The token would be refused by the cluster's authenticator for its form: its size, its host, its parameters.",
		"The token was checked against the authenticator's own rules before it was sent. Ruled out: the principal, the mapping and the network, none of which was asked.",
		lines(
			"The host must be sts.{region}.amazonaws.com (or its FIPS or dual-stack form): a token signed through AWS_ENDPOINT_URL_STS, a VPC endpoint name or a port is refused.",
			"Above 4096 bytes the session token is too long: fewer or shorter session tags (disableSessionTags on a Pod Identity association), or session_policy: none on identity {identity}.",
		)},
	{StepToken, ReasonTokenExpired,
		"The token is older than the 15 minutes that STS accepts. The same credentials make a good one at once.",
		"X-Amz-Date in the token is 15 minutes or more ago. Ruled out: the session, which is still alive, and the mapping.",
		lines(
			"The run stood still between making and sending the token: look at CPU throttling and suspended machines of the exporter.",
			"In a pipeline, fetch the token when it is used, not when the plan is made: an exec block in the provider or kubeconfig instead of a stored token.",
			"aws eks update-kubeconfig --region {region} --name {eks_name}",
		)},
	{StepToken, ReasonTokenSigningCredentialsExpired,
		"The token looks fresh, but the session that signed it has ended, and the token with it.",
		"The token is younger than 15 minutes and its session's end has passed, or STS answers ExpiredToken to its presigned URL. Ruled out: the token's own age, the mapping.",
		lines(
			"The session ended at {session_expires}.",
			"Sign with a session that outlives the token: duration of at least 15m on the last hop of identity {identity}, and a reuse_session well below it.",
			"A client must renew its token before min(15 minutes, end of the session), whatever the announced expiry says.",
		)},
	{StepToken, ReasonTokenNotSent,
		"The apiserver saw an anonymous request: the Authorization header was lost on the way. Adding RBAC rules does not help.",
		"The review names system:anonymous, though a token was sent. Ruled out: RBAC and the mapping, which never saw an identity.",
		lines(
			"Find what terminates TLS between the exporter and {host} and drops Authorization: a proxy ({proxy}) or a load balancer in front of the cluster.",
			"Add {host} to NO_PROXY, or remove endpoint of cluster {cluster} so that {endpoint_described} is dialled directly.",
		)},
	{StepToken, ReasonClusterIDMismatch,
		"The token is signed for a cluster name that this cluster does not bear, so its authenticator refuses it. AWS calls that a bad signature.",
		"The signed x-k8s-aws-id, byte for byte, against what EKS and the server's certificate say. Ruled out: the keys, the clock and the mapping.",
		lines(
			"aws eks list-clusters --region {region}",
			"Set eks_name of cluster {cluster} to the name in that list, in the same upper and lower case; it is {eks_name} now.",
			"aws eks update-kubeconfig --region {region} --name EKS_NAME",
		)},
	{StepToken, ReasonClusterAccountMismatch,
		"A cluster of this name exists, but in another account than the configuration says: the observer looks into the wrong account.",
		"The account in the ARN that DescribeCluster returned against account_id. Ruled out: the identity under test, which did not read it.",
		lines(
			"Found in account {actual_account_id}, expected {account_id}.",
			"Give cluster {cluster} an observer of account {account_id} (assume_role into it), or correct account_id.",
			"aws eks describe-cluster --region {region} --name {eks_name} --query cluster.arn",
		)},
	{StepToken, ReasonClusterNotFound,
		"EKS knows no cluster of this name in this region and account.",
		"DescribeCluster answered ResourceNotFoundException to the observer. Ruled out: a denied or throttled read, which is unknown.",
		lines(
			"aws eks list-clusters --region {region}",
			"Correct eks_name ({eks_name}) or region ({region}) of cluster {cluster}, or its observer ({observer}) when that one looks into another account.",
			"When the cluster is gone for good, take it out of the configuration.",
		)},
	{StepToken, ReasonClusterNotActive,
		"The cluster exists, but it is not in service: it is being created or deleted, or it has failed.",
		"DescribeCluster's status is neither ACTIVE nor UPDATING. Ruled out: the identity and its token.",
		lines(
			"aws eks describe-cluster --region {region} --name {eks_name} --query 'cluster.[status,health]'",
			"aws eks wait cluster-active --region {region} --name {eks_name}",
			"Status is {cluster_status}: after CREATING wait; after DELETING take cluster {cluster} out of the configuration; on FAILED read health.issues.",
		)},
}
