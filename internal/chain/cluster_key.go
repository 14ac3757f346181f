// ClusterKey identifies a cluster by everything that decides what DescribeCluster answers.
//
// SPDX-License-Identifier: Apache-2.0

package chain

// ClusterKey is comparable; two clusters of the configuration with the same key are the same cluster seen through the same observer.
type ClusterKey struct{ Region, EKSName, Observer string }

// Key returns the cluster's key.
func (c Cluster) Key() ClusterKey { return ClusterKey{c.Region, c.EKSName, c.Observer} }
