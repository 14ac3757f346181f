// RBAC as YAML that kubectl applies, with a comment that says on which cluster.
//
// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// WriteRBAC writes the clusters' objects as a stream of YAML documents, each cluster's behind a comment that names it.
func WriteRBAC(w io.Writer, clusters []Cluster) error {
	for _, cluster := range clusters {
		comment := cluster.comment()
		for _, object := range cluster.Objects {
			text, err := manifest(object)
			if err != nil {
				return fmt.Errorf("writing the RBAC of cluster %s: %w", cluster.Cluster.Name, err)
			}
			if _, err := fmt.Fprintf(w, "---\n%s%s", comment, text); err != nil {
				return fmt.Errorf("writing the RBAC of cluster %s: %w", cluster.Cluster.Name, err)
			}
			comment = ""
		}
	}
	return nil
}

// comment names the cluster, and says how the observer comes into the group.
func (c Cluster) comment() string {
	arn := c.Observer.Expected()
	if arn == "" {
		arn = "ARN"
	}
	return fmt.Sprintf("# Cluster %s. Its observer %s comes into the group by its access entry:\n# aws eks create-access-entry --region %s --cluster-name %s --principal-arn %s --kubernetes-groups %s\n",
		c.Cluster.Name, c.Observer.Name, c.Cluster.Region, c.Cluster.EKSName, arn, Group)
}

// manifest writes one object as kubectl does, by way of its JSON, which has Kubernetes' names of its fields.
func manifest(object any) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(fields), encoder.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
