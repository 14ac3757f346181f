// accessRun is what the steps of one run hand on to each other, and accessSteps is their one ordered table.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// accessSteps is the access chain, in order. Each step lives in the file of its name.
var accessSteps = []step[*accessRun]{
	{
		name: chain.StepCredentials,
		run:  (*accessRun).credentials,
	},
	{
		name:   chain.StepSTS,
		needs:  func(r *accessRun) bool { return r.login != nil },
		run:    (*accessRun).sts,
		verify: (*accessRun).verifyPrincipal,
	},
	{
		name:  chain.StepToken,
		needs: func(r *accessRun) bool { return r.session != nil },
		run:   (*accessRun).makeToken,
	},
	{
		name:    chain.StepEndpoint,
		needs:   func(r *accessRun) bool { return r.endpoint.URL != "" },
		run:     (*accessRun).dial,
		explain: (*accessRun).explainDial,
	},
	{
		name:    chain.StepAccessEntry,
		needs:   func(r *accessRun) bool { return r.conn != nil },
		run:     (*accessRun).review,
		explain: (*accessRun).explainRefusal,
	},
	{
		name:    chain.StepRBAC,
		needs:   func(r *accessRun) bool { return r.authenticated },
		run:     (*accessRun).rbac,
		explain: (*accessRun).explainDenial,
	},
}

// accessRun is the state of one run of the access chain.
type accessRun struct {
	prober *Prober
	target chain.Target
	id     string

	login         Login
	session       Session
	principal     chain.Principal
	token         chain.Token
	cluster       chain.ClusterInfo // what DescribeCluster said; zero when the configuration overrides all of it
	endpoint      Endpoint
	dialled       chain.Facts // what dialling it showed
	conn          Conn
	reviewed      chain.Review
	reviewTook    time.Duration // until the review was answered, or refused
	authenticated bool
}

// walkAccess runs the access chain once.
func (p *Prober) walkAccess(ctx context.Context, target chain.Target, id string) []chain.StepResult {
	state := &accessRun{prober: p, target: target, id: id}
	defer state.close()
	return walk(ctx, accessSteps, state)
}

func (r *accessRun) close() {
	if r.conn != nil {
		r.conn.Close()
	}
}
