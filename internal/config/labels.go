// Labels that the user puts on clusters, identities and target groups; they land on one info series per target.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// longestLabel is the most bytes of a label's value: it stands on every info series of its cluster, identity or target group.
const longestLabel = 1024

// The labels that the info series have themselves, those of access targets and those of target groups.
var (
	accessLabels = []string{"cluster", "identity"}
	groupLabels  = []string{"target_group", "region", "cluster", "namespace", "binding"}
)

func (d *decoder) labels(f fields, reserved []string) map[string]string {
	n := f.values["labels"]
	if n == nil || !d.want(n, "labels", yaml.MappingNode) {
		return nil
	}
	labels := map[string]string{}
	for _, e := range d.entries(n, 0) {
		switch at := d.at(e.key); {
		case isSecretKey(e.name):
			d.report(at, secretKey, e.name, "labels are published on /metrics")
		case !model.LegacyValidation.IsValidLabelName(e.name):
			d.report(at, badLabelName, e.name)
		case slices.Contains(reserved, e.name) || strings.HasPrefix(e.name, model.ReservedLabelPrefix):
			d.report(at, reservedLabel, e.name, strings.Join(reserved, ", "))
		default:
			value := d.text(e.value, "label "+e.name)
			if len(value) > longestLabel {
				d.report(d.at(e.value), labelTooLong, e.name, len(value))
			}
			labels[e.name] = value
		}
	}
	return labels
}

// checkLabels reports a label that a cluster and an identity of one target set to different values.
func (d *decoder) checkLabels(at place, identity chain.Identity, cluster chain.Cluster) {
	for _, name := range slices.Sorted(maps.Keys(cluster.Labels)) {
		if value, both := identity.Labels[name]; both && value != cluster.Labels[name] {
			d.report(at, labelConflict, name, cluster.Labels[name], cluster.Name, value, identity.Name)
		}
	}
}
