// The benchmark's world runs in a process of its own, so that what is measured is the prober and not the servers; a relay before it adds round trips.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/config"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// worldEnv tells a child process to be the world: its value is the folder for the files.
const worldEnv = "EKS_SLO_BENCH_WORLD"

// remoteWorld is what the child tells: where it is, and the exporter's environment and configuration in it.
type remoteWorld struct {
	Env    map[string]string
	Config string
	Prod   string // the apiserver's address
}

// serveWorld is the child: a scene, until its standard input ends.
func serveWorld(dir string) error {
	scene, err := sandbox.NewScene(dir)
	if err != nil {
		return err
	}
	// Names of the sandbox's apiservers resolve only there; on loopback they are reached by address.
	scene.State.Change(func(s *sandbox.State) {
		for _, c := range s.Clusters {
			c.Fault.Endpoint = "https://127.0.0.1:" + portOf(c.Endpoint)
		}
	})
	config, err := os.ReadFile(must(scene.WriteConfig()))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(remoteWorld{scene.Env, string(config), scene.Prod.Addr()}); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return scene.Close()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func portOf(rawURL string) string { return must(url.Parse(rawURL)).Port() }

// startWorld runs the child and sets its environment here.
func startWorld(b *testing.B) (remoteWorld, string) {
	b.Helper()
	dir := b.TempDir()
	child := exec.Command(must(os.Executable()), "-test.run=^$")
	child.Env = append(os.Environ(), worldEnv+"="+dir)
	child.Stderr = os.Stderr
	stdin, stdout := must(child.StdinPipe()), must(child.StdoutPipe())
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = child.Wait()
	})
	var world remoteWorld
	if err := json.NewDecoder(bufio.NewReader(stdout)).Decode(&world); err != nil {
		b.Fatal(fmt.Errorf("reading what the world says of itself: %w", err))
	}
	for key, value := range world.Env {
		b.Setenv(key, value)
	}
	return world, dir
}

// benchTarget is runner's key with one hop and three rules, as ci-deploy@prod has them.
func benchTarget(b *testing.B, world remoteWorld, dir string) chain.Target {
	b.Helper()
	cfg, err := config.Parse(dir+"/eks-slo.yaml", []byte(world.Config))
	if err != nil {
		b.Fatal(err)
	}
	for _, target := range cfg.Access {
		if target.Name == "ci-deploy@prod" {
			return target
		}
	}
	b.Fatal("the world has no ci-deploy@prod")
	return chain.Target{}
}

// relay forwards connections and makes each wait as a wire with the round trip would: once for the connection itself, then half of it in each direction.
type relay struct {
	listener net.Listener
	to       string
	rtt      time.Duration
	wait     sync.WaitGroup
}

func newRelay(b *testing.B, to string, rtt time.Duration) *relay {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	r := &relay{listener: listener, to: to, rtt: rtt}
	r.wait.Go(r.accept)
	b.Cleanup(func() {
		_ = listener.Close()
		r.wait.Wait()
	})
	return r
}

func (r *relay) addr() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.wait.Go(func() {
			defer func() { _ = near.Close() }()
			far, err := net.Dial("tcp", r.to)
			if err != nil {
				return
			}
			defer func() { _ = far.Close() }()
			opened := time.Now().Add(r.rtt)
			var both sync.WaitGroup
			both.Go(func() { r.forward(far, near, opened) })
			both.Go(func() { r.forward(near, far, opened) })
			both.Wait()
		})
	}
}

// chunk is what was read at a time, to be written half a round trip later.
type chunk struct {
	data []byte
	due  time.Time
}

// forward delays without holding back: what follows is read while what came first still waits.
func (r *relay) forward(to, from net.Conn, opened time.Time) {
	queue := make(chan chunk, 1024)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(queue)
		for {
			data := make([]byte, 16<<10)
			n, err := from.Read(data)
			if n > 0 {
				due := time.Now().Add(r.rtt / 2)
				if earliest := opened.Add(r.rtt / 2); due.Before(earliest) {
					due = earliest
				}
				queue <- chunk{data[:n], due}
			}
			if err != nil {
				return
			}
		}
	})
	for c := range queue {
		timer := time.NewTimer(time.Until(c.due))
		<-timer.C
		if _, err := to.Write(c.data); err != nil {
			break
		}
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	_ = from.Close()
	for range queue { // drained, so that the reader ends
	}
	reader.Wait()
}

// throughRelays puts a relay before STS and before prod's apiserver.
func throughRelays(b *testing.B, world remoteWorld, target *chain.Target, rtt time.Duration) {
	b.Helper()
	sts := newRelay(b, strings.TrimPrefix(world.Env["AWS_ENDPOINT_URL_STS"], "https://"), rtt)
	b.Setenv("AWS_ENDPOINT_URL_STS", "https://"+sts.addr())
	target.Cluster.Endpoint = "https://" + newRelay(b, world.Prod, rtt).addr()
}
