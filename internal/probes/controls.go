// Controls remember which cluster accepted somebody lately: a 401 for one identity while another gets in clears the authenticator.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// controlAge is how recent an acceptance must be to count as a control.
const controlAge = time.Minute

type controls struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[chain.ClusterKey]map[string]admission // cluster → identity
}

// admission is how an identity last fared at a cluster.
type admission struct {
	accepted time.Time // the last time; zero: never
	refused  time.Time // the first refusal since then; zero: none
}

func newControls(now func() time.Time) *controls {
	return &controls{now: now, by: map[chain.ClusterKey]map[string]admission{}}
}

// accepted notes that the target's cluster let its identity in.
func (c *controls) accepted(target chain.Target) {
	c.note(target, func(_ admission, now time.Time) admission { return admission{accepted: now} })
}

// refused notes that the target's cluster refused its identity's token.
func (c *controls) refused(target chain.Target) {
	c.note(target, func(a admission, now time.Time) admission {
		if a.refused.IsZero() {
			a.refused = now
		}
		return a
	})
}

func (c *controls) note(target chain.Target, change func(admission, time.Time) admission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	identities := c.by[target.Cluster.Key()]
	if identities == nil {
		identities = map[string]admission{}
		c.by[target.Cluster.Key()] = identities
	}
	identities[target.Identity.Name] = change(identities[target.Identity.Name], c.now())
}

// other names an identity, not the target's own, that the cluster accepted within the last minute and since the target's own was first refused; "" when there is none.
// An acceptance from before the refusal shows nothing: whatever refuses now may have broken in between.
func (c *controls) other(target chain.Target) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	identities, now, found := c.by[target.Cluster.Key()], c.now(), ""
	since := identities[target.Identity.Name].refused
	for name, a := range identities {
		if name != target.Identity.Name && a.accepted.After(since) && now.Sub(a.accepted) <= controlAge && (found == "" || name < found) {
			found = name
		}
	}
	return found
}
