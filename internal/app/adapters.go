// The adapters fit awsapi and kube to the small interfaces that probes declares; they hold no logic.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	"github.com/eks-slo/eks-slo-exporter/internal/awsapi"
	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/kube"
	"github.com/eks-slo/eks-slo-exporter/internal/probes"
)

// cloud is awsapi.Client as probes.Cloud.
type cloud struct{ *awsapi.Client }

func (c cloud) Login(ctx context.Context, request probes.LoginRequest) (probes.Login, error) {
	l, err := c.Client.Login(ctx, request.Identity, request.Region, request.RunID)
	if err != nil {
		return nil, err
	}
	return login{l}, nil
}

// login is awsapi.Login as probes.Login.
type login struct{ *awsapi.Login }

func (l login) Assume(ctx context.Context) (probes.Session, error) {
	session, err := l.Login.Assume(ctx)
	if err != nil {
		return nil, err
	}
	return session, nil
}

// observer is awsapi.Client as probes.Observer.
type observer struct{ *awsapi.Client }

func (o observer) Token(ctx context.Context, target chain.Target) (chain.Token, error) {
	return o.ObserverToken(ctx, target)
}

// apiserver is kube.Dialer as probes.APIServer.
type apiserver struct{ *kube.Dialer }

func (a apiserver) Dial(ctx context.Context, endpoint probes.Endpoint) (probes.Conn, chain.Facts, error) {
	c, facts, err := a.Dialer.Dial(ctx, kube.Endpoint(endpoint))
	if err != nil {
		return nil, facts, err
	}
	return conn{c}, facts, nil
}

// conn is kube.Conn as probes.Conn: its 401 becomes the one that the steps know.
type conn struct{ *kube.Conn }

func (c conn) Review(ctx context.Context, token chain.Token) (chain.Review, error) {
	review, err := c.Conn.Review(ctx, token)
	return review, unauthorized(err)
}

func (c conn) Access(ctx context.Context, token chain.Token, rule chain.Rule) (chain.Decision, error) {
	decision, err := c.Conn.Access(ctx, token, rule)
	return decision, unauthorized(err)
}

func (c conn) DryRun(ctx context.Context, token chain.Token, write chain.DryRun) error {
	return unauthorized(c.Conn.DryRun(ctx, token, write))
}

func unauthorized(err error) error {
	if refused, ok := errors.AsType[*kube.UnauthorizedError](err); ok {
		return &probes.Unauthorized{Date: refused.Date}
	}
	return err
}

// bindings is kube.Reader as probes.Bindings.
type bindings struct{ reader *kube.Reader }

func reads(cluster probes.ClusterReads) kube.ClusterReads {
	return kube.ClusterReads{Endpoint: kube.Endpoint(cluster.Endpoint), Token: cluster.Token}
}

func (b bindings) Binding(ctx context.Context, cluster probes.ClusterReads, ref chain.BindingRef) (chain.Binding, bool, error) {
	return b.reader.Binding(ctx, reads(cluster), ref)
}

func (b bindings) List(ctx context.Context, cluster probes.ClusterReads) ([]chain.Binding, error) {
	return b.reader.List(ctx, reads(cluster))
}

func (b bindings) Trouble(ctx context.Context, cluster probes.ClusterReads, ref chain.BindingRef) (chain.BindingTrouble, error) {
	return b.reader.Trouble(ctx, reads(cluster), ref)
}

func (b bindings) Backends(ctx context.Context, cluster probes.ClusterReads, binding chain.Binding) (chain.Backends, error) {
	return b.reader.Backends(ctx, reads(cluster), binding)
}

func (b bindings) Pods(ctx context.Context, cluster probes.ClusterReads, namespace string, selector map[string]string) ([]chain.Pod, error) {
	return b.reader.Pods(ctx, reads(cluster), namespace, selector)
}
