// The files that the components read: keys, tokens, kubeconfigs and the authenticator's mapping.
//
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// files are paths in one directory of the test, and what was written into them.
type files struct {
	dir               string
	ca, cert, key     string
	tokens            string // kube-apiserver's static tokens: the administrator's
	admin             string // kubeconfig of the administrator
	webhook           string // kubeconfig by which kube-apiserver finds the authenticator
	authenticator     string // the authenticator's configuration
	adminToken        string
	apiserverPort     int
	authenticatorPort int
}

// writeFiles writes them all; JSON serves as YAML.
func writeFiles(t testing.TB, o Options, apiserverPort, authenticatorPort int) files {
	t.Helper()
	dir := t.TempDir()
	f := files{dir: dir, adminToken: rand.Text(), apiserverPort: apiserverPort, authenticatorPort: authenticatorPort}
	// The authenticator finds its key pair under these two names in its state directory; kube-apiserver is given the same.
	f.ca, f.cert, f.key = write(t, dir, "ca.pem", o.AWS.CA.PEM()), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeKeyPair(t, o.AWS.CA, f)
	f.tokens = write(t, dir, "tokens.csv", fmt.Appendf(nil, "%s,admin,admin,system:masters\n", f.adminToken))
	f.admin = write(t, dir, "admin.json", kubeconfig(t, f.ca, "https://"+Address(apiserverPort), map[string]string{"token": f.adminToken}))
	f.webhook = write(t, dir, "webhook.json", kubeconfig(t, f.ca, "https://"+Address(authenticatorPort)+"/authenticate", map[string]string{}))
	f.authenticator = write(t, dir, "authenticator.json", authenticatorConfig(t, dir, o))
	return f
}

func writeKeyPair(t testing.TB, ca *sandbox.CA, f files) {
	t.Helper()
	pair, err := ca.Issue(sandbox.IssueOptions{Names: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatalf("encoding the servers' key: %v", err)
	}
	write(t, f.dir, filepath.Base(f.cert), encodeChain(pair))
	write(t, f.dir, filepath.Base(f.key), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
}

func encodeChain(pair tls.Certificate) []byte {
	var text []byte
	for _, der := range pair.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}

func kubeconfig(t testing.TB, ca, server string, user map[string]string) []byte {
	t.Helper()
	return encode(t, map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "e2e",
		"clusters": []any{map[string]any{"name": "e2e", "cluster": map[string]string{"server": server, "certificate-authority": ca}}},
		"users":    []any{map[string]any{"name": "e2e", "user": user}},
		"contexts": []any{map[string]any{"name": "e2e", "context": map[string]string{"cluster": "e2e", "user": "e2e"}}},
	})
}

// authenticatorConfig is the file of aws-iam-authenticator's docs ("server" section); server.hostname must be set, or it makes URLs without a host. It refuses the file of entries without entries.
func authenticatorConfig(t testing.TB, dir string, o Options) []byte {
	t.Helper()
	mapped := []any{}
	for _, role := range o.Roles {
		mapped = append(mapped, map[string]any{"roleARN": role.RoleARN, "username": role.Username, "groups": role.Groups})
	}
	server := map[string]any{"hostname": "127.0.0.1", "mapRoles": mapped}
	if o.Entries != nil {
		server["dynamicfilepath"], server["dynamicfileUserIDStrict"] = write(t, dir, "entries.json", entriesFile(t, o.Entries)), true
	}
	return encode(t, map[string]any{"server": server})
}

// entriesFile is what the DynamicFile backend reads (pkg/mapper/dynamicfile DynamicFileData).
func entriesFile(t testing.TB, entries []Entry) []byte {
	t.Helper()
	mapped := []any{}
	for _, e := range entries {
		mapped = append(mapped, map[string]any{"rolearn": e.RoleARN, "username": e.Username, "groups": e.Groups, "userid": e.RoleID})
	}
	return encode(t, map[string]any{"LastUpdatedDateTime": "0", "Version": "1", "mapRoles": mapped})
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encoding a component's file: %v", err)
	}
	return text
}

func write(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("writing a component's file: %v", err)
	}
	return path
}
