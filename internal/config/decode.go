// The decoder is the reader of YAML that knows where a configuration's secrets and files are.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

type decoder struct {
	*diag.Reader

	file  string
	wrong map[*yaml.Node]bool // patterns that do not parse, so that aliases do not make us look for the place again
}

func newDecoder(file string, data []byte) *decoder {
	options := diag.Options{Hide: secretStart, Refuse: refuseSecret, Hints: ownHints}
	return &decoder{diag.NewReader(file, data, options), file, map[*yaml.Node]bool{}}
}

// refuseSecret says what is wrong with an unknown key when its value would be a secret.
func refuseSecret(key string) (of *diag.Message, hint string) {
	if !isSecretKey(key) {
		return nil, ""
	}
	return secretKey, secretHint(key)
}

// path resolves a file name of the configuration: relative ones start at the configuration file's directory.
func (d *decoder) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(d.file), name)
}

// word is the place of a word inside a scalar, at a byte offset of its value.
func (d *decoder) word(n *yaml.Node, offset int) diag.Place {
	word, _, _ := strings.Cut(n.Value[offset:], " ")
	return d.Within(n, offset, offset+len(word))
}
