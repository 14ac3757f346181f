// The few parts of the Kubernetes API that the sandbox's apiserver has: health, version, reviews of oneself, the aws-auth ConfigMap, reads of objects and dry-run creates.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
)

const (
	authenticationGroup = "authentication.k8s.io"
	authorizationGroup  = "authorization.k8s.io"
	rbacGroup           = "rbac.authorization.k8s.io"
	apiBodyLimit        = 3 << 20 // kube-apiserver's
)

// route answers what the user is allowed to ask.
func (a *APIServer) route(r *http.Request, user authenticationv1.UserInfo, want attributes) answer {
	if want.resource == "" {
		return publicAnswer(want)
	}
	if !a.serves(want.group, want.version) {
		return textAnswer(http.StatusNotFound, "404 page not found\n") // no such API: not even a Status
	}
	if err := checkMedia(r); err != nil {
		return errorAnswer(err)
	}
	switch {
	case want.group == authenticationGroup && want.resource == "selfsubjectreviews" && want.verb == "create" && slices.Contains(*a.reviews.Load(), want.version):
		return reviewAnswer(user, want.version, a.state.Now())
	case want.group == authorizationGroup && want.resource == "selfsubjectaccessreviews" && want.verb == "create":
		return a.accessAnswer(r, user)
	case want.group == "" && want.resource == "configmaps" && want.verb == "get" && want.subresource == "":
		return a.configMapAnswer(want)
	case want.verb == "get" || want.verb == "list":
		return a.objectAnswer(r.URL.Query(), want)
	case want.verb == "create" && want.subresource == "" && want.name == "":
		return a.createAnswer(r, user, want)
	}
	return errorAnswer(genericError(http.StatusNotFound, ""))
}

// serves tells whether a group has a version at all: a resource that its version does not know is a 404 with a Status, an unknown version a bare 404 (apiserver pkg/server).
func (a *APIServer) serves(group, version string) bool {
	switch {
	case group == authenticationGroup && slices.Contains(*a.reviews.Load(), version):
		return true
	case group == bindingGroup:
		return version == bindingVersion && a.hasBindingKind()
	}
	return version == "v1" && slices.Contains([]string{"", "apps", discoveryGroup, authenticationGroup, authorizationGroup, rbacGroup}, group)
}

func publicAnswer(want attributes) answer {
	operation, public := publicPaths[want.path]
	switch {
	case !public || want.verb != "get":
		return textAnswer(http.StatusNotFound, "404 page not found\n")
	case operation == "Version":
		return answer{status: http.StatusOK, object: version.Info{
			Major: "1", Minor: "37", GitVersion: "v1.37.2-eks-5c1f4a7", GitCommit: strings.Repeat("5c1f4a7e", 5), GitTreeState: "clean", BuildDate: "2026-10-14T04:27:51Z",
			GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: "linux/amd64",
		}}
	}
	return textAnswer(http.StatusOK, "ok")
}

// checkMedia refuses what is not JSON, which a real apiserver would take as YAML, CBOR or protobuf too.
func checkMedia(r *http.Request) error {
	if contentType := r.Header.Get("Content-Type"); contentType != "" && r.Method == http.MethodPost {
		if media, _, err := mime.ParseMediaType(contentType); err != nil || media != "application/json" {
			return genericError(http.StatusUnsupportedMediaType, "the body of the request was in an unknown format - accepted media types include: application/json")
		}
	}
	accept := r.Header.Get("Accept")
	if accept == "" || strings.Contains(accept, "application/json") || strings.Contains(accept, "*/*") || strings.Contains(accept, "application/*") {
		return nil
	}
	return genericError(http.StatusNotAcceptable, "only the following media types are accepted: application/json")
}

// reviewAnswer is SelfSubjectReview; its versions differ in name only.
func reviewAnswer(user authenticationv1.UserInfo, apiVersion string, now time.Time) answer {
	return answer{status: http.StatusCreated, object: authenticationv1.SelfSubjectReview{
		TypeMeta:   metav1.TypeMeta{Kind: "SelfSubjectReview", APIVersion: authenticationGroup + "/" + apiVersion},
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)},
		Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: user},
	}}
}

// accessAnswer is SelfSubjectAccessReview: the authorizer's decision on exactly one kind of question.
func (a *APIServer) accessAnswer(r *http.Request, user authenticationv1.UserInfo) answer {
	var review authorizationv1.SelfSubjectAccessReview
	if err := decodeBody(r, &review); err != nil {
		return errorAnswer(err)
	}
	resource, path := review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes
	var want attributes
	switch {
	case (resource == nil) == (path == nil):
		return errorAnswer(apierrors.NewInvalid(schema.GroupKind{Group: authorizationGroup, Kind: "SelfSubjectAccessReview"}, "", field.ErrorList{
			field.Invalid(field.NewPath("spec"), path, "exactly one of nonResourceAttributes or resourceAttributes must be specified"),
		}))
	case resource != nil:
		want = attributes{
			verb: resource.Verb, group: resource.Group, version: resource.Version, resource: resource.Resource, subresource: resource.Subresource,
			name: resource.Name, namespace: resource.Namespace,
		}
	default:
		want = attributes{verb: path.Verb, path: path.Path}
	}
	d := a.authorize(user, want)
	review.TypeMeta = metav1.TypeMeta{Kind: "SelfSubjectAccessReview", APIVersion: authorizationGroup + "/v1"}
	review.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: d.allowed, Reason: d.reason}
	return answer{status: http.StatusCreated, object: review}
}

// configMapAnswer knows one ConfigMap: kube-system/aws-auth, when the cluster has it.
func (a *APIServer) configMapAnswer(want attributes) answer {
	var data map[string]string
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			data = maps.Clone(c.AWSAuth)
		}
	})
	if data == nil || want.namespace != metav1.NamespaceSystem || want.name != "aws-auth" {
		return errorAnswer(apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, want.name))
	}
	return answer{status: http.StatusOK, object: corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: want.name, Namespace: want.namespace, ResourceVersion: "1"},
		Data:       data,
	}}
}

// decodeBody reads a JSON body; its error is a BadRequest.
func decodeBody(r *http.Request, into any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, apiBodyLimit)).Decode(into); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("couldn't get version/kind; json parse error: %v", err))
	}
	return nil
}
