// One request to the apiserver: what it asks for (Kubernetes' RequestInfo), and the way from there to an answer.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ServeHTTP answers one request: authenticated, authorized, then routed, in the order of the real one. The answer is recorded before it is sent.
func (a *APIServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.handling.RLock()
	defer a.handling.RUnlock()
	fault := a.fault()
	if fault.Hang {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Date", a.state.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("Audit-Id", newRequestID())
	w.Header().Set("Cache-Control", "no-cache, private")
	if fault.DropsToken {
		r.Header.Del("Authorization")
	}
	want := requestAttributes(r)
	var reply answer
	if fault.HTTPStatus != 0 {
		reply = brokenAnswer(fault, want)
	} else {
		reply = a.answer(r, want)
	}
	a.state.record("apiserver", operationOf(r, want), reply.code())
	reply.write(w)
}

func (a *APIServer) fault() (fault ClusterFault) {
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			fault = c.Fault
		}
	})
	return fault
}

func (a *APIServer) anonymous() (allowed Anonymous) {
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			allowed = c.Anonymous
		}
	})
	return allowed
}

func (a *APIServer) answer(r *http.Request, want attributes) answer {
	user, err := a.identify(r)
	if err != nil {
		return errorAnswer(err)
	}
	if d := a.authorize(user, want); !d.allowed {
		return errorAnswer(forbidden(user, want, d.reason))
	}
	return a.route(r, user, want)
}

func (a *APIServer) authorize(user authenticationv1.UserInfo, want attributes) (d decision) {
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			d = c.authorize(user, want)
		}
	})
	return d
}

// requestAttributes reads a URL as Kubernetes does: /api/v1 or /apis/GROUP/VERSION, then [namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]]. Any other path is itself what is wanted.
func requestAttributes(r *http.Request) attributes {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	want := attributes{path: r.URL.Path, verb: strings.ToLower(r.Method)}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		want.version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		want.group, want.version, parts = parts[1], parts[2], parts[3:]
	default:
		return want
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		want.namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	want.resource = parts[0]
	if len(parts) > 1 {
		want.name = parts[1]
	}
	if len(parts) > 2 {
		want.subresource = strings.Join(parts[2:], "/")
	}
	want.verb = requestVerb(r, want.name)
	return want
}

func requestVerb(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	switch {
	case slices.Contains([]string{"1", "true"}, r.URL.Query().Get("watch")):
		return "watch"
	case name == "":
		return "list"
	}
	return "get"
}

// operationOf names a request in the record.
func operationOf(r *http.Request, want attributes) string {
	switch {
	case want.resource == "":
		if operation, public := publicPaths[want.path]; public {
			return operation
		}
		return want.verb + " " + want.path
	case want.verb == "create" && want.resource == "selfsubjectreviews":
		return "SelfSubjectReview"
	case want.verb == "create" && want.resource == "selfsubjectaccessreviews":
		return "SelfSubjectAccessReview"
	case want.verb == "get" && want.resource == "configmaps":
		return "GetConfigMap"
	case want.verb == "create" && dryRun(r):
		return "DryRunCreate"
	}
	return want.verb + " " + want.resource
}

func dryRun(r *http.Request) bool { return slices.Equal(r.URL.Query()["dryRun"], []string{"All"}) }

// forbidden is the apiserver's 403 (apiserver pkg/endpoints/handlers/responsewriters).
func forbidden(user authenticationv1.UserInfo, want attributes, reason string) error {
	if want.resource == "" {
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("User %q cannot %s path %q", user.Username, want.verb, want.path))
	}
	resource := want.resource
	if want.subresource != "" {
		resource += "/" + want.subresource
	}
	scope := "at the cluster scope"
	if want.namespace != "" {
		scope = fmt.Sprintf("in the namespace %q", want.namespace)
	}
	text := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user.Username, want.verb, resource, want.group, scope)
	if reason != "" {
		text += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: want.group, Resource: want.resource}, want.name, fmt.Errorf("%s", text))
}
