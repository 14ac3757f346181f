// The Security Token Service: its query protocol, and which action answers.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	stsVersion    = "2011-06-15"
	stsNamespace  = "https://sts.amazonaws.com/doc/2011-06-15/"
	presignedCall = "Presigned" // before the operation of a request that is signed in its query, where it is recorded, throttled or failed
)

// STS is a Security Token Service on loopback, for every region of its account. It answers AssumeRole, AssumeRoleWithWebIdentity and GetCallerIdentity, the last also presigned.
type STS struct{ *awsServer }

// NewSTS starts the service; its certificate is the authority's, for loopback and for every sts host of AWS.
func NewSTS(state *State, ca *CA) (*STS, error) {
	s := &STS{}
	server, err := newAWSServer("sts", state, ca, http.HandlerFunc(s.serve))
	if err != nil {
		return nil, err
	}
	s.awsServer = server
	return s, nil
}

// stsRequest is one call, read.
type stsRequest struct {
	http   *http.Request
	body   []byte
	values url.Values // query and form together
}

// stsActions answer a call; each runs under the state's lock.
var stsActions = map[string]func(*State, stsRequest) (any, *awsError){
	"AssumeRole":                (*State).assumeRole,
	"AssumeRoleWithWebIdentity": (*State).assumeRoleWithWebIdentity,
	"GetCallerIdentity":         (*State).getCallerIdentity,
}

func (s *STS) serve(w http.ResponseWriter, r *http.Request) {
	body, fault := readBody(w, r)
	operation, result := "", any(nil)
	if fault == nil {
		operation, result, fault = s.call(r, body)
	}
	code := ""
	if fault != nil {
		code = fault.Code
	}
	s.state.record("sts", operation, code)
	writeSTS(w, r, operation, result, fault)
}

// call finds the action and runs it.
func (s *STS) call(r *http.Request, body []byte) (operation string, result any, fault *awsError) {
	values := r.URL.Query()
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, &awsError{http.StatusBadRequest, "MalformedQueryString", "The query string contains a syntax error."}
	}
	for name, list := range form {
		values[name] = append(values[name], list...)
	}
	name := values.Get("Action")
	action, ok := stsActions[name]
	if !ok || values.Get("Version") != stsVersion {
		return name, nil, &awsError{http.StatusBadRequest, "InvalidAction", "Could not find operation " + name + " for version " + values.Get("Version")}
	}
	operation = name
	if isPresigned(r) {
		operation = presignedCall + name
	}
	s.state.Change(func(state *State) {
		refusal, refused := state.Refuse[operation]
		switch {
		case refused:
			fault = &awsError{http.StatusForbidden, refusal.Code, refusal.Message}
		case state.Throttle[operation]:
			fault = errThrottled
		case state.Failing[operation]:
			fault = errInternal
		default:
			result, fault = action(state, stsRequest{r, body, values})
		}
	})
	return operation, result, fault
}

// stsIdentity is the result of GetCallerIdentity.
type stsIdentity struct {
	Arn     string
	UserID  string `xml:"UserId" json:"UserId"`
	Account string
}

func (s *State) getCallerIdentity(r stsRequest) (any, *awsError) {
	caller, fault := s.authenticate(r.http, r.body, "sts")
	if fault != nil {
		return nil, fault
	}
	return stsIdentity{Arn: caller.ARN, UserID: caller.UserID, Account: caller.AccountID}, nil
}

// writeSTS answers in XML, or in JSON where the caller asked for it (the authenticator does).
func writeSTS(w http.ResponseWriter, r *http.Request, operation string, result any, fault *awsError) {
	operation = strings.TrimPrefix(operation, presignedCall)
	status, id := http.StatusOK, w.Header().Get("X-Amzn-Requestid")
	if fault != nil {
		status = fault.Status
	}
	contentType, body := "text/xml", []byte(nil)
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		contentType, body = "application/json", stsJSON(operation, id, result, fault)
	} else {
		body = queryXML(stsNamespace, operation, id, result, fault)
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left is not ours to report
}

// stsErrorBody is the Error element of an answer.
type stsErrorBody struct {
	Type    string // Sender or Receiver: whose fault
	Code    string
	Message string
}

func errorBody(fault *awsError) stsErrorBody {
	kind := "Sender"
	if fault.Status >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	return stsErrorBody{kind, fault.Code, fault.Message}
}

// queryXML is an answer of the query protocol, which STS and IAM speak: the result of an operation, or a fault.
func queryXML(namespace, operation, id string, result any, fault *awsError) []byte {
	var b strings.Builder
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	root := xml.StartElement{Name: xml.Name{Space: namespace, Local: operation + "Response"}}
	var content any = struct {
		Result any
		ID     string `xml:"ResponseMetadata>RequestId"`
	}{xmlNamed{operation + "Result", result}, id}
	if fault != nil {
		root.Name.Local = "ErrorResponse"
		content = struct {
			Error     stsErrorBody
			RequestID string `xml:"RequestId"`
		}{errorBody(fault), id}
	}
	mustEncode(e.EncodeElement(content, root))
	_, _ = io.WriteString(&b, "\n")
	return []byte(b.String())
}

// xmlNamed gives an element a name that is known only at run time.
type xmlNamed struct {
	name  string
	value any
}

// MarshalXML implements xml.Marshaler.
func (n xmlNamed) MarshalXML(e *xml.Encoder, _ xml.StartElement) error {
	return e.EncodeElement(n.value, xml.StartElement{Name: xml.Name{Local: n.name}})
}

func stsJSON(operation, id string, result any, fault *awsError) []byte {
	var content any = map[string]any{operation + "Response": map[string]any{
		operation + "Result": result, "ResponseMetadata": map[string]string{"RequestId": id},
	}}
	if fault != nil {
		content = map[string]any{"Error": errorBody(fault), "RequestId": id}
	}
	body, err := json.Marshal(content)
	mustEncode(err)
	return body
}

// mustEncode stops on an answer that cannot be written, which is a defect of this package: every answer is made of strings.
func mustEncode(err error) {
	if err != nil {
		panic("sandbox: encoding an answer: " + err.Error())
	}
}
