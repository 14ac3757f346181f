// Shared work: one asks, the others wait, and what was answered serves for as long as it is kept.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// begun starts runs that read one key, and returns a function that waits for what they got.
func begun(ctx context.Context, k *keptReads[int], n int, read func(context.Context) (int, error)) func() (values []int, errs []error) {
	var group sync.WaitGroup
	values, errs := make([]int, n), make([]error, n)
	for i := range n {
		group.Go(func() { values[i], errs[i] = k.get(ctx, "key", read) })
	}
	return func() ([]int, []error) {
		group.Wait()
		return values, errs
	}
}

// One run reads, and its answer or its error is everybody's. Only the answer is kept.
func TestKeptReadsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trouble, reads := errors.New("trouble"), 0
		k := newKeptReads[int](time.Now, time.Minute)
		for _, c := range []struct {
			err  error
			want int
		}{{trouble, 1}, {nil, 2}, {nil, 2}} {
			_, errs := begun(t.Context(), k, 8, func(context.Context) (int, error) {
				time.Sleep(time.Second)
				reads++
				return reads, c.err
			})()
			for _, err := range errs {
				if !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
			}
			wantSame(t, reads, c.want)
		}
	})
}

// The time that is kept runs from the beginning of the read, and what is too old does not stay in memory.
func TestKeptReadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		k := newKeptReads[int](time.Now, time.Minute)
		get := func(key string) int {
			value, err := k.get(t.Context(), key, func(context.Context) (int, error) {
				time.Sleep(10 * time.Second)
				reads++
				return reads, nil
			})
			must(t, err)
			return value
		}
		wantSame(t, get("a"), 1)
		time.Sleep(50*time.Second - time.Nanosecond)
		wantSame(t, get("a"), 1)
		time.Sleep(time.Nanosecond)
		wantSame(t, get("a"), 2)
		k.drop("a")
		wantSame(t, get("a"), 3)
		time.Sleep(time.Minute)
		wantSame(t, get("b"), 4)
		wantSame(t, len(k.kept), 1)
	})
}

// The end of the one that reads says nothing to the others, whether it was cancelled, ran out of time or had no turn; a wait ends with its own run.
func TestKeptReadsCutShort(t *testing.T) {
	for name, end := range map[string]func(context.Context) error{
		"cancelled": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"no turn": func(context.Context) error {
			time.Sleep(time.Second)
			return errNoTurn
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeptReads[int](time.Now, time.Minute)
				short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				first := begun(short, k, 1, func(ctx context.Context) (int, error) { return 0, end(ctx) })
				synctest.Wait()
				shorter, stop := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("the run's timeout"))
				defer stop()
				late := begun(shorter, k, 1, func(context.Context) (int, error) { return 2, nil })
				others := begun(t.Context(), k, 4, func(context.Context) (int, error) { return 3, nil })

				_, errs := late()
				wantSame(t, errs[0].Error(), "waiting for the same read of another run: the run's timeout")
				if _, errs := first(); errs[0] == nil {
					t.Error("the first had no error")
				}
				values, errs := others()
				wantSame(t, values, []int{3, 3, 3, 3})
				must(t, errors.Join(errs...))
			})
		})
	}
}
