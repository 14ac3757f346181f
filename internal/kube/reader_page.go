// Lists are read in pages, and bounded: in bytes of a page and of all pages, and in how much Go makes of them.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	pageItems   = 250 // a page of pods with several sidecars and their managed fields is about 10 MiB
	maxPages    = 80
	maxPage     = 16 << 20  // bytes
	maxList     = 128 << 20 // bytes of all pages; 5,000 nodes are about 75 MiB
	maxBrackets = 1 << 19   // objects and arrays in one answer, since two bytes may decode into a kilobyte; a pod with its managed fields has some hundreds
)

// list reads every page. The page function asks for one, keeps its items, and returns the token of the next.
func (s session) list(ctx context.Context, q question, selectors metav1.ListOptions, page func(context.Context, metav1.ListOptions) (string, error)) error {
	selectors.Limit = pageItems
	size := 0
	for range maxPages {
		var next string
		got, _, err := s.read(ctx, q, func(ctx context.Context) (err error) {
			next, err = page(ctx, selectors)
			return err
		})
		if err != nil || next == "" {
			return err
		}
		if size += len(got.body); size > s.listLimit {
			return unavailable(q.String(), fmt.Sprintf("the list is larger than %d MiB, and was read no further", s.listLimit>>20), nil)
		}
		selectors.Continue = next
	}
	return unavailable(q.String(), fmt.Sprintf("the list has more than %d pages of %d, and was read no further", maxPages, pageItems), nil)
}

// checkAnswer refuses a good answer that is not of the kind that was asked for, or that would grow beyond bounds when it is decoded.
func checkAnswer(body []byte, kind string) error {
	if n := bytes.Count(body, []byte("{")) + bytes.Count(body, []byte("[")); n > maxBrackets {
		return fmt.Errorf("the answer has %d objects and arrays, above %d", n, maxBrackets)
	}
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return fmt.Errorf("the answer is no %s: %w", kind, err)
	}
	if head.Kind != kind { // client-go would take it for an empty one
		return fmt.Errorf("the answer is a %q, not a %s", chain.Redact(head.Kind), kind)
	}
	return nil
}
