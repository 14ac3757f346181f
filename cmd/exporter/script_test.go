// Scripts of the command line: the program runs as a process of its own, against a scene in the test's process.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/eks-slo/eks-slo-exporter/internal/command/commandtest"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

func TestScripts(t *testing.T) {
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t)
	})
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), UpdateScripts: *update, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": commandtest.Exits, "scene": scene, "signal": signalAll, "await": await, "get": get, "report": report,
		},
	})
}

// scene [FAULT…] starts a world with these faults, and points the script's environment at it; its configuration is $CONFIG. The fault ad-hoc makes a world for ad hoc probes.
//
// The program's process cannot ask the scene's DNS, so EKS tells the clusters' endpoints by their addresses, which their certificates hold too, and the shop is asked at the load balancer's address.
func scene(ts *testscript.TestScript, _ bool, faults []string) {
	dir := ts.MkAbs("scene")
	ts.Check(os.Mkdir(dir, 0o700))
	world, err := sandbox.NewScene(dir)
	ts.Check(err)
	ts.Defer(func() { ts.Check(world.Close()) })
	world.State.Change(func(s *sandbox.State) {
		for name, server := range map[string]*sandbox.APIServer{"prod": world.Prod, "staging": world.Stage} {
			s.Clusters[name].Fault.Endpoint = "https://" + server.Addr()
		}
	})
	world.Config = strings.NewReplacer("https://"+sandbox.SceneShopHost, "https://127.0.0.1", "request: {", "request: {host: shop.example.test, sni: shop.example.test, ").Replace(world.Config)
	for _, name := range faults {
		if name == "ad-hoc" {
			world.State.Change(forAdhoc)
			continue
		}
		fault, ok := sandbox.FaultNamed(name)
		if !ok {
			ts.Fatalf("there is no fault %s", name)
		}
		ts.Check(fault.Apply(world))
	}
	world.Setenv(ts.Setenv)
	path, err := world.WriteConfig()
	ts.Check(err)
	ts.Setenv("CONFIG", path)
}

// forAdhoc lets the role be assumed without an external id, which an ad hoc probe cannot send, and the users read EKS, since base credentials observe.
func forAdhoc(s *sandbox.State) {
	s.Roles[madeUpRole].Trust[0].ExternalID = ""
	for _, user := range s.Users {
		user.ReadsEKS = true
	}
}

// signalAll sends INT, TERM or HUP to the programs in the background.
func signalAll(ts *testscript.TestScript, _ bool, args []string) {
	number, ok := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]
	if !ok {
		ts.Fatalf("usage: signal INT|TERM|HUP")
	}
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(number))
	}
}

// await FILE PATTERN [VARIABLE] waits until a file that a program writes matches, and keeps the pattern's first group.
func await(ts *testscript.TestScript, _ bool, args []string) {
	groups := poll(ts, args[1], func(context.Context) (string, error) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return string(text), err
	})
	if len(args) > 2 {
		ts.Setenv(args[2], groups[1])
	}
}

// get URL PATTERN waits until a page matches.
func get(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, args[1], func(ctx context.Context) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], http.NoBody)
		if err != nil {
			return "", err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	})
}

// poll reads until the pattern matches, and returns its groups.
func poll(ts *testscript.TestScript, pattern string, read func(context.Context) (string, error)) []string {
	wanted, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		text, err := read(ctx)
		if groups := wanted.FindStringSubmatch(text); groups != nil {
			return slices.Clone(groups)
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("nothing matches %s in (error: %v):\n%s", pattern, err, text)
		case <-ticker.C:
		}
	}
}
