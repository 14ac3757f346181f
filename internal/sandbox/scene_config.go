// The configuration of the exporter in the scene: four targets on two clusters, each with its rules.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"path/filepath"
	"strings"
)

// sceneConfig is the configuration file; DIR stands for the scene's folder.
func sceneConfig(dir string) string {
	return strings.ReplaceAll(sceneTemplate, "DIR", filepath.ToSlash(dir))
}

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
