// The reader reads a cluster's TargetGroupBindings and what is behind them, over connections that are kept: unlike a Dialer's, they are not what is probed.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// forgetAfter is how long the clients of a cluster that nobody reads any more are kept.
const forgetAfter = time.Hour

// Reader reads clusters as their observers. It keeps the connections to each API server, and its token, from one read to the next. Safe for concurrent use.
//
// Errors of its methods are *chain.Error and unknown: observer_denied, whose FactAction names what was asked, such as "list endpointslices.discovery.k8s.io in shop"; observer_unavailable for
// an API server that is not reached, sheds load or answers as none does. Only a context that ended may come back as its own error. Every request is one attempt, but for one more after a 401.
type Reader struct {
	dialer *Dialer

	mu       sync.Mutex
	clusters map[clusterKey]*cluster
	closed   bool
}

// ClusterReads says where a cluster is read, and with what: a token is asked for when the last one has less than a minute left, or was refused.
type ClusterReads struct {
	Endpoint Endpoint
	Token    func(context.Context) (chain.Token, error)
}

// clusterKey tells clusters apart. The name stands for the observer, whose token must reach no other cluster of the same address.
type clusterKey struct {
	name, url string
	ca        [sha256.Size]byte
}

// NewReader returns a Reader; the error names the option that is wrong.
func NewReader(options Options) (*Reader, error) {
	dialer, err := NewDialer(options)
	if err != nil {
		return nil, err
	}
	return &Reader{dialer: dialer, clusters: map[clusterKey]*cluster{}}, nil
}

// Close ends every connection. No read may be under way; later ones are observer_unavailable. It may be called again.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, c := range r.clusters {
		c.conn.Close()
	}
	clear(r.clusters)
}

// session finds or makes the clients of a cluster; nothing is dialled yet.
func (r *Reader) session(reads ClusterReads) (session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return session{}, unavailable("reading the cluster", "the reader is closed", nil)
	}
	at := reads.Endpoint
	key := clusterKey{at.ClusterName, at.URL, sha256.Sum256(at.CA)}
	c, known := r.clusters[key]
	if !known {
		r.forget()
		var err error
		if c, err = newCluster(r.dialer, at); err != nil {
			return session{}, err
		}
		r.clusters[key] = c
	}
	c.used = r.dialer.options.Now()
	return session{c, reads.Token}, nil
}

// forget closes what has not been used for long, such as the clients of an authority that was rotated.
func (r *Reader) forget() {
	now := r.dialer.options.Now()
	for key, c := range r.clusters {
		if now.Sub(c.used) > forgetAfter {
			c.conn.Close()
			delete(r.clusters, key)
		}
	}
}
