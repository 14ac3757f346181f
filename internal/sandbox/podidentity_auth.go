// EKS Auth: AssumeRoleForPodIdentity, which proves a pod's token and opens a session of the associated role, with the pod's tags on it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	podAudience  = "pods.eks.amazonaws.com"
	podPrincipal = "pods.eks.amazonaws.com" // of a role's trust policy
)

// EKS Auth's errors with their statuses (EKS API reference, AssumeRoleForPodIdentity). The texts of AccessDeniedException and ExpiredTokenException are from public reports.
var (
	errPodTokenInvalid = &awsError{http.StatusBadRequest, "InvalidTokenException", "The token included in the request is invalid."}
	errPodRoleDenied   = &awsError{http.StatusBadRequest, "AccessDeniedException", "Unauthorized Exception! EKS does not have permissions to assume the associated role."}
	errPodThrottled    = &awsError{http.StatusTooManyRequests, "ThrottlingException", "Rate exceeded"}
	errPodInternal     = &awsError{http.StatusInternalServerError, "InternalServerException", "Internal server error"}
)

// assumeRoleForPodIdentity asks, in this order: may the node call, is the token the cluster's own, meant for EKS Auth and fresh, has its service account an association, does the role let EKS in.
// The caller holds the lock.
func (s *State) assumeRoleForPodIdentity(token string) (*Session, *awsError) {
	switch here := s.PodIdentity; {
	case s.Throttle[opAssumeForPod]:
		return nil, errPodThrottled
	case s.Failing[opAssumeForPod]:
		return nil, errPodInternal
	case here.NodeDenied:
		return nil, &awsError{http.StatusBadRequest, "AccessDeniedException", "User: " + s.nodeARN() + " is not authorized to perform: eks-auth:AssumeRoleForPodIdentity on resource: " +
			s.podClusterARN() + " because no identity-based policy allows the eks-auth:AssumeRoleForPodIdentity action"}
	}
	pod, fault := s.pod(token)
	if fault != nil {
		return nil, fault
	}
	account := pod.Namespace + "/" + pod.ServiceAccount.Name
	arn, ok := s.PodIdentity.Associations[account]
	if !ok {
		return nil, &awsError{http.StatusNotFound, "ResourceNotFoundException", "No active association found for service account " + account + "."}
	}
	role, ok := s.Roles[arn]
	if !ok || !role.trustsService(podPrincipal, true) {
		return nil, errPodRoleDenied
	}
	return s.openForPod(role, pod)
}

// pod proves a token, and returns whose it is.
func (s *State) pod(token string) (kubernetesClaim, *awsError) {
	cluster, ok := s.Clusters[s.PodIdentity.Cluster]
	if !ok || s.Issuers[cluster.OIDCIssuer] == nil {
		return kubernetesClaim{}, errPodTokenInvalid
	}
	id, err := s.Issuers[cluster.OIDCIssuer].verify(token)
	if err != nil || id.Issuer != cluster.OIDCIssuer || !slices.Contains(id.Audience, podAudience) {
		return kubernetesClaim{}, errPodTokenInvalid
	}
	if now := s.now(); !now.Before(id.Expires) {
		return kubernetesClaim{}, &awsError{http.StatusBadRequest, "ExpiredTokenException", fmt.Sprintf(
			"The token included in the request is expired: current date/time %d must be before the expiration date/time %d", now.Unix(), id.Expires.Unix())}
	}
	var claims projectedClaims
	_, _, err = jwt.NewParser().ParseUnverified(token, &claims) // it was verified above
	mustEncode(err)
	return claims.Kubernetes, nil
}

// openForPod opens the session, named and tagged as EKS does (EKS user guide, "Grant Pods access to AWS resources based on tags"). The tags are transitive.
func (s *State) openForPod(role *Role, pod kubernetesClaim) (*Session, *awsError) {
	if pod.Pod == nil {
		pod.Pod = &nameUID{}
	}
	session, fault := s.open(role, assumption{
		roleARN: role.ARN, session: shorten("eks-"+s.PodIdentity.Cluster+"-"+pod.Pod.Name+"-"+newRequestID(), 64), duration: max(role.MaxSession, time.Hour),
	})
	if fault != nil {
		return nil, fault
	}
	session.Tags = map[string]string{
		"eks-cluster-arn": s.podClusterARN(), "eks-cluster-name": s.PodIdentity.Cluster, "kubernetes-namespace": pod.Namespace,
		"kubernetes-service-account": pod.ServiceAccount.Name, "kubernetes-pod-name": pod.Pod.Name, "kubernetes-pod-uid": pod.Pod.UID,
	}
	return session, nil
}

func shorten(text string, limit int) string { return text[:min(len(text), limit)] }

func (s *State) podClusterARN() string {
	cluster, ok := s.Clusters[s.PodIdentity.Cluster]
	if !ok {
		return "*"
	}
	return "arn:aws:eks:" + cluster.Region + ":" + cluster.AccountID + ":cluster/" + cluster.Name
}

// nodeARN is how AWS names a caller that signs as the instance.
func (s *State) nodeARN() string {
	_, name, _ := strings.Cut(s.Instance.RoleARN, ":role/")
	return "arn:aws:sts::" + chain.AccountOf(s.Instance.RoleARN) + ":assumed-role/" + name[strings.LastIndex(name, "/")+1:] + "/" + s.Instance.ID
}
