// The worlds of the reader's tests: the sandbox's scene, whose observer signs real tokens, and servers that say what they are told to.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
	iamtoken "sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantSame[T any](t testing.TB, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b chain.Secret) bool { return a.Reveal() == b.Reveal() })); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func newTestReader(t testing.TB, options Options) *Reader {
	t.Helper()
	reader, err := NewReader(options)
	must(t, err)
	t.Cleanup(reader.Close)
	return reader
}

// sceneReader reads the cluster prod of the sandbox's scene as the exporter.
type sceneReader struct {
	*Reader

	scene *sandbox.Scene
	reads ClusterReads
}

func newSceneReader(t testing.TB) *sceneReader {
	t.Helper()
	scene, err := sandbox.NewScene(t.TempDir())
	must(t, err)
	t.Cleanup(func() { must(t, scene.Close()) })
	const keyID = "ASIAREADER0000000001"
	s := &sceneReader{scene: scene}
	s.change(func(state *sandbox.State, prod *sandbox.Cluster) {
		state.Sessions[keyID] = &sandbox.Session{
			AccessKeyID: keyID, SecretKey: "secret", SessionToken: "session", ARN: "arn:aws:sts::111122223333:assumed-role/eks-slo-exporter/reader",
			UserID: "AROASCENEEXPORTER:reader", AccountID: sandbox.SceneAccount, Expires: time.Now().Add(time.Hour),
		}
		s.reads.Endpoint = Endpoint{ClusterName: "prod", URL: prod.Endpoint, CA: prod.CAPEM}
	})
	options := directOptions()
	options.Resolver = scene.DNS.Resolver()
	s.Reader = newTestReader(t, options)
	generator, err := iamtoken.NewGenerator(false, false)
	must(t, err)
	s.reads.Token = func(context.Context) (chain.Token, error) {
		client := sts.New(sts.Options{Region: sandbox.SceneRegion, Credentials: credentials.StaticCredentialsProvider{
			Value: aws.Credentials{AccessKeyID: keyID, SecretAccessKey: "secret", SessionToken: "session"},
		}})
		minted, err := generator.GetWithSTS("prod", client)
		return chain.Token{Value: chain.NewSecret(minted.Token), Expires: time.Now().Add(chain.TokenLifetime)}, err
	}
	return s
}

// change changes prod under the lock.
func (s *sceneReader) change(f func(*sandbox.State, *sandbox.Cluster)) {
	s.scene.State.Change(func(state *sandbox.State) { f(state, state.Clusters["prod"]) })
}

func (s *sceneReader) objects(f func(*sandbox.Objects)) {
	s.change(func(_ *sandbox.State, prod *sandbox.Cluster) { f(&prod.Objects) })
}

// scriptedReader reads a server that answers as a handler says, with tokens that are numbered.
type scriptedReader struct {
	*Reader

	server *server
	reads  ClusterReads
	minted atomic.Int32
	mu     sync.Mutex
	asked  []string // METHOD path?query of every request
}

func newScriptedReader(t testing.TB, handler http.Handler, change ...func(*httptest.Server)) *scriptedReader {
	t.Helper()
	s := &scriptedReader{Reader: newTestReader(t, directOptions())}
	s.server = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}), change...)
	s.reads = ClusterReads{Endpoint: s.server.endpoint(), Token: s.mint(time.Hour)}
	return s
}

// mint makes tokens named token-1, token-2, … that live as long as told.
func (s *scriptedReader) mint(life time.Duration) func(context.Context) (chain.Token, error) {
	return func(context.Context) (chain.Token, error) {
		n := s.minted.Add(1)
		return chain.Token{Value: chain.NewSecret("token-" + strconv.Itoa(int(n))), Expires: time.Now().Add(life)}, nil
	}
}

func (s *scriptedReader) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

var (
	shopRef = chain.BindingRef{Namespace: "shop", Name: "shop"}
	webRef  = chain.BindingRef{Namespace: "shop", Name: "web"}
	app     = map[string]string{"app": "shop"}
)
