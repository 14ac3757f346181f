// The throttling of the ELBv2 API: one bucket of tokens for every account and region, from which all Describe calls take.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import "time"

// The bucket of the actions that change nothing holds 40 tokens and gets ten a second (Elastic Load Balancing User Guide, "Request throttling for the ELB API").
const (
	elbTokens = 40
	elbRefill = time.Second / 10
)

// elbPool is whose calls take from one bucket.
type elbPool struct{ account, region string }

// elbBucket is kept as the moment at which it is full again, which is exact.
type elbBucket struct{ full time.Time }

// take takes a token, when there is one.
func (b *elbBucket) take(now time.Time) bool {
	left := min(max(b.full.Sub(now), 0), elbTokens*elbRefill) // bounded, since clocks are set back
	taken := left+elbRefill <= elbTokens*elbRefill
	if taken {
		left += elbRefill
	}
	b.full = now.Add(left)
	return taken
}

// take takes a token from the caller's bucket, when there is one.
func (l *LoadBalancing) take(caller awsCaller, now time.Time) bool {
	pool := elbPool{caller.AccountID, caller.Region}
	if l.buckets == nil {
		l.buckets = map[elbPool]*elbBucket{}
	}
	if l.buckets[pool] == nil {
		l.buckets[pool] = &elbBucket{}
	}
	return l.buckets[pool].take(now)
}
