// The EKS Pod Identity agent of the exporter's node: it takes a pod's projected token and relays what EKS Auth says to it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// PodIdentity is what the agent, and EKS Auth behind it, know and do.
type PodIdentity struct {
	Cluster      string            // name of the cluster that the node belongs to
	Associations map[string]string // ARN of the role, by NAMESPACE/SERVICEACCOUNT
	NodeDenied   bool              // the node's role may not call EKS Auth
	Trusting     bool              // the agent leaves the token's claims to EKS Auth, as the first releases did
	Intercepted  bool              // a proxy answers in the agent's place
}

const (
	opAssumeForPod = "AssumeRoleForPodIdentity"
	agentPath      = "/v1/credentials"
)

// PodIdentityAgent is the agent, on loopback. Unlike a real one it keeps no session, so that each request is a call of EKS Auth.
type PodIdentityAgent struct{ nodeServer }

// NewPodIdentityAgent starts the agent.
func NewPodIdentityAgent(state *State) (*PodIdentityAgent, error) {
	a := &PodIdentityAgent{}
	server, err := newNodeServer("pod-identity-agent", state, http.HandlerFunc(a.serve))
	if err != nil {
		return nil, err
	}
	a.nodeServer = server
	return a, nil
}

// CredentialsURL is what the webhook sets AWS_CONTAINER_CREDENTIALS_FULL_URI to.
func (a *PodIdentityAgent) CredentialsURL() string { return a.URL() + agentPath }

// agentCredentials is the agent's good answer (eks-pod-identity-agent pkg/credentials, EksCredentialsResponse).
type agentCredentials struct {
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	Token           string
	AccountID       string `json:"AccountId"`
	Expiration      time.Time
}

func (a *PodIdentityAgent) serve(w http.ResponseWriter, r *http.Request) {
	var here PodIdentity
	a.state.Change(func(s *State) { here = s.PodIdentity })
	switch {
	case here.Intercepted:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("<html><head><title>ERROR: The requested URL could not be retrieved</title></head></html>"))
		return
	case r.URL.Path != agentPath:
		http.NotFound(w, r)
		return
	}
	token := r.Header.Get("Authorization")
	if refusal := checkAgentToken(token, here.Trusting); refusal != "" {
		http.Error(w, refusal, http.StatusBadRequest)
		return
	}
	a.relay(w, token)
}

// checkAgentToken judges a token by its claims and the node's clock (eks-pod-identity-agent internal/validation, validateToken).
func checkAgentToken(token string, trusting bool) (refusal string) {
	if token == "" {
		return "Service account token cannot be empty"
	}
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return fmt.Sprintf("Service account token cannot be parsed: %v", err)
	}
	if err := jwt.NewValidator().Validate(claims); err != nil && !trusting {
		return fmt.Sprintf("Service account token failed basic claim validations: %v", err)
	}
	return ""
}

// relay asks EKS Auth. Its errors come out as plain text, under its own status (eks-pod-identity-agent pkg/errors, HandleCredentialFetchingError).
func (a *PodIdentityAgent) relay(w http.ResponseWriter, token string) {
	var (
		session *Session
		fault   *awsError
		off     bool
	)
	a.state.Change(func(s *State) {
		if off = s.Off["eks-auth"]; !off {
			session, fault = s.assumeRoleForPodIdentity(token)
		}
	})
	switch {
	case off:
		http.Error(w, "[]", http.StatusInternalServerError) // the SDK's error without a response has an empty request id
		return
	case fault != nil:
		a.state.record("eks-auth", opAssumeForPod, fault.Code)
		whose := "client"
		if fault.Status >= http.StatusInternalServerError {
			whose = "server"
		}
		http.Error(w, fmt.Sprintf("[%s]: (%s): %s, fault: %s", newRequestID(), fault.Code, fault.Message, whose), fault.Status)
		return
	}
	a.state.record("eks-auth", opAssumeForPod, "")
	body, err := json.Marshal(agentCredentials{session.AccessKeyID, session.SecretKey, session.SessionToken, session.AccountID, session.Expires})
	mustEncode(err)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that left is not ours to report
}
