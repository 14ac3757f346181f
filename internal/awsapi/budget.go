// The read budgets: a token bucket per service, account and region, so that the exporter never takes the API rate away from those who run the cluster.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// budgets holds the buckets of one service's API, by account and region.
//
// EKS publishes no rate; a hundred DescribeCluster at once are known to be throttled. ELB has a bucket of 40 reads that refills by 10 a second, which all who read in the account and region
// share, the load balancer controller too (Application Load Balancers user guide, "ELB API throttling").
type budgets struct {
	perSecond float64
	observe   func(time.Duration)

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newBudgets(perSecond float64, observe func(time.Duration)) *budgets {
	return &budgets{perSecond: perSecond, observe: observe, buckets: map[string]*rate.Limiter{}}
}

// errNoTurn is returned by wait when the deadline comes before the turn.
var errNoTurn = errors.New("the read's turn would come after the run's end")

// wait takes one read out of the bucket of an account in a region. Its error is the context's own, or errNoTurn: then nothing was waited for.
func (b *budgets) wait(ctx context.Context, account, region string) error {
	b.mu.Lock()
	key := account + " " + region
	bucket, ok := b.buckets[key]
	if !ok {
		// The burst is what one diagnosis asks at once: a cluster, an entry, the list of entries (two pages, say) and, where a path is unknown, the entry under it.
		bucket = rate.NewLimiter(rate.Limit(b.perSecond), max(5, int(math.Ceil(b.perSecond))))
		b.buckets[key] = bucket
	}
	b.mu.Unlock()
	began := time.Now()
	err := bucket.Wait(ctx)
	b.observe(time.Since(began))
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errNoTurn, err)
	}
	return err
}

// notSent is the detail of a read that had no turn. The option is the one that sets its budget.
func notSent(read, option string) string {
	return fmt.Sprintf("%s was not sent: the exporter's own budget, aws_api_budget.%s, has no read left within the run's time; AWS did not throttle", read, option)
}
