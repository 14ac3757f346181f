// Which way to the apiserver is closed: the private endpoint's or the public one's, as far as the address and EKS tell.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// closedWay says which of the two objects of EKS stands before an address that does not answer, as the end of a detail; "" when that is not known: EKS was not asked, another endpoint or a proxy was
// dialled, or the addresses are of both kinds, or of none.
func closedWay(info chain.ClusterInfo, dialled Endpoint, facts chain.Facts) string {
	private, known := privateAddresses(facts[chain.FactAddress])
	switch {
	case !known || facts[chain.FactProxy] != "" || info.Endpoint == "" || hostOf(info.Endpoint) != hostOf(dialled.URL) || !info.Private && !info.Public:
		return ""
	case private && info.Private:
		return "; the address is private, so it is the cluster's security group, which must admit the exporter to the private endpoint, or the route to it"
	case private:
		return "; the address is private, though EKS says that the private endpoint is off"
	case !info.Public:
		return "; the address is public, though EKS says that the public endpoint is off"
	case len(info.PublicIPs) == 0:
		return ""
	case slices.Contains(info.PublicIPs, "0.0.0.0/0"):
		return "; the address is public, and publicAccessCidrs admits everybody, so it is the exporter's own way out"
	}
	return "; the address is public, so it is publicAccessCidrs of the public endpoint, which admits " + strings.Join(info.PublicIPs, ", ") + ", or the exporter's own way out"
}

// privateAddresses tells whether the addresses of a dial, "IP:port, …", are private ones, when all are of one kind. Loopback and link-local ones are of none.
func privateAddresses(list string) (private, known bool) {
	for i, text := range strings.Split(list, ", ") {
		address, err := netip.ParseAddrPort(text)
		if err != nil || !address.Addr().Unmap().IsGlobalUnicast() {
			return false, false
		}
		is := address.Addr().Unmap().IsPrivate()
		if i > 0 && is != private {
			return false, false
		}
		private = is
	}
	return private, true
}
