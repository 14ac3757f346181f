// Reasons of the step rbac: the cluster knows who it is, and what it may do is not as declared.
//
// SPDX-License-Identifier: Apache-2.0

package chain

var rbacReasons = []ReasonInfo{
	{StepRBAC, ReasonDenied,
		"The identity is known and may not do what the rule says. Authentication, credentials and mapping are fine.",
		"A single access review, which covers RBAC and EKS access policies alike, answered no. Impersonation (--as) drops the policies and would mislead.",
		lines(
			"Missing: {rule}, for the user {username}; bind it to one of the identity's own groups, never to system:authenticated.",
			"kubectl create clusterrole NAME --verb={verb} --resource={resource}",
			"kubectl create rolebinding NAME -n {namespace} --clusterrole=NAME --group=GROUP",
			"For a rule without a namespace use clusterrolebinding instead; or associate an EKS access policy: aws eks list-access-policies --region {region}",
		)},
	{StepRBAC, ReasonAccessEntryWithoutPolicy,
		"The access entry exists and gives nothing: no policy and no group. The identity gets in and may do nothing.",
		"The review shows no group but system:authenticated, and ListAssociatedAccessPolicies is empty. Ruled out: authentication and the mapping.",
		lines(
			"aws eks list-access-policies --region {region}",
			"aws eks associate-access-policy --region {region} --cluster-name {eks_name} --principal-arn {principal} --policy-arn POLICY_ARN --access-scope type=namespace,namespaces={namespace}",
			"Or give it groups: aws eks update-access-entry --region {region} --cluster-name {eks_name} --principal-arn {principal} --kubernetes-groups {expected_groups}",
			"Terraform: aws_eks_access_policy_association; in the module terraform-aws-eks the key is policy_associations, and a misspelt one is ignored without a word.",
		)},
	{StepRBAC, ReasonAccessPolicyScope,
		"An access policy would allow it, but is scoped to other namespaces. EKS does not check that the namespaces of a scope exist.",
		"A policy is associated that allows the rule by AWS' published contents, its scope is namespaces, and the rule's own (or the whole cluster) is not in it. Ruled out: the policy's content, the mapping.",
		lines(
			"aws eks list-associated-access-policies --region {region} --cluster-name {eks_name} --principal-arn {principal}",
			"aws eks associate-access-policy --region {region} --cluster-name {eks_name} --principal-arn {principal} --policy-arn POLICY_ARN --access-scope type=namespace,namespaces=OLD_NAMESPACES,{namespace}",
			"Name the old namespaces too: the scope is replaced. Terraform: access_scope of aws_eks_access_policy_association.",
		)},
	{StepRBAC, ReasonAccessPolicyExcludesResource,
		"The entry has access policies, and none of them covers this resource, wherever it applies: custom resources are in hardly any, secrets and nodes not in all.",
		"The review answers no, and AWS' published contents of all associated policies have nothing on the resource. Ruled out: scope and mapping.",
		lines(
			"Missing: {rule}; access policies cannot be extended, so add RBAC through a group of the entry.",
			"kubectl create clusterrole NAME --verb={verb} --resource={resource}",
			"kubectl create rolebinding NAME -n {namespace} --clusterrole=NAME --group=GROUP",
			"Then add GROUP to the entry, with its old groups: aws eks update-access-entry --region {region} --cluster-name {eks_name} --principal-arn {principal} --kubernetes-groups OLD_GROUPS GROUP",
		)},
	{StepRBAC, ReasonRBACRoleNotFound,
		"A binding names a role that does not exist. The subject is bound, so the binding reads as if the right were there.",
		"The authorizer's own words end in: role … not found. Ruled out: a plain denial, the mapping, the access policies.",
		lines(
			"The authorizer says: {why}.",
			"kubectl get rolebindings,clusterrolebindings -A -o wide",
			"kubectl create rolebinding NEW_NAME -n {namespace} --clusterrole=RIGHT_NAME --group=GROUP",
			"The roleRef of a binding cannot be changed, so make a new binding, or create the missing role under the name that is bound.",
		)},
	{StepRBAC, ReasonRBACEscalationDenied,
		"The identity may write roles or bindings, but not hand out rights that it does not hold itself. An access review cannot show this.",
		"The dry-run write was refused, and the answer speaks of permissions not currently held. Ruled out: a missing create right, which the review allows.",
		lines(
			"kubectl create clusterrole bind-ROLE --verb=bind --resource=clusterroles --resource-name=ROLE",
			"kubectl create clusterrolebinding bind-ROLE --clusterrole=bind-ROLE --group=GROUP",
			"ROLE is the one that the write hands out; giving the identity all rights of ROLE works too, and is wider.",
		)},
	{StepRBAC, ReasonExcessPermission,
		"The identity may do what its deny rule forbids. Nothing is down; somebody has more rights than declared.",
		"A single access review of a deny rule answered yes, with the authorizer's reason. The authorizer may keep an old answer for minutes after a change.",
		lines(
			"Allowed: {rule}, because {why}.",
			"kubectl get rolebindings,clusterrolebindings -A -o wide",
			"aws eks list-associated-access-policies --region {region} --cluster-name {eks_name} --principal-arn {principal}",
			"Narrow the role, or replace the policy by a narrower one; when the right is meant, take the rule out of deny.",
		)},
	{StepRBAC, ReasonAdmissionDenied,
		"The identity has the right, but admission refused the object: a policy engine, a quota or Pod Security said no.",
		"The access review allows it, and the server-side dry run came back refused by admission. Ruled out: RBAC, access policies, the mapping.",
		lines(
			"Admission says: {why}.",
			"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies",
			"kubectl describe resourcequota,limitrange -n {namespace}",
			"Change the object in dry_run to what the policy asks for, or except the identity in the policy.",
		)},
	{StepRBAC, ReasonAdmissionWebhookUnavailable,
		"An admission webhook cannot be reached, or gives no usable answer, so writes fail. Reads work, and the apiserver itself is well.",
		"The dry run answered 500, failed calling webhook, while reviews and /readyz succeed. Ruled out: RBAC, an apiserver outage, the network to the apiserver.",
		lines(
			"The apiserver says: {why}.",
			"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o wide",
			"kubectl get pods,endpointslices -n WEBHOOK_NAMESPACE",
			"When its pods run, admit the control plane: aws ec2 authorize-security-group-ingress --region {region} --group-id NODE_SECURITY_GROUP_ID --protocol tcp --port WEBHOOK_PORT --source-group CLUSTER_SECURITY_GROUP_ID",
		)},
}
