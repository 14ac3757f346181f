// Dry-run writes: what no access review can vouch for (escalation checks, admission) is tried for real, server-side, and never stored.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/wire"
)

// probeName is the object that a rule without a name writes. It does not exist, so a delete or an update of it ends in a 404 after authorization.
const probeName = "eks-slo-probe"

// write is one dry-run write.
type write struct {
	verb        string
	resource    schema.GroupVersionResource
	subresource string
	namespace   string
	name        string // "" for create
	body        object
	madeUp      bool // the object is ours, not the user's
}

// String names what is written to, for people.
func (w write) String() string {
	return chain.Rule{Verb: w.verb, Group: w.resource.Group, Resource: w.resource.Resource, Subresource: w.subresource, Name: w.name, Namespace: w.namespace}.String()
}

func (w write) facts(status int, message string) chain.Facts {
	return chain.Facts{
		chain.FactHTTPStatus: fmt.Sprint(status), chain.FactErrorMessage: message, chain.FactWhy: message, chain.FactRule: w.String(), chain.FactVerb: w.verb,
		chain.FactGroup: w.resource.Group, chain.FactResource: w.resource.Resource, chain.FactNamespace: w.namespace,
	}.Merge()
}

func (w write) madeUpHint() string {
	if !w.madeUp {
		return ""
	}
	return " (the object was made up by the probe; a manifest_file is judged as a real one)"
}

// DryRun tries one write with dryRun=All: of a rule, whose minimal object is made up, or of a manifest file with one object, which is created.
//
// nil means that the write is permitted. That includes answers that come after authorization: an invalid made-up object (validation runs before validating admission, so policies were then not asked;
// a manifest asks them), a missing or an existing one. A refusal is a *chain.Error of the step rbac (see writeRefusal). What cannot be dry-run is unknown, not_measurable, and nothing is
// sent; a manifest that cannot be read is unknown, read_failed. Other errors are those of Review.
func (c *Conn) DryRun(ctx context.Context, token chain.Token, wanted chain.DryRun) error {
	var w write
	var err error
	if wanted.ManifestFile != "" {
		w, err = readManifest(wanted.ManifestFile)
	} else {
		w, err = c.fromRule(ctx, token, wanted.Rule)
	}
	if err != nil {
		return err
	}
	request, err := c.writeRequest(w)
	if err != nil {
		return err
	}
	got, err := c.call(ctx, token, request)
	if err != nil {
		return err
	}
	return c.writeRefusal(w, got)
}

// methods are the verbs that write. impersonate, bind and escalate are no requests of their own.
var methods = map[string]string{
	"create": http.MethodPost, "update": http.MethodPut, "patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

// live are the subresources that act at once, whatever dryRun says: connections into a pod, node or service, and tokens of a service account.
var live = []string{"exec", "attach", "portforward", "proxy", "token"}

func notMeasurable(rule chain.Rule, why string) error {
	return chain.Unsure(chain.ReasonNotMeasurable, fmt.Sprintf("%q cannot be dry-run: %s", rule, why), chain.Facts{chain.FactRule: rule.String()}, nil)
}

// fromRule makes up the write of a rule.
func (c *Conn) fromRule(ctx context.Context, token chain.Token, rule chain.Rule) (write, error) {
	switch {
	case methods[rule.Verb] == "":
		return write{}, notMeasurable(rule, rule.Verb+" is no write")
	case rule.Resource == "*" || rule.Group == "*":
		return write{}, notMeasurable(rule, "it names no one resource")
	case slices.Contains(live, rule.Subresource):
		return write{}, notMeasurable(rule, rule.Subresource+" would act for real")
	}
	kind, err := c.kindOf(ctx, token, rule)
	if err != nil {
		return write{}, err
	}
	w := write{
		verb: rule.Verb, resource: kind.GroupVersion().WithResource(rule.Resource), subresource: rule.Subresource, namespace: rule.Namespace, name: rule.Name, madeUp: true,
	}
	if w.name == "" && w.verb != "deletecollection" && (w.verb != "create" || w.subresource != "") {
		w.name = probeName
	}
	w.body = madeUpBody(w, kind)
	if w.verb == "create" && w.subresource == "" { // the name is in the object, not in the path
		w.name = ""
	}
	return w, nil
}

func madeUpBody(w write, kind schema.GroupVersionKind) object {
	switch w.verb {
	case "patch":
		return object{}
	case "delete", "deletecollection":
		return object{"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": []string{"All"}}
	}
	metadata := object{"name": w.name, "namespace": w.namespace}
	if w.name == "" {
		metadata = object{"generateName": probeName + "-", "namespace": w.namespace}
	}
	version, name := kind.ToAPIVersionAndKind()
	body := object{"apiVersion": version, "kind": name, "metadata": metadata}
	switch name {
	case "RoleBinding", "ClusterRoleBinding":
		// Without a roleRef the escalation check, which comes before validation, ends in a 500. The role does not exist, so the answer is a 404 to those who may write bindings.
		body["roleRef"] = object{"apiGroup": kind.Group, "kind": "ClusterRole", "name": probeName}
	case "Binding":
		// Without a target its validation ends in a 500. A Binding has its pod's name, and this pod does not exist, so the answer is a 404 to those who may write bindings.
		metadata["name"] = cmp.Or(w.name, probeName)
		delete(metadata, "generateName")
		body["target"] = object{"kind": "Node", "name": probeName}
	}
	return body
}

// writeRequest builds the request; names that would leave their place in the path are refused by client-go before anything is sent.
func (c *Conn) writeRequest(w write) (*rest.Request, error) {
	body, err := json.Marshal(w.body)
	if err != nil {
		return nil, chain.Unsure(chain.ReasonReadFailed, "encoding the object to write: "+err.Error(), nil, err)
	}
	contentType := "application/json"
	if w.verb == "patch" {
		contentType = "application/merge-patch+json"
	}
	request := c.rest.Verb(methods[w.verb]).AbsPath(apiPath(w.resource.GroupVersion())).Resource(w.resource.Resource).
		Param("dryRun", "All").SetHeader("Content-Type", contentType).Body(body)
	if w.namespace != "" {
		request = request.Namespace(w.namespace)
	}
	if w.name != "" {
		request = request.Name(w.name)
	}
	if w.subresource != "" {
		request = request.SubResource(w.subresource)
	}
	if w.verb == "deletecollection" { // matches nothing, were dryRun ever ignored
		request = request.Param("labelSelector", probeName+"=none")
	} else {
		request = request.Param("fieldManager", wire.UserAgent)
	}
	return request, nil
}

func apiPath(version schema.GroupVersion) string {
	if version.Group == "" {
		return "/api/" + version.Version
	}
	return "/apis/" + version.Group + "/" + version.Version
}
