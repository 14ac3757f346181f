// The instance metadata service of the exporter's node, version 2 alone: a token for a PUT, and the role's credentials for the token.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Instance is the exporter's node.
type Instance struct {
	ID          string // i-…
	RoleARN     string // of its instance profile; "" it has none
	HopLimited  bool   // the answer to a PUT dies on its way to a pod
	MetadataOff bool   // HttpEndpoint is disabled
}

const (
	ec2Principal  = "ec2.amazonaws.com" // of a role's trust policy
	imdsTokenPath = "/latest/api/token"
	imdsRolePath  = "/latest/meta-data/iam/security-credentials/"
	imdsTTL       = "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"
	imdsToken     = "X-Aws-Ec2-Metadata-Token"
	imdsMaxTTL    = 21600 // seconds
)

// IMDS is the service, on loopback.
type IMDS struct {
	nodeServer

	mu     sync.Mutex
	tokens map[string]time.Time // by token, its end
}

// NewIMDS starts the service.
func NewIMDS(state *State) (*IMDS, error) {
	i := &IMDS{tokens: map[string]time.Time{}}
	server, err := newNodeServer("imds", state, http.HandlerFunc(i.serve))
	if err != nil {
		return nil, err
	}
	i.nodeServer = server
	return i, nil
}

// Tokens are those that were handed out: they are secrets.
func (i *IMDS) Tokens() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var tokens []string
	for token := range i.tokens {
		tokens = append(tokens, token)
	}
	return tokens
}

func (i *IMDS) serve(w http.ResponseWriter, r *http.Request) {
	var here Instance
	i.state.Change(func(s *State) { here = s.Instance })
	operation := "IMDS" + r.Method
	switch {
	case here.MetadataOff || r.Header.Get("X-Forwarded-For") != "":
		i.refuse(w, operation, http.StatusForbidden)
	case r.URL.Path == imdsTokenPath && r.Method == http.MethodPut && here.HopLimited:
		<-r.Context().Done() // until the client gives up
	case r.URL.Path == imdsTokenPath && r.Method == http.MethodPut:
		i.grant(w, r, operation)
	case r.Method != http.MethodGet:
		i.refuse(w, operation, http.StatusMethodNotAllowed)
	case !i.knows(r.Header.Get(imdsToken)):
		i.refuse(w, operation, http.StatusUnauthorized)
	case !strings.HasPrefix(r.URL.Path, imdsRolePath) || here.RoleARN == "":
		i.refuse(w, operation, http.StatusNotFound)
	default:
		i.answer(w, strings.TrimPrefix(r.URL.Path, imdsRolePath), here.RoleARN)
	}
}

func (i *IMDS) refuse(w http.ResponseWriter, operation string, status int) {
	i.state.record("imds", operation, strconv.Itoa(status))
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("<html><body><h1>" + strconv.Itoa(status) + " - " + http.StatusText(status) + "</h1></body></html>"))
}

// grant hands a token out for as long as was asked for, within EC2's bounds.
func (i *IMDS) grant(w http.ResponseWriter, r *http.Request, operation string) {
	seconds, err := strconv.Atoi(r.Header.Get(imdsTTL))
	if err != nil || seconds < 1 || seconds > imdsMaxTTL {
		i.refuse(w, operation, http.StatusBadRequest)
		return
	}
	token := "imds-" + rand.Text()
	i.mu.Lock()
	i.tokens[token] = i.state.Now().Add(time.Duration(seconds) * time.Second)
	i.mu.Unlock()
	i.state.record("imds", operation, "")
	w.Header().Set(imdsTTL, strconv.Itoa(seconds))
	_, _ = w.Write([]byte(token)) // a client that left is not ours to report
}

func (i *IMDS) knows(token string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	end, ok := i.tokens[token]
	return ok && i.state.Now().Before(end)
}

// imdsCredentials is what the role's document says.
type imdsCredentials struct {
	Code, Type      string
	Message         string `json:",omitempty"`
	LastUpdated     time.Time
	AccessKeyID     string `json:"AccessKeyId,omitempty"`
	SecretAccessKey string `json:",omitempty"`
	Token           string `json:",omitempty"`
	Expiration      time.Time
}

// answer gives the role's name for "", and its credentials for its name: a new session each time, where EC2 would repeat one for some hours.
func (i *IMDS) answer(w http.ResponseWriter, asked, roleARN string) {
	name := roleARN[strings.LastIndex(roleARN, "/")+1:]
	switch asked {
	case "":
		i.state.record("imds", "IMDSGET", "")
		_, _ = w.Write([]byte(name))
		return
	case name:
	default:
		i.refuse(w, "IMDSGET", http.StatusNotFound)
		return
	}
	var found imdsCredentials
	i.state.Change(func(s *State) { found = s.instanceCredentials(name) })
	i.state.record("imds", "IMDSGET", "")
	body, err := json.MarshalIndent(found, "", "  ")
	mustEncode(err)
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(body)
}

// instanceCredentials opens a session as EC2 does, named after the instance. The caller holds the lock.
func (s *State) instanceCredentials(name string) imdsCredentials {
	now := s.now().UTC().Truncate(time.Second)
	denied := imdsCredentials{Code: "AssumeRoleUnauthorizedAccess", LastUpdated: now, Message: "EC2 cannot assume the role " + name +
		". Please see documentation at https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_iam-ec2.html#troubleshoot_iam-ec2_errors-info-doc."}
	role, ok := s.Roles[s.Instance.RoleARN]
	if !ok || !role.trustsService(ec2Principal, false) {
		return denied
	}
	session, fault := s.open(role, assumption{roleARN: role.ARN, session: s.Instance.ID, duration: max(role.MaxSession, time.Hour)})
	if fault != nil {
		return denied
	}
	return imdsCredentials{
		Code: "Success", Type: "AWS-HMAC", LastUpdated: now, AccessKeyID: session.AccessKeyID, SecretAccessKey: session.SecretKey, Token: session.SessionToken, Expiration: session.Expires.UTC(),
	}
}
