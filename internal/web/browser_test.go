// A browser for the tests: Chromium without a window, driven over the pipe of its DevTools protocol.
//
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// browser is one Chromium with one tab. Messages are JSON, each ended by a zero byte (chromium, --remote-debugging-pipe).
type browser struct {
	*testing.T
	in       *os.File
	messages chan message // closed when Chromium ends
	session  string
	lastID   int
	problems []string // what the console, the page's scripts and the security policy complained of
}

// message is a request, an answer to one (its ID), or an event (its Method).
type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// answerTimeout is how long Chromium may take for one answer, on a busy machine.
const answerTimeout = 60 * time.Second

// findChromium returns the browser's path; "" when this machine has none.
func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startBrowser starts Chromium, which ends with the test. It skips the test where there is no Chromium.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := findChromium()
	if path == "" {
		t.Skip("this machine has no chromium in its PATH; on Debian, apt-get install chromium puts it there")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// The test's context ends before its clean-up, in which Chromium is asked to end.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // its files 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toBrowser.Close(), fromBrowser.Close()
	b := &browser{T: t, in: in, messages: make(chan message, 1000)}
	go b.read(out)
	t.Cleanup(func() {
		_ = in.Close()         // which ends Chromium
		for range b.messages { // until it has closed its end
		}
		_ = out.Close()
		_ = cmd.Wait()
	})
	b.attach()
	return b
}

func (b *browser) read(from *os.File) {
	defer close(b.messages)
	reader := bufio.NewReader(from)
	for {
		text, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			b.messages <- m
		}
	}
}

// attach takes the first tab, and listens to what it complains of.
func (b *browser) attach() {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.decode(b.call("Target.getTargets", nil), &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			b.decode(b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &attached)
			b.session = attached.SessionID
			break
		}
	}
	for _, domain := range []string{"Page", "Runtime", "Log", "Audits"} {
		b.call(domain+".enable", nil)
	}
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params any) json.RawMessage {
	b.Helper()
	b.lastID++
	text, err := json.Marshal(message{ID: b.lastID, SessionID: b.session, Method: method, Params: params})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.Fatalf("%s: %v", method, err)
	}
	m := b.await(func(m message) bool { return m.ID == b.lastID })
	if m.Error != nil {
		b.Fatalf("%s: %s", method, m.Error)
	}
	return m.Result
}

// await takes messages until the wanted one, and keeps the complaints on the way.
func (b *browser) await(wanted func(message) bool) message {
	b.Helper()
	timeout := time.NewTimer(answerTimeout)
	defer timeout.Stop()
	for {
		select {
		case m, ok := <-b.messages:
			if !ok {
				b.Fatal("chromium ended")
			}
			switch m.Method {
			case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded":
				text, _ := json.Marshal(m.Params)
				b.problems = append(b.problems, m.Method+" "+string(text))
			}
			if wanted(m) {
				return m
			}
		case <-timeout.C:
			b.Fatalf("no answer from chromium in %s", answerTimeout)
		}
	}
}

func (b *browser) decode(from json.RawMessage, into any) {
	b.Helper()
	if err := json.Unmarshal(from, into); err != nil {
		b.Fatalf("reading %s: %v", from, err)
	}
}

// window sets the size of the window, and which colours its user prefers: light or dark.
func (b *browser) window(width, height int, scheme string) {
	b.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
}

// open goes to a page and waits until it and all that belongs to it is there.
func (b *browser) open(url string) {
	b.Helper()
	b.call("Page.navigate", map[string]any{"url": url})
	b.await(func(m message) bool { return m.Method == "Page.loadEventFired" })
}

// eval returns the value of an expression in the page, which may itself run no script.
func (b *browser) eval(expression string, into any) {
	b.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.decode(b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "userGesture": true}), &got)
	if got.ExceptionDetails != nil {
		b.Fatalf("evaluating %s: %s", expression, got.ExceptionDetails)
	}
	if into != nil {
		b.decode(got.Result.Value, into)
	}
}

// roles counts what a screen reader is told of, by role.
func (b *browser) roles() map[string]int {
	b.Helper()
	var tree struct {
		Nodes []struct {
			Ignored bool
			Role    struct{ Value string }
		}
	}
	b.decode(b.call("Accessibility.getFullAXTree", nil), &tree)
	count := map[string]int{}
	for _, node := range tree.Nodes {
		if !node.Ignored {
			count[node.Role.Value]++
		}
	}
	return count
}

// screenshot keeps a picture of the page in the test's artifacts.
func (b *browser) screenshot(name string) {
	b.Helper()
	var shot struct{ Data string }
	b.decode(b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}), &shot)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), picture, 0o600); err != nil {
		b.Fatal(err)
	}
}
