// The Alertmanager configuration: who is told of what, and which alert makes another one needless.
//
// SPDX-License-Identifier: Apache-2.0

// Package alertmanager writes an Alertmanager configuration for the alerts of generated SLO rules: routes by severity, inhibitions, a heartbeat, and example receivers.
package alertmanager

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
)

// Layers are SLOs of one service of which some lie before others: who does not get through the former says nothing of the latter.
type Layers struct {
	Service string
	Before  []string
	Behind  []string
}

// AccessLayers are those of the access chain (slo-specs/access-layers.yaml).
func AccessLayers() Layers {
	return Layers{Service: "eks-access", Before: []string{"sts", "endpoint"}, Behind: []string{"access_entry", "rbac"}}
}

//go:embed alertmanager.yaml.tmpl
var text string

// Write writes the configuration for SLOs whose groups have these labels, such as cluster and identity. Alerts are inhibited by those of the same group alone, and notified together by
// all of them but the identity: many identities that are locked out of one cluster are one event.
func Write(w io.Writer, labels []string) error {
	parsed, err := template.New("alertmanager.yaml").Funcs(template.FuncMap{"join": strings.Join}).Parse(text)
	if err != nil {
		return fmt.Errorf("parsing the template of the Alertmanager configuration: %w", err)
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(labels)))
	if err := parsed.Execute(w, struct {
		Labels []string
		Layers Layers
	}{sorted, AccessLayers()}); err != nil {
		return fmt.Errorf("writing the Alertmanager configuration: %w", err)
	}
	return nil
}
