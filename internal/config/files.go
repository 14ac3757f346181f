// Files that the configuration names and that must be there when it is loaded.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// readFile reads the file that a key names, and returns its resolved name. data is nil when the key is not given or the file cannot be used.
func (d *decoder) readFile(f diag.Fields, key string) (name string, data []byte) {
	text := f.Text(key)
	if text == "" {
		return "", nil
	}
	name = d.path(text)
	data, err := chain.ReadSmall(name, maxSize)
	if err != nil {
		d.Report(f.At(key), fileUnusable, key, text, err.Error())
		return name, nil
	}
	return name, data
}

// What belongs into a ca_file.
const (
	clusterCA = "the cluster's certificate authority to it, base64-decoded (aws eks describe-cluster --query cluster.certificateAuthority.data)"
	requestCA = "the certificate authority to it that signed what the load balancer shows, as PEM; without ca_file the system's authorities serve"
)

// caFile reads the key ca_file: PEM, with at least one certificate.
func (d *decoder) caFile(f diag.Fields, whose string) string {
	name, data := d.readFile(f, "ca_file")
	if data != nil && !x509.NewCertPool().AppendCertsFromPEM(data) {
		d.Report(f.At("ca_file"), noCertificate, f.Text("ca_file"), whose)
	}
	return name
}

// externalIDFile reads the key external_id_file. What the file holds is dropped: it is read anew at every run.
func (d *decoder) externalIDFile(f diag.Fields) string {
	name, _ := d.externalID(f)
	return name
}

// externalID reads the key external_id_file, and the file.
func (d *decoder) externalID(f diag.Fields) (name, id string) {
	name, data := d.readFile(f, "external_id_file")
	id = string(bytes.TrimSpace(data))
	if data != nil && id == "" {
		d.Report(f.At("external_id_file"), emptyExternalID, f.Text("external_id_file"))
	}
	return name, id
}

// manifestFile reads the key manifest_file: one Kubernetes object. ok is false when it is not given or cannot be used.
func (d *decoder) manifestFile(f diag.Fields) (name string, ok bool) {
	name, data := d.readFile(f, "manifest_file")
	if data == nil {
		return name, false
	}
	if err := checkManifest(data); err != nil {
		d.Report(f.At("manifest_file"), badManifest, f.Text("manifest_file"), err.Error())
		return name, false
	}
	return name, true
}

// checkManifest looks for one object among the documents of a manifest; empty documents count for nothing. Its errors hold nothing of the text.
func checkManifest(data []byte) error {
	objects := 0
	for documents := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var document yaml.Node
		switch err := documents.Decode(&document); {
		case errors.Is(err, io.EOF) && objects == 1:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("it holds no object")
		case err != nil:
			return errors.New("it is not YAML")
		case diag.IsNull(document.Content[0]):
			continue
		}
		if objects++; objects > 1 {
			return errors.New("it holds more than one object")
		}
		if err := checkObject(document.Content[0]); err != nil {
			return err
		}
	}
}

func checkObject(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return errors.New("it holds no object")
	}
	texts, list := map[string]string{}, false
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str" {
			texts[key] = value.Value
		}
		list = list || key == "items"
	}
	switch {
	case texts["apiVersion"] == "":
		return errors.New("the object has no apiVersion")
	case texts["kind"] == "":
		return errors.New("the object has no kind")
	case list && strings.HasSuffix(texts["kind"], "List"):
		return errors.New("it holds a list of objects")
	}
	return nil
}
