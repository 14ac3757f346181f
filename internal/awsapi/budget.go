// The read budget: a token bucket per account and region, so that the exporter never takes the API rate away from those who run the cluster.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// budgets holds the buckets of the EKS API. AWS publishes no rate for it; a hundred DescribeCluster at once are known to be throttled.
type budgets struct {
	perSecond float64
	observe   func(time.Duration)

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newBudgets(options Options) *budgets {
	return &budgets{perSecond: options.EKSReadsPerSecond, observe: options.ObserveWait, buckets: map[string]*rate.Limiter{}}
}

// wait takes one read out of the bucket of an account in a region. Its error is the context's own, or says that the deadline comes before the turn: then nothing was waited for.
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
	return err
}
