// albRun is what the steps of one run of the alb chain hand on to each other, and albSteps is their one ordered table.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// albSteps is the alb chain, in order. Each step lives in the file of its name.
var albSteps = []step[*albRun]{
	{
		name:  chain.StepRegistration,
		run:   (*albRun).registration,
		keeps: (*albRun).requestTime,
	},
	{
		name:  chain.StepHealth,
		needs: func(r *albRun) bool { return r.reading != nil },
		run:   (*albRun).health,
		keeps: (*albRun).requestTime,
	},
	{
		name:   chain.StepRequest,
		always: true, // users' requests run whatever the first two say
		whole:  true,
		run:    (*albRun).request,
	},
}

// albRun is the state of one run of the alb chain.
type albRun struct {
	prober *Prober
	target chain.Target

	cluster ClusterReads // where the binding's cluster is read; zero when there is none, or it cannot be read
	view    groupView    // what registration and health judge
	reading *chain.GroupReading
}

// requestTime is what a request may take: a slow ELB API must not make a load balancer that hangs look like one that nobody asked.
func (r *albRun) requestTime() time.Duration {
	if r.target.Group.Request == nil {
		return 0
	}
	return r.target.Group.Request.Timeout
}

// walkALB runs the alb chain once. The reading is nil when the target group could not be read, or when its targets cannot be told from those of other clusters.
func (p *Prober) walkALB(ctx context.Context, target chain.Target) ([]chain.StepResult, *chain.GroupReading) {
	state := &albRun{prober: p, target: target, view: groupView{target: target, started: p.Now()}}
	return walk(ctx, albSteps, state), state.reading
}
