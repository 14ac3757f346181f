// Identity and Access Management, as far as an observer reads it: GetRole and GetUser, in the query protocol.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	iamVersion   = "2010-05-08"
	iamNamespace = "https://iam.amazonaws.com/doc/2010-05-08/"
)

// IAM is the one IAM of all regions on loopback. A caller reads the roles and users of its own account, when its role or user has ReadsIAM.
type IAM struct{ *awsServer }

// NewIAM starts the service; its certificate is the authority's, for loopback and for IAM's own host.
func NewIAM(state *State, ca *CA) (*IAM, error) {
	server, err := newAWSServer("iam", state, ca, queryService{
		name: "iam", version: iamVersion, namespace: iamNamespace, state: state, answer: state.answerIAM,
		knows: func(operation string) bool { return operation == "GetRole" || operation == "GetUser" },
	})
	if err != nil {
		return nil, err
	}
	return &IAM{server}, nil
}

// longAgo is when roles and users were made that do not tell.
var longAgo = time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)

// iamPrincipal is the Role or User element of an answer.
type iamPrincipal struct {
	Path       string
	RoleName   string `xml:",omitempty"`
	RoleID     string `xml:"RoleId,omitempty"`
	UserName   string `xml:",omitempty"`
	UserID     string `xml:"UserId,omitempty"`
	ARN        string `xml:"Arn"`
	CreateDate string
}

// answerIAM is what stands before every action: the signature, and the faults of the service.
func (s *State) answerIAM(r *http.Request, body []byte, form url.Values) (result any, fault *awsError) {
	operation := form.Get("Action")
	s.Change(func(s *State) {
		caller, denied := s.authenticate(r, body, "iam")
		switch {
		case denied != nil:
			fault = denied
		case s.Throttle[operation]:
			fault = errThrottled
		default:
			result, fault = s.readIAM(caller, operation, form)
		}
	})
	return result, fault
}

// readIAM answers a caller that has proved itself. The caller holds the state's lock.
func (s *State) readIAM(caller awsCaller, operation string, form url.Values) (any, *awsError) {
	name := form.Get("RoleName") + form.Get("UserName")
	kind := strings.ToLower(strings.TrimPrefix(operation, "Get"))
	if !s.mayReadIAM(caller) {
		return nil, &awsError{http.StatusForbidden, "AccessDenied", "User: " + caller.ARN + " is not authorized to perform: iam:" + operation +
			" on resource: " + kind + " " + name + " because no identity-based policy allows the iam:" + operation + " action"}
	}
	if kind == "user" {
		for _, user := range s.Users {
			if user.AccountID == caller.AccountID && user.Name == name {
				return struct{ User iamPrincipal }{iamPrincipal{Path: "/", UserName: name, UserID: user.UserID, ARN: user.ARN(), CreateDate: iamDate(user.Created)}}, nil
			}
		}
	}
	for arn, role := range s.Roles {
		if _, _, own := principalParts(arn); kind == "role" && own == name && chain.AccountOf(arn) == caller.AccountID {
			return struct{ Role iamPrincipal }{iamPrincipal{Path: "/", RoleName: name, RoleID: role.RoleID, ARN: arn, CreateDate: iamDate(role.Created)}}, nil
		}
	}
	return nil, &awsError{http.StatusNotFound, "NoSuchEntity", "The " + kind + " with name " + name + " cannot be found."}
}

// mayReadIAM looks for the caller's own role or user by its unique id.
func (s *State) mayReadIAM(caller awsCaller) bool {
	id, _, _ := strings.Cut(caller.UserID, ":")
	for _, role := range s.Roles {
		if role.RoleID == id {
			return role.ReadsIAM && caller.Policy == ""
		}
	}
	return false
}

func iamDate(t time.Time) string {
	if t.IsZero() {
		t = longAgo
	}
	return t.UTC().Format(time.RFC3339)
}
