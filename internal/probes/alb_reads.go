// What a run reads of a target group, in order: the binding, then ELB, then what the cluster has behind the binding. A side that hangs leaves the others their time.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// readBinding looks for the binding first, since its role decides as whom ELB is read.
func (r *albRun) readBinding(ctx context.Context) {
	ref := r.target.Group.Binding
	if ref.IsZero() {
		return
	}
	ctx, cancel := quarters(ctx, 1, "reading the binding")
	defer cancel()
	cluster, err := r.prober.clusterReads(ctx, r.target)
	if err != nil {
		r.view.notRead(err)
		return
	}
	binding, found, err := r.prober.Bindings.Binding(ctx, cluster, ref)
	if err != nil {
		r.view.notRead(unread("the TargetGroupBinding "+ref.String(), err))
		return
	}
	r.cluster = cluster
	r.view.binding, r.view.bindingRead, r.view.bindingFound = binding, true, found
}

// readGroup reads ELB: the targets anew, the group as it is known. Its error ends the step.
func (r *albRun) readGroup(ctx context.Context) error {
	ctx, cancel := quarters(ctx, 3, "reading ELB")
	defer cancel()
	reader := r.target
	reader.Group.Observer = throughRole(reader.Group.Observer, r.view.binding)
	arn := reader.Group.ARN
	if arn == "" {
		group, err := r.prober.ELB.Group(ctx, reader)
		if err != nil {
			return r.elbError(err)
		}
		arn = group.ARN
	}
	targets, err := r.prober.ELB.Health(ctx, reader, arn)
	if err != nil {
		return r.elbError(err)
	}
	r.view.now = r.prober.Now()
	if r.view.group, err = r.prober.ELB.Group(ctx, reader); err != nil {
		return r.elbError(err)
	}
	sights := r.prober.memory.note(r.target.Name, arn, r.view.now, targets)
	for i, t := range targets {
		r.view.members = append(r.view.members, newMember(t, sights[i]))
	}
	r.rememberFlag()
	return nil
}

// rememberFlag knows whether the group is one of several clusters also when its binding could not be read this time.
func (r *albRun) rememberFlag() {
	switch {
	case r.view.bindingFound:
		r.prober.memory.noteMultiCluster(r.target.Name, r.view.binding.MultiCluster)
		r.view.multiCluster = r.view.binding.MultiCluster
	case !r.view.bindingRead:
		r.view.multiCluster = r.prober.memory.wasMultiCluster(r.target.Name)
	}
}

// elbError tells the last good reading beside a read that was not made.
func (r *albRun) elbError(err error) error {
	e, classified := errors.AsType[*chain.Error](err)
	if classified && e.Outcome == chain.OutcomeFailure {
		return err
	}
	err = unread("the target group at ELB", err)
	last := r.prober.memory.last(r.target.Name, r.prober.Now())
	if last == "" || !errors.As(err, &e) {
		return err
	}
	return chain.Unsure(e.Reason, e.Detail+"; last read "+last, e.Facts.Merge(chain.Facts{chain.FactLastRead: last}), err)
}

// readCluster reads what is behind the binding, and more only where it decides: pods when an endpoint is not ready or not registered, the binding's events when something should be registered and
// is not, or is and does not answer.
func (r *albRun) readCluster(ctx context.Context) {
	v := &r.view
	if !v.bindingFound || v.unread != nil {
		return
	}
	bindings, err := r.prober.listBindings(ctx, r.target, r.cluster)
	if err != nil {
		v.notRead(err)
		return
	}
	v.bindings = bindings
	behind := v.binding
	behind.TargetType = v.group.TargetType // the controller may not have filled it in
	if v.backends, err = r.prober.Bindings.Backends(ctx, r.cluster, behind); err != nil {
		v.notRead(unread(fmt.Sprintf("what is behind the binding %s", v.binding), err))
		return
	}
	v.attribute()
	v.noteAbsences(r.prober.memory.noteCluster(r.target.Name, v.now, v.local(), v.absentIDs()))
	r.readPods(ctx)
	r.readTrouble(ctx)
}

func (r *albRun) readPods(ctx context.Context) {
	v := &r.view
	decides := v.waitingEndpoints() > 0 || len(v.absent) > 0
	if v.group.TargetType != chain.TargetTypeIP || len(v.backends.Service.Selector) == 0 || !decides && !v.startsUnseen() {
		return
	}
	pods, err := r.prober.Bindings.Pods(ctx, r.cluster, v.binding.Namespace, v.backends.Service.Selector)
	if err == nil {
		v.notePods(pods)
	} else if decides {
		v.notRead(unread("the pods of service "+v.binding.Service, err))
	}
}

func (r *albRun) readTrouble(ctx context.Context) {
	v := &r.view
	decides := len(v.longAbsent()) > 0 || v.registered() == 0 && nothingToRegister(v) == nil
	if v.unread != nil || !decides && !v.unanswered() {
		return
	}
	trouble, err := r.prober.Bindings.Trouble(ctx, r.cluster, v.binding.BindingRef)
	if err == nil {
		v.trouble = trouble
	} else if decides {
		v.notRead(unread(fmt.Sprintf("the events of the binding %s", v.binding), err))
	}
}
