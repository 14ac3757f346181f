// Kubernetes' refusals: the Status body is read here, and the texts that Kubernetes gives instead of codes are matched here, and nowhere else.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// ErrUnauthorized is returned, inside an *UnauthorizedError, when the apiserver answers 401: it refused the token.
var ErrUnauthorized = errors.New("the apiserver refused the token")

// UnauthorizedError is a 401 in Kubernetes' own words; it wraps ErrUnauthorized.
type UnauthorizedError struct {
	Message string    // the Status message, which never says why
	Date    time.Time // the apiserver's Date header; zero when it sent none
}

// Error implements error.
func (e *UnauthorizedError) Error() string {
	return fmt.Sprintf("presenting the token: 401 %s", e.Message)
}

// Unwrap returns ErrUnauthorized.
func (*UnauthorizedError) Unwrap() error { return ErrUnauthorized }

// readStatus reads a Status object (apimachinery meta/v1) that tells a failure. Anything else was not written by Kubernetes.
func readStatus(body []byte) (metav1.Status, bool) {
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err != nil || status.Kind != "Status" || status.Status != metav1.StatusFailure {
		return metav1.Status{}, false
	}
	return status, true
}

// The literal texts, with where they are written.
var (
	unservedPage        = "404 page not found"                                                                         // net/http, by apiserver pkg/server/mux: the group or version is not served
	storageInitializing = "storage is (re)initializing"                                                                // apiserver pkg/storage/cacher
	forbiddenTo         = regexp.MustCompile(`User "((?:[^"\\]|\\.)*)" cannot (\S+) (?:resource|path) `)               // apiserver pkg/endpoints/handlers/responsewriters
	missingRoles        = regexp.MustCompile(`\b((?:cluster)?role)\.rbac\.authorization\.k8s\.io "([^"]*)" not found`) // kubernetes plugin/pkg/auth/authorizer/rbac
	escalates           = "is attempting to grant RBAC permissions not currently held"                                 // kubernetes pkg/registry/rbac/validation
	webhookDenied       = regexp.MustCompile(`admission webhook "[^"]*" denied the request`)
	policyDenied        = regexp.MustCompile(`(?:Validating|Mutating)AdmissionPolicy '[^']*' (?:with binding '[^']*' )?denied request`)
	webhookFailed       = regexp.MustCompile(`(?:^|Internal error occurred: )failed (?:calling|to call) webhook`)
	overBudget          = "Cannot evict pod as it would violate the pod's disruption budget." // kubernetes pkg/registry/core/pod/storage
	shedding            = "Too many requests, please try again later."                        // apiserver pkg/server/filters: plain text, not a Status
)

const anonymous = "system:anonymous"

// forbiddenUser returns whom the authorizer refused, and the verb. ok is false when the refusal is not the authorizer's.
func forbiddenUser(status metav1.Status) (user, verb string, ok bool) {
	if match := forbiddenTo.FindStringSubmatch(status.Message); match != nil {
		return match[1], match[2], true
	}
	return "", "", false
}

// missingRole returns the first role that a binding names and that does not exist, as kubectl writes it; "" for none. The texts are the authorizer's: a reason, an evaluation error, a refusal.
func missingRole(texts ...string) string {
	for _, text := range texts {
		if match := missingRoles.FindStringSubmatch(text); match != nil {
			return chain.Redact(match[1] + "/" + match[2])
		}
	}
	return ""
}

// unserved reports whether a 404 is kube-apiserver's own, for a path that it does not serve: with a Status, or with one fixed text.
func (a answer) unserved() bool {
	_, kubernetes := readStatus(a.body)
	return a.status == http.StatusNotFound && (kubernetes || strings.TrimSpace(string(a.body)) == unservedPage)
}

// notReady says what an answer to /readyz means; nil: an apiserver answered and is ready, or asks who we are.
func (c *Conn) notReady(got answer) error {
	_, kubernetes := readStatus(got.body)
	switch {
	case got.status == http.StatusOK && strings.TrimSpace(string(got.body)) == "ok":
		return nil
	case kubernetes && (got.status == http.StatusUnauthorized || got.status == http.StatusForbidden):
		return nil
	case got.status == http.StatusUnauthorized:
		return c.notKubernetes(got, "a 401 without a Kubernetes Status", nil)
	}
	return c.answerError(got)
}

// answerError turns an answer that no method expects into an error: a 401 into *UnauthorizedError, the rest into reasons of the step endpoint.
func (c *Conn) answerError(got answer) error {
	status, kubernetes := readStatus(got.body)
	text := chain.Redact(status.Message)
	if !kubernetes {
		text = firstLines(got.body)
	}
	fail := func(reason chain.Reason, format string, args ...any) error {
		return chain.Fail(chain.StepEndpoint, reason, c.target.Host+" "+fmt.Sprintf(format, args...), answerFacts(got, text), nil)
	}
	switch {
	case got.status == http.StatusUnauthorized && kubernetes:
		return &UnauthorizedError{Message: text, Date: got.date}
	case !kubernetes && (got.status == http.StatusForbidden || got.status == http.StatusProxyAuthRequired):
		return fail(chain.ReasonProxyDenied, "answered %d without a Kubernetes Status: something in front of the apiserver refused, not RBAC", got.status)
	case got.status == http.StatusTooManyRequests && strings.Contains(text, storageInitializing):
		return fail(chain.ReasonAPIServerStorageInitializing, "is starting: %s", text)
	case got.status == http.StatusTooManyRequests && (kubernetes || got.prioritized || strings.TrimSpace(string(got.body)) == shedding):
		return fail(chain.ReasonAPIServerFlowControl, "sheds load: %s", text)
	case got.status >= 500:
		return fail(chain.ReasonAPIServerError, "answered %d: %s", got.status, text)
	}
	return c.notKubernetes(got, text, nil)
}

// notKubernetes is an answer that no apiserver gives to this question.
func (c *Conn) notKubernetes(got answer, what string, cause error) error {
	return chain.Fail(chain.StepEndpoint, chain.ReasonAPIServerError,
		fmt.Sprintf("%s answered %d, not as an apiserver does: %s", c.target.Host, got.status, what), answerFacts(got, what), cause)
}

func answerFacts(got answer, text string) chain.Facts {
	return chain.Facts{chain.FactHTTPStatus: fmt.Sprint(got.status), chain.FactErrorMessage: text}
}

// firstLines is the beginning of a body that is no Status, enough to recognise whose page it is; of a failing /readyz, the checks that fail ("[-]etcd failed: …").
func firstLines(body []byte) string {
	const enough = 300
	var failing []string
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "[-]") {
			failing = append(failing, line)
		}
	}
	text := chain.Redact(string(body))
	if len(failing) > 0 {
		text = chain.Redact(strings.Join(failing, ""))
	}
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "") + "…"
	}
	return text
}

// writeRefusal says what an answer to a dry-run write means, by this table (first match wins). A nil error means that the write is permitted: done, or turned down only after authorization
// and admission let it through (the made-up object is invalid, the named one does not exist or exists already).
//
//	2xx                                            → nil
//	"admission webhook … denied", policy denied    → admission_denied, whatever the code: a webhook chooses its own
//	"failed calling webhook"                       → admission_webhook_unavailable
//	404 of anything but the object itself, 405     → unknown: there is no such thing to write, or what it needs (its namespace, a role) is not there
//	429 "… violate the pod's disruption budget"    → nil
//	401, 429, no Status                            → what it means anywhere; a 404 in kube-apiserver's own words counts as one with a Status
//	"attempting to grant RBAC permissions …"       → rbac_escalation_denied
//	403 User "…" cannot VERB                       → token_not_sent for anonymous, rbac_role_not_found, denied
//	403 of any other text                          → admission_denied (quota, pod security and other built-in plugins)
//	5xx                                            → what it means anywhere
//	other 4xx                                      → nil
func (c *Conn) writeRefusal(w write, got answer) error {
	status, kubernetes := readStatus(got.body)
	message := chain.Redact(status.Message)
	fail := func(reason chain.Reason, detail string) error {
		return chain.Fail(chain.StepRBAC, reason, detail, w.facts(got.status, message), nil)
	}
	switch {
	case got.ok():
		return nil
	case webhookDenied.MatchString(status.Message), policyDenied.MatchString(status.Message):
		return fail(chain.ReasonAdmissionDenied, "admission denies it: "+message+w.madeUpHint())
	case webhookFailed.MatchString(status.Message):
		return fail(chain.ReasonAdmissionWebhookUnavailable, "the apiserver got no usable answer from an admission webhook: "+message)
	case got.unserved() && !w.wroteItself(status), kubernetes && got.status == http.StatusMethodNotAllowed:
		return chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("the apiserver has nothing to %s at %s; is the group, the resource or the namespace right?", w.verb, w)+told(message), w.facts(got.status, message), nil)
	case got.status == http.StatusTooManyRequests && strings.Contains(status.Message, overBudget):
		return nil
	case !kubernetes, got.status == http.StatusUnauthorized, got.status == http.StatusTooManyRequests:
		return c.answerError(got)
	case strings.Contains(status.Message, escalates):
		return fail(chain.ReasonRBACEscalationDenied, "the write is permitted, what it grants is not: "+message)
	case got.status == http.StatusForbidden:
		return c.forbidden(w, got, status)
	case got.status >= 500:
		return c.answerError(got)
	}
	return nil
}

// wroteItself reports whether a 404 is about the very object of the write: it does not exist, as a made-up name should not, and nothing else was amiss.
func (w write) wroteItself(status metav1.Status) bool {
	return status.Details != nil && status.Details.Name != "" && (status.Details.Name == w.name || w.madeUp && status.Details.Name == probeName)
}

func told(message string) string {
	if message == "" {
		return ""
	}
	return " (" + message + ")"
}

// forbidden tells the authorizer's 403 from that of an admission plugin.
func (c *Conn) forbidden(w write, got answer, status metav1.Status) error {
	message := chain.Redact(status.Message)
	facts := w.facts(got.status, message)
	user, verb, authorizer := forbiddenUser(status)
	switch {
	case !authorizer:
		return chain.Fail(chain.StepRBAC, chain.ReasonAdmissionDenied, "admission denies it: "+message+w.madeUpHint(), facts, nil)
	case user == anonymous:
		return chain.Fail(chain.StepToken, chain.ReasonTokenNotSent, "the apiserver saw no token: "+message, facts, nil)
	case verb != w.verb: // an update of what does not exist asks for create as well: update itself was let through
		return nil
	case missingRole(status.Message) != "":
		return chain.Fail(chain.StepRBAC, chain.ReasonRBACRoleNotFound, "a binding names a role that does not exist: "+message, facts, nil)
	}
	return chain.Fail(chain.StepRBAC, chain.ReasonDenied, message, facts, nil)
}
