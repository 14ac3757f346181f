// Faults of the step endpoint: the way to the apiserver.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var endpointFaults = []Fault{
	failing(chain.StepEndpoint, chain.ReasonEndpointStale, Fault{Name: "endpoint-stale", Target: deployTarget, Meaning: "the cluster was rebuilt, the configuration keeps the old endpoint", apply: func(s *Scene) error {
		const old = "OLD0123456789.yl4.eu-west-1.eks.amazonaws.com"
		s.DNS.Answer(old, DNSNXDomain)
		s.Config = strings.Replace(s.Config, "{name: prod, ", `{name: prod, endpoint: "https://`+old+`", `, 1)
		return nil
	}}),
	failing(chain.StepEndpoint, chain.ReasonDNSNXDomain, Fault{Name: "dns-nxdomain", Target: deployTarget, Meaning: "the endpoint's name does not exist", apply: func(s *Scene) error {
		s.DNS.Answer(s.host(), DNSNXDomain)
		return nil
	}}),
	failing(chain.StepEndpoint, chain.ReasonDNSFailure, Fault{Name: "dns-failure", Target: deployTarget, Meaning: "the resolver fails", apply: func(s *Scene) error {
		s.DNS.Answer(s.host(), DNSServFail)
		return nil
	}}),
	failing(chain.StepEndpoint, chain.ReasonTCPRefused, Fault{Name: "tcp-refused", Target: deployTarget, Meaning: "nothing listens at the endpoint", apply: func(s *Scene) error {
		address, err := Refused()
		if err != nil {
			return err
		}
		return s.movePort(address)
	}}),
	failing(chain.StepEndpoint, chain.ReasonTCPTimeout, Fault{Name: "tcp-timeout", Target: deployTarget, Meaning: "the security group drops the packets", apply: func(s *Scene) error {
		hole, err := NewBlackhole()
		if hole, err = start(s, hole, err); err != nil {
			return err
		}
		return s.movePort(hole.Addr())
	}}),
	failing(chain.StepEndpoint, chain.ReasonProxyDenied, Fault{Name: "proxy-denied", Target: deployTarget, Meaning: "a proxy refuses to tunnel to the endpoint", apply: func(s *Scene) error {
		s.Proxy.SetMode(ProxyDeny)
		s.Env["HTTPS_PROXY"] = s.Proxy.URL()
		return nil
	}}),
	failing(chain.StepEndpoint, chain.ReasonTLSCAMismatch, Fault{Name: "tls-ca-mismatch", Target: deployTarget, Meaning: "the configured CA is another cluster's", apply: func(s *Scene) error {
		if err := os.WriteFile(filepath.Join(s.Dir, "other-ca.pem"), s.CA.PEM(), 0o600); err != nil {
			return err
		}
		return s.override("", "other-ca.pem")
	}}),
	failing(chain.StepEndpoint, chain.ReasonTLSCAMismatch, Fault{Name: "tls-intercepted", Target: deployTarget, Meaning: "something in between shows a certificate of its own", apply: func(s *Scene) error {
		return s.Prod.ServeCertificate(CertificateOtherCA)
	}}),
	failing(chain.StepEndpoint, chain.ReasonTLSExpired, Fault{Name: "tls-expired", Target: deployTarget, Meaning: "the server's certificate is over", apply: func(s *Scene) error {
		return s.Prod.ServeCertificate(CertificateExpired)
	}}),
	failing(chain.StepEndpoint, chain.ReasonTLSNameMismatch, Fault{Name: "tls-name-mismatch", Target: deployTarget, Meaning: "the server's certificate has another name", apply: func(s *Scene) error {
		return s.Prod.ServeCertificate(CertificateOtherName)
	}}),
	failing(chain.StepEndpoint, chain.ReasonTLSFailure, Fault{Name: "tls-failure", Target: deployTarget, Meaning: "what listens at the endpoint speaks no TLS", apply: func(s *Scene) error {
		u, err := url.Parse(s.Proxy.URL())
		if err != nil {
			return err
		}
		return s.movePort(u.Host)
	}}),
	failing(chain.StepEndpoint, chain.ReasonEndpointNotConfigured, Fault{Name: "no-ca", Target: deployTarget, Meaning: "EKS tells no certificate authority, and ca_file is not set", apply: cluster("prod", func(c *Cluster) { c.CAPEM = nil })}),
	failing(chain.StepEndpoint, chain.ReasonHTTPTimeout, Fault{Name: "http-timeout", Target: deployTarget, Meaning: "the apiserver accepts connections and does not answer", apply: cluster("prod", func(c *Cluster) { c.Fault.Hang = true })}),
	failing(chain.StepEndpoint, chain.ReasonAPIServerError, Fault{Name: "apiserver-error", Target: deployTarget, Meaning: "the apiserver answers 500", apply: cluster("prod", func(c *Cluster) {
		c.Fault.HTTPStatus, c.Fault.StatusMessage = http.StatusInternalServerError, "etcdserver: request timed out"
	})}),
	failing(chain.StepEndpoint, chain.ReasonAPIServerStorageInitializing, Fault{Name: "storage-initializing", Target: deployTarget, Meaning: "the apiserver is just starting", apply: cluster("prod", func(c *Cluster) {
		c.Fault.HTTPStatus, c.Fault.StatusMessage = http.StatusTooManyRequests, "storage is (re)initializing"
	})}),
	failing(chain.StepEndpoint, chain.ReasonAPIServerFlowControl, Fault{Name: "flow-control", Target: deployTarget, Meaning: "priority and fairness rejects the request", apply: cluster("prod", func(c *Cluster) {
		c.Fault.HTTPStatus, c.Fault.StatusMessage = http.StatusTooManyRequests, "Too many requests, please try again later."
	})}),
}

// host is the name of prod's apiserver.
func (s *Scene) host() string {
	u, err := url.Parse(s.Prod.Endpoint())
	mustEncode(err)
	return u.Hostname()
}

// movePort makes EKS tell prod's name with the port of another address.
func (s *Scene) movePort(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	s.State.Change(func(st *State) { st.Clusters["prod"].Fault.Endpoint = "https://" + net.JoinHostPort(s.host(), port) })
	return nil
}
