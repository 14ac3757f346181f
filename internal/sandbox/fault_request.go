// Faults of the step request: what users get through the load balancer.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

var requestFaults = []Fault{
	failing(chain.StepRequest, chain.ReasonDNSFailure, Fault{
		Name: "shop-name-unknown", Target: shopTarget, Meaning: "the record of the shop's host was deleted", Marks: "✔✔✖",
		apply: func(s *Scene) error {
			s.DNS.Answer(SceneShopHost, DNSNXDomain)
			return nil
		},
	}),
	failing(chain.StepRequest, chain.ReasonTCPFailure, Fault{
		Name: "listener-deleted", Target: shopTarget, Meaning: "the listener is gone: connections are refused", Marks: "✔✔✖",
		apply: func(s *Scene) error { return s.ALB.Refuse() },
	}),
	failing(chain.StepRequest, chain.ReasonTLSFailure, Fault{
		Name: "shop-certificate-expired", Target: shopTarget, Meaning: "the listener's certificate has expired", Marks: "✔✔✖",
		apply: func(s *Scene) error { return s.ALB.ServeCertificate(CertificateExpired) },
	}),
	failing(chain.StepRequest, chain.ReasonTimeout, Fault{
		Name: "shop-silent", Target: shopTarget, Meaning: "the load balancer takes the request and never answers", Marks: "✔✔✖",
		apply: func(s *Scene) error {
			s.ALB.Behave(ALBSilent)
			return nil
		},
	}),
	failing(chain.StepRequest, chain.ReasonStatusMismatch, Fault{
		Name: "shop-answers-500", Target: shopTarget, Meaning: "the application passes its health checks and answers users with 500", Marks: "✔✔✖",
		apply: group(SceneShopGroup, func(v GroupView) { v.Reply(Reply{Status: http.StatusInternalServerError, Body: "no database"}) }),
	}),
	failing(chain.StepRequest, chain.ReasonBodyMismatch, Fault{
		Name: "shop-answers-another-page", Target: shopTarget, Meaning: "a rule sends the host to another application, whose page is a good one of its own", Marks: "✔✔✖",
		apply: group(SceneShopGroup, func(v GroupView) { v.Reply(Reply{Body: "Welcome to nginx!"}) }),
	}),
}
