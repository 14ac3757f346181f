// Labels that the user puts on clusters, identities and target groups; they land on one info series per target.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// longestLabel is the most bytes of a label's value: it stands on every info series of its cluster, identity or target group.
const longestLabel = 1024

// The labels that the info series have themselves, those of access targets and those of target groups.
var (
	accessLabels = []string{"cluster", "identity"}
	groupLabels  = []string{"target_group", "region", "cluster", "namespace", "binding"}
)

func (d *decoder) labels(f diag.Fields, reserved []string) map[string]string {
	entries, given := f.Entries("labels")
	if !given {
		return nil
	}
	labels := map[string]string{}
	for _, e := range entries {
		switch at := d.At(e.Key); {
		case isSecretKey(e.Name):
			d.Report(at, secretKey, e.Name, "labels are published on /metrics")
		case !model.LegacyValidation.IsValidLabelName(e.Name):
			d.Report(at, badLabelName, e.Name)
		case slices.Contains(reserved, e.Name) || strings.HasPrefix(e.Name, model.ReservedLabelPrefix):
			d.Report(at, reservedLabel, e.Name, strings.Join(reserved, ", "))
		default:
			value := d.Text(e.Value, "label "+e.Name)
			if len(value) > longestLabel {
				d.Report(d.At(e.Value), labelTooLong, e.Name, len(value))
			}
			labels[e.Name] = value
		}
	}
	return labels
}

// checkLabels reports a label that a cluster and an identity of one target set to different values.
func (d *decoder) checkLabels(at diag.Place, identity chain.Identity, cluster chain.Cluster) {
	for _, name := range slices.Sorted(maps.Keys(cluster.Labels)) {
		if value, both := identity.Labels[name]; both && value != cluster.Labels[name] {
			d.Report(at, labelConflict, name, cluster.Labels[name], cluster.Name, value, identity.Name)
		}
	}
}
