// The iterator over a series of the store, as the PromQL engine asks for it.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// Labels implements storage.Series.
func (c *column) Labels() labels.Labels { return c.labels }

// Iterator implements storage.Series.
func (c *column) Iterator(again chunkenc.Iterator) chunkenc.Iterator {
	it, ok := again.(*iterator)
	if !ok {
		it = &iterator{}
	}
	it.points, it.at = c.points, -1
	return it
}

// milliseconds since 1970, as Prometheus counts time.
type milliseconds = int64

type iterator struct {
	points []promql.FPoint
	at     int
}

func (i *iterator) Next() chunkenc.ValueType {
	if i.at+1 >= len(i.points) {
		i.at = len(i.points)
		return chunkenc.ValNone
	}
	i.at++
	return chunkenc.ValFloat
}

func (i *iterator) Seek(t milliseconds) chunkenc.ValueType {
	i.at = max(i.at, 0)
	if i.at < len(i.points) && i.points[i.at].T < t {
		i.at += search(i.points[i.at:], t)
	}
	if i.at >= len(i.points) {
		return chunkenc.ValNone
	}
	return chunkenc.ValFloat
}

func (i *iterator) At() (int64, float64) { return i.points[i.at].T, i.points[i.at].F }
func (i *iterator) AtT() int64           { return i.points[i.at].T }
func (i *iterator) AtST() int64          { return 0 }
func (i *iterator) Err() error           { return nil }

// AtHistogram implements chunkenc.Iterator. No sample is a histogram.
func (i *iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) { return 0, nil }

// AtFloatHistogram implements chunkenc.Iterator. No sample is a histogram.
func (i *iterator) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	return 0, nil
}
