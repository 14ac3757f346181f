// The shell's way of the same proof, for comparison: aws eks get-token, then kubectl auth can-i a rule.
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkShell tells the CPU seconds of the shell's way. It assumes no role, which get-token could do for one hop without an external id: the comparison is kind to the shell.
func BenchmarkShell(b *testing.B) {
	for _, tool := range []string{"aws", "kubectl"} {
		if _, err := exec.LookPath(tool); err != nil {
			b.Skipf("%s is not installed, so there is nothing to compare with", tool)
		}
	}
	world, dir := startWorld(b)
	b.Setenv("HOME", dir)
	before := childrenCPU(b)
	runs := 0
	for b.Loop() {
		runs++
		token := getToken(b, world)
		for _, resource := range []string{"deployments", "deployments", "secrets"} {
			canI(b, world, dir, token, resource)
		}
	}
	b.ReportMetric((childrenCPU(b)-before).Seconds()/float64(runs), "cpu-s/run")
}

func getToken(b *testing.B, world remoteWorld) string {
	b.Helper()
	command := exec.CommandContext(b.Context(), "aws", "eks", "get-token", "--cluster-name", "prod", "--region", "eu-west-1")
	// Not the endpoints: get-token would sign for them, and the authenticator refuses every host that is not STS's own.
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for _, key := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED"} {
		command.Env = append(command.Env, key+"="+world.Env[key])
	}
	out, err := command.Output()
	if err != nil {
		b.Fatalf("aws eks get-token: %v", err)
	}
	var credential struct{ Status struct{ Token string } }
	if err := json.Unmarshal(out, &credential); err != nil {
		b.Fatal(err)
	}
	return credential.Status.Token
}

// canI asks one access review. It is kubectl create --raw, since the sandbox speaks JSON alone and kubectl auth can-i insists on protobuf; the two do the same work.
func canI(b *testing.B, world remoteWorld, dir, token, resource string) {
	b.Helper()
	command := exec.CommandContext(b.Context(), "kubectl", "--server=https://"+world.Prod, "--certificate-authority="+filepath.Join(dir, "prod-ca.pem"), "--token="+token,
		"create", "--raw", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "-f", "-")
	command.Stdin = strings.NewReader(`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"list","resource":"` + resource + `","namespace":"shop"}}}`)
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), `"allowed"`) {
		b.Fatalf("kubectl: %v: %s", err, out)
	}
}

// childrenCPU is the user and system time of the child processes that have ended.
func childrenCPU(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
