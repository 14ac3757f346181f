// The configuration of the exporter in the scene: six access targets on two clusters, each with its rules, and two target groups.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"path/filepath"
	"strings"
)

// sceneConfig is the configuration file: DIR stands for the scene's folder, and SHOP for where the load balancer serves the shop.
func sceneConfig(dir, shop string) string {
	return strings.NewReplacer("DIR", filepath.ToSlash(dir), "SHOP", shop).Replace(sceneTemplate + sceneSources + sceneGroups)
}

// FewTargets leaves the configuration with the access targets of a demo.
func (s *Scene) FewTargets() { s.Config = strings.Replace(s.Config, sceneSources, "", 1) }

const sceneTemplate = `probe: {interval: 5s, timeout: 3s}
clusters:
  - {name: prod, region: eu-west-1, account_id: "111122223333", observer: exporter, labels: {env: prod}}
  - {name: staging, region: eu-west-1, observer: exporter, labels: {env: staging}}
identities:
  - {name: exporter, source: irsa}
  - name: ci-deploy
    source: irsa
    assume_role: [{role_arn: "arn:aws:iam::111122223333:role/ci-deploy", external_id_file: "DIR/external-id"}]
    labels: {team: payments}
  - name: ci-release
    source: irsa
    assume_role: [{role_arn: "arn:aws:iam::111122223333:role/ci-release", external_id_file: "DIR/external-id"}]
  - name: viewer
    source: irsa
    assume_role: [{role_arn: "arn:aws:iam::111122223333:role/viewer", external_id_file: "DIR/external-id"}]
  - name: runner
    source: environment
    expect_principal: "arn:aws:iam::111122223333:user/ci-runner"
  - name: pod-agent
    source: pod_identity
    expect_principal: "arn:aws:iam::111122223333:role/pod-agent"
  - name: node
    source: instance_profile
    expect_principal: "arn:aws:iam::111122223333:role/node"
access:
  - cluster: prod
    identity: ci-deploy
    expect: {groups: [deployers]}
    rbac:
      allow: ["create apps/deployments in shop", "list apps/deployments in shop"]
      deny: ["get secrets in kube-system"]
  - cluster: prod
    identity: ci-release
    expect: {groups: [deployers]}
    rbac: {allow: ["update apps/deployments in shop"]}
  - cluster: prod
    identity: runner
    rbac: {allow: ["list apps/deployments in shop"]}
  - cluster: staging
    identity: viewer
    expect: {username: "viewer:{{SessionName}}", groups: [viewers]}
    rbac: {allow: ["list pods"], deny: ["delete pods in shop"]}
`

// sceneSources are two more targets, of identities whose credentials come from the node.
const sceneSources = `  - cluster: prod
    identity: pod-agent
    expect: {groups: [deployers]}
    rbac: {allow: ["list apps/deployments in shop"]}
  - cluster: prod
    identity: node
    rbac: {allow: ["list apps/deployments in shop"]}
`

// sceneGroups are the target groups behind the load balancer.
const sceneGroups = `target_groups:
  - name: shop
    arn: "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/shop/0123456789abcdef"
    observer: exporter
    binding: {cluster: prod, namespace: shop, name: shop}
    min_healthy: 2
    interval: 5s
    timeout: 3s
    request: {url: "SHOP/", expect_status: [200], expect_body: "^10[.]", ca_file: "DIR/ca.pem", timeout: 1s}
    labels: {team: shop}
  - name: web
    arn: "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/fedcba9876543210"
    observer: exporter
    binding: {cluster: prod, namespace: shop, name: web}
    interval: 5s
    timeout: 3s
`
