// The clusters as the EKS API tells them.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"encoding/base64"
	"net/http"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// ARN is the cluster's, in its region's partition.
func (c *Cluster) ARN() string { return eksARN(c.Region, c.AccountID, "cluster/"+c.Name) }

func eksARN(region, account, resource string) string {
	return "arn:" + partitionOf(region) + ":eks:" + region + ":" + account + ":" + resource
}

// eksResource is what a call asks about, as an access-denied message names it.
func eksResource(caller awsCaller, r *http.Request) string {
	name := r.PathValue("name")
	if name == "" {
		name = "*"
	}
	return eksARN(caller.Region, caller.AccountID, "cluster/"+name)
}

type (
	eksCluster struct {
		Name                 string           `json:"name"`
		ARN                  string           `json:"arn"`
		Status               string           `json:"status"`
		Endpoint             string           `json:"endpoint,omitempty"`
		CertificateAuthority eksCA            `json:"certificateAuthority"`
		Identity             *eksOIDCIdentity `json:"identity,omitempty"`
		AccessConfig         eksAccessConfig  `json:"accessConfig"`
		VPC                  eksVPC           `json:"resourcesVpcConfig"`
	}
	eksCA struct {
		Data string `json:"data,omitempty"` // base64 of the PEM
	}
	eksOIDCIdentity struct {
		OIDC eksOIDC `json:"oidc"`
	}
	eksOIDC struct {
		Issuer string `json:"issuer"`
	}
	eksAccessConfig struct {
		AuthenticationMode string `json:"authenticationMode"`
	}
	eksVPC struct {
		EndpointPublicAccess  bool     `json:"endpointPublicAccess"`
		EndpointPrivateAccess bool     `json:"endpointPrivateAccess"`
		PublicAccessCIDRs     []string `json:"publicAccessCidrs"`
	}
)

// cluster finds a cluster of the caller's account and region. The caller holds the lock, as in all that follows.
func (s *State) cluster(caller awsCaller, name string) (*Cluster, *eksError) {
	cluster, ok := s.Clusters[name]
	if !ok || cluster.AccountID != caller.AccountID || cluster.Region != caller.Region {
		return nil, &eksError{Status: http.StatusNotFound, Code: "ResourceNotFoundException", Message: "No cluster found for name: " + name + ".", ClusterName: name}
	}
	return cluster, nil
}

func (s *State) describeCluster(caller awsCaller, r *http.Request) (any, *eksError) {
	cluster, fault := s.cluster(caller, r.PathValue("name"))
	if fault != nil {
		return nil, fault
	}
	answer := eksCluster{
		Name: cluster.Name, ARN: cluster.ARN(), Status: cluster.Status, Endpoint: cluster.Endpoint,
		CertificateAuthority: eksCA{base64.StdEncoding.EncodeToString(cluster.CAPEM)},
		AccessConfig:         eksAccessConfig{cmp.Or(cluster.AuthMode, chain.AuthModeConfigMap)},
		VPC:                  eksVPC{EndpointPublicAccess: true, PublicAccessCIDRs: []string{"0.0.0.0/0"}},
	}
	if cluster.Fault.Endpoint != "" {
		answer.Endpoint = cluster.Fault.Endpoint
	}
	if cluster.OIDCIssuer != "" {
		answer.Identity = &eksOIDCIdentity{eksOIDC{cluster.OIDCIssuer}}
	}
	return map[string]any{"cluster": answer}, nil
}

func (s *State) listClusters(caller awsCaller, r *http.Request) (any, *eksError) {
	var names []string
	for name := range s.Clusters {
		if _, fault := s.cluster(caller, name); fault == nil {
			names = append(names, name)
		}
	}
	page, next, fault := pageOf(names, r)
	if fault != nil {
		return nil, fault
	}
	return withNext(map[string]any{"clusters": page}, next), nil
}
