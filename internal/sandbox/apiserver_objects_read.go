// Reads of the cluster's objects: GET of one, LIST by selectors, in pages, as kube-apiserver answers them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// hasBindingKind tells whether the cluster knows TargetGroupBindings.
func (a *APIServer) hasBindingKind() (installed bool) {
	a.state.Change(func(s *State) {
		c := s.Clusters[a.cluster]
		installed = c != nil && !c.Objects.NoBindingKind
	})
	return installed
}

// objectAnswer answers a GET or LIST of a kind. A namespaced kind is got in a namespace; any other kind has none.
func (a *APIServer) objectAnswer(query url.Values, want attributes) answer {
	kind, known := objectKindOf(want)
	switch {
	case !known || !kind.namespaced && want.namespace != "":
	case want.verb == "list":
		return a.listAnswer(query, kind, want.namespace)
	case kind.namespaced == (want.namespace != ""):
		return a.getAnswer(kind, want)
	}
	return errorAnswer(genericError(http.StatusNotFound, ""))
}

func (a *APIServer) getAnswer(kind objectKind, want attributes) answer {
	key := want.name
	if kind.namespaced {
		key = want.namespace + "/" + want.name
	}
	var found json.RawMessage
	var err error
	a.eachObject(kind, func(at string, o object) bool {
		if at == key {
			found, err = encodeObject(kind, o)
		}
		return at != key
	})
	switch {
	case err != nil:
		return errorAnswer(err)
	case found == nil:
		return errorAnswer(apierrors.NewNotFound(schema.GroupResource{Group: want.group, Resource: want.resource}, want.name))
	}
	return answer{status: http.StatusOK, object: found}
}

// eachObject calls f under the state's lock until it returns false.
func (a *APIServer) eachObject(kind objectKind, f func(key string, o object) bool) {
	a.state.Change(func(s *State) {
		if c := s.Clusters[a.cluster]; c != nil {
			kind.all(&c.Objects)(f)
		}
	})
}

// encodeObject writes an object with its kind, as a GET shows it.
func encodeObject(kind objectKind, o object) (json.RawMessage, error) {
	o.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
	if o.GetResourceVersion() == "" {
		o.SetResourceVersion("1")
	}
	return json.Marshal(o)
}

// objectList is any list on the wire.
type objectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []json.RawMessage `json:"items"`
}

func (a *APIServer) listAnswer(query url.Values, kind objectKind, namespace string) answer {
	chosen, err := parseSelection(query, kind, namespace)
	if err != nil {
		return errorAnswer(err)
	}
	list := objectList{
		TypeMeta: metav1.TypeMeta{Kind: kind.Kind + "List", APIVersion: kind.GroupVersion().String()},
		ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []json.RawMessage{},
	}
	last, left := "", int64(0)
	a.eachObject(kind, func(key string, o object) bool {
		switch {
		case !chosen.takes(key, o):
			return true
		case chosen.limit > 0 && len(list.Items) == chosen.limit:
			list.Continue = encodeContinue(last)
			left++
			return true
		}
		var item json.RawMessage
		if item, err = encodeObject(kind, o); err != nil {
			return false
		}
		list.Items, last = append(list.Items, item), key
		return true
	})
	if err != nil {
		return errorAnswer(err)
	}
	if left > 0 && chosen.labels.Empty() && chosen.fields.Empty() {
		list.RemainingItemCount = &left // not told when there is a selector
	}
	return answer{status: http.StatusOK, object: list}
}

// selection is what a LIST asks for.
type selection struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
	kind      objectKind
	after     string // the key where the last page ended
	limit     int    // 0: all
}

func (s selection) takes(key string, o object) bool {
	return key > s.after && (s.namespace == "" || o.GetNamespace() == s.namespace) && s.labels.Matches(labels.Set(o.GetLabels())) && s.fields.Matches(s.kind.fields(o))
}

// parseSelection reads the query of a LIST; its errors are a BadRequest in the apiserver's words.
func parseSelection(query url.Values, kind objectKind, namespace string) (s selection, err error) {
	s.namespace, s.kind = namespace, kind
	if s.labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	if s.fields, err = fields.ParseSelector(query.Get("fieldSelector")); err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	for _, want := range s.fields.Requirements() {
		if err := kind.checkField(want.Field); err != nil {
			return s, apierrors.NewBadRequest(err.Error())
		}
	}
	if limit := query.Get("limit"); limit != "" {
		if s.limit, err = strconv.Atoi(limit); err != nil || s.limit < 0 {
			return s, apierrors.NewBadRequest(fmt.Sprintf("limit %q is not a whole number of at least 0", limit))
		}
	}
	if s.after, err = decodeContinue(query.Get("continue")); err != nil {
		return s, apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %v", err))
	}
	return s, nil
}

// A continue token is opaque to clients: here the key of the last object, in Base64.

func encodeContinue(last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte("after:" + last))
}

func decodeContinue(token string) (string, error) {
	if token == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	last, found := strings.CutPrefix(string(text), "after:")
	if err != nil || !found {
		return "", fmt.Errorf("%q was made by nobody here", token)
	}
	return last, nil
}
