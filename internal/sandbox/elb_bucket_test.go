// The throttling of the ELBv2 API, in virtual time.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// TestELBThrottle asks as fast as it can: 40 calls of whatever kind are answered, and one more for each tenth of a second; those of others have buckets of their own.
func TestELBThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := NewState()
		state.Users[testUser.AccessKeyID] = &User{Name: "ci", AccountID: testAccount, AccessKeyID: testUser.AccessKeyID, SecretKey: testUser.SecretAccessKey, UserID: "AIDAUSER", ReadsELB: true}
		other := aws.Credentials{AccessKeyID: "AKIAOTHEROTHEROTHER0", SecretAccessKey: "another user's secret key"}
		state.Users[other.AccessKeyID] = &User{Name: "far", AccountID: foreignAccount, AccessKeyID: other.AccessKeyID, SecretKey: other.SecretAccessKey, UserID: "AIDAFAR", ReadsELB: true}
		state.ELB = testBalancing(time.Now())
		client := func(c aws.Credentials, region string) *elb.Client {
			return elb.New(elb.Options{Region: region, HTTPClient: &http.Client{Transport: InProcess(ELBHandler(state))}, Retryer: aws.NopRetryer{}, Credentials: provider(c)})
		}
		health := func(client *elb.Client) error {
			_, err := client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)})
			return err
		}
		list := func(client *elb.Client) error {
			_, err := client.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{})
			return err
		}
		own, throttled := client(testUser, testRegion), awsAnswer{http.StatusBadRequest, "Throttling", "Rate exceeded"}
		spend := func(n int) {
			for i := range n {
				must(t, []func(*elb.Client) error{health, list}[i%2](own))
			}
			wantAnswer(t, health(own), throttled)
			wantAnswer(t, list(own), throttled)
		}
		spend(40)
		_, err := own.RegisterTargets(t.Context(), &elb.RegisterTargetsInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{target("10.0.1.19", 0)}})
		wantSame(t, answerOf(err).Code, "AccessDenied") // the actions that change something take from elsewhere
		must(t, list(client(testUser, "us-east-1")))
		must(t, list(client(other, testRegion)))
		time.Sleep(99 * time.Millisecond)
		wantAnswer(t, health(own), throttled)
		time.Sleep(time.Millisecond)
		spend(1)
		time.Sleep(2 * time.Second)
		spend(20)
		time.Sleep(time.Hour)
		spend(40)
		state.ShiftClock(-4 * time.Minute) // the sandbox's clock is set back, and the bucket fills as before
		wantAnswer(t, health(own), throttled)
		time.Sleep(4 * time.Second)
		spend(40)
	})
}

func TestELBBucket(t *testing.T) {
	for name, c := range map[string]struct {
		asks  time.Duration // one call each
		calls int
		taken int
	}{
		"all at once":                      {0, 1000, 40},
		"at the rate of the refill":        {100 * time.Millisecond, 1000, 1000},
		"twice as fast":                    {50 * time.Millisecond, 1000, 539}, // 40 at the start, and one for each of 499 tenths of a second
		"half as fast":                     {200 * time.Millisecond, 1000, 1000},
		"a fifth of it, as a polite share": {500 * time.Millisecond, 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			bucket, now, taken := &elbBucket{}, time.Unix(0, 0), 0
			for range c.calls {
				if bucket.take(now) {
					taken++
				}
				now = now.Add(c.asks)
			}
			wantSame(t, taken, c.taken)
		})
	}
}
