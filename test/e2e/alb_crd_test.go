// The kind TargetGroupBinding, as a cluster with the AWS Load Balancer Controller has it.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	crdPath      = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/targetgroupbindings.elbv2.k8s.aws"
	bindingsPath = "/apis/elbv2.k8s.aws/v1beta1/targetgroupbindings"
)

// bindingCRD has the names, fields and enumerations of the controller's helm chart (aws-load-balancer-controller helm/aws-load-balancer-controller/crds/crds.yaml), but for v1alpha1, which is served
// no more, what is inside networking, and the columns of kubectl.
const bindingCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: targetgroupbindings.elbv2.k8s.aws}
spec:
  group: elbv2.k8s.aws
  scope: Namespaced
  names: {kind: TargetGroupBinding, listKind: TargetGroupBindingList, plural: targetgroupbindings, singular: targetgroupbinding}
  versions:
    - name: v1beta1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [serviceRef]
              properties:
                assumeRoleExternalId: {type: string}
                iamRoleArnToAssume: {type: string}
                ipAddressType: {type: string, enum: [ipv4, ipv6]}
                multiClusterTargetGroup: {type: boolean}
                networking: {type: object, x-kubernetes-preserve-unknown-fields: true}
                nodeSelector:
                  type: object
                  x-kubernetes-map-type: atomic
                  properties:
                    matchExpressions:
                      type: array
                      items:
                        type: object
                        required: [key, operator]
                        properties: {key: {type: string}, operator: {type: string}, values: {type: array, items: {type: string}}}
                    matchLabels: {type: object, additionalProperties: {type: string}}
                serviceRef:
                  type: object
                  required: [name, port]
                  properties:
                    name: {type: string}
                    port: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
                targetGroupARN: {type: string}
                targetGroupName: {type: string}
                targetGroupProtocol: {type: string, enum: [HTTP, HTTPS, TCP, TLS, UDP, TCP_UDP, QUIC, TCP_QUIC]}
                targetType: {type: string, enum: [instance, ip]}
                vpcID: {type: string}
            status:
              type: object
              properties:
                observedGeneration: {type: integer, format: int64}
                conditions:
                  type: array
                  items:
                    type: object
                    required: [lastTransitionTime, message, reason, status, type]
                    properties:
                      lastTransitionTime: {type: string, format: date-time}
                      message: {type: string, maxLength: 32768}
                      observedGeneration: {type: integer, format: int64, minimum: 0}
                      reason: {type: string, minLength: 1, maxLength: 1024}
                      status: {type: string, enum: ["True", "False", Unknown]}
                      type: {type: string, maxLength: 316}
`

// install adds the kind to the cluster or, with the objects of that kind, takes it away, and returns when kube-apiserver serves it so.
func (w *albWorld) install(t *testing.T, wanted bool) {
	t.Helper()
	ctx := t.Context()
	switch installed := w.cluster.Serves(ctx, t, crdPath); {
	case wanted && !installed:
		var crd object
		if err := yaml.Unmarshal([]byte(bindingCRD), &crd.Object); err != nil {
			t.Fatal(err)
		}
		w.cluster.Apply(ctx, t, crdPath, &crd)
	case !wanted && installed:
		w.cluster.Delete(ctx, t, crdPath)
		maps.DeleteFunc(w.held, func(path string, _ map[string]any) bool { return strings.Contains(path, "/targetgroupbindings/") })
	}
	await(t, func() bool {
		return w.cluster.Serves(ctx, t, crdPath) == wanted && w.cluster.Serves(ctx, t, bindingsPath) == wanted
	})
}
