// The EKS API: its rest-json protocol, who may ask, and how it refuses.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"net/http"
)

// EKS is the EKS API on loopback, for every region of its account: DescribeCluster, ListClusters, DescribeAccessEntry, ListAccessEntries and ListAssociatedAccessPolicies.
// Which clusters a caller sees depends on its account and on the region of its credential scope.
type EKS struct{ *awsServer }

// NewEKS starts the API; its certificate is the authority's, for loopback and for every eks host of AWS.
func NewEKS(state *State, ca *CA) (*EKS, error) {
	e := &EKS{}
	mux := http.NewServeMux()
	for _, route := range []struct {
		pattern, operation string
		action             eksAction
	}{
		{"GET /clusters", "ListClusters", (*State).listClusters},
		{"GET /clusters/{name}", "DescribeCluster", (*State).describeCluster},
		{"GET /clusters/{name}/access-entries", "ListAccessEntries", (*State).listAccessEntries},
		{"GET /clusters/{name}/access-entries/{principal}", "DescribeAccessEntry", (*State).describeAccessEntry},
		{"GET /clusters/{name}/access-entries/{principal}/access-policies", "ListAssociatedAccessPolicies", (*State).listAssociatedAccessPolicies},
	} {
		mux.Handle(route.pattern, e.handle(route.operation, route.action))
	}
	server, err := newAWSServer("eks", state, ca, mux)
	if err != nil {
		return nil, err
	}
	e.awsServer = server
	return e, nil
}

// eksAction answers a call of a caller that may make it; it runs under the state's lock.
type eksAction func(*State, awsCaller, *http.Request) (any, *eksError)

// eksError is an error answer: the fields are the modelled exception's.
type eksError struct {
	Status      int    `json:"-"`
	Code        string `json:"-"`
	Message     string `json:"message"`
	ClusterName string `json:"clusterName,omitempty"`
}

func (e *EKS) handle(operation string, action eksAction) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var result any
		body, fault := readBody(w, r)
		failure := eksFault(fault)
		if failure == nil {
			e.state.Change(func(state *State) { result, failure = state.answerEKS(r, body, operation, action) })
		}
		status, code := http.StatusOK, ""
		if failure != nil {
			status, code, result = failure.Status, failure.Code, failure
			w.Header().Set("X-Amzn-Errortype", code)
		}
		e.state.record("eks", operation, code)
		answer, err := json.Marshal(result)
		mustEncode(err)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(answer) // a client that left is not ours to report
	})
}

// answerEKS is what stands before every action: the signature, the caller's right to ask, and the faults of the service.
func (s *State) answerEKS(r *http.Request, body []byte, operation string, action eksAction) (any, *eksError) {
	caller, fault := s.authenticate(r, body, "eks")
	switch {
	case fault != nil:
		return nil, eksFault(fault)
	case s.Throttle[operation]:
		return nil, &eksError{Status: http.StatusTooManyRequests, Code: "TooManyRequestsException", Message: "Rate exceeded"}
	case s.Failing[operation]:
		return nil, &eksError{Status: http.StatusInternalServerError, Code: "ServerException", Message: "Internal server error"}
	}
	if denied := caller.mayRead(operation, eksResource(caller, r)); denied != nil {
		return nil, denied
	}
	return action(s, caller, r)
}

// mayRead asks the caller's identity policy (ReadsEKS), then its session policy.
func (c awsCaller) mayRead(operation, resource string) *eksError {
	action := "eks:" + operation
	suffix := " because no identity-based policy allows the " + action + " action"
	if c.ReadsEKS {
		decision := c.sessionPolicy(action, resource)
		if decision == policyAllows {
			return nil
		}
		suffix = decision.suffix(action)
	}
	return &eksError{
		Status: http.StatusForbidden, Code: "AccessDeniedException",
		Message: "User: " + c.ARN + " is not authorized to perform: " + action + " on resource: " + resource + suffix,
	}
}

// eksCodes are the codes of rest-json services for what STS calls otherwise (AWS General Reference, "Common errors").
var eksCodes = map[string]string{
	"InvalidClientTokenId":       "UnrecognizedClientException",
	"ExpiredToken":               "ExpiredTokenException",
	"SignatureDoesNotMatch":      "InvalidSignatureException",
	"MissingAuthenticationToken": "MissingAuthenticationTokenException",
	"IncompleteSignature":        "IncompleteSignatureException",
	"RequestEntityTooLarge":      "RequestEntityTooLargeException",
}

func eksFault(fault *awsError) *eksError {
	if fault == nil {
		return nil
	}
	return &eksError{Status: fault.Status, Code: eksCodes[fault.Code], Message: fault.Message}
}
