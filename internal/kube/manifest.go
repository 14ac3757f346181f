// Manifests: a YAML file with exactly one object, to be created in a dry run.
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// maxManifest is a manifest's size in bytes; etcd takes no object above 1.5 MiB.
const maxManifest = 1 << 20

// readManifest reads the file anew at every run. Its errors are unknowns, read_failed: a file of ours says nothing about the cluster.
func readManifest(path string) (write, error) {
	w, err := openManifest(path)
	if err != nil {
		return write{}, chain.Unsure(chain.ReasonReadFailed, fmt.Sprintf("reading the manifest %s: %s", path, chain.Redact(err.Error())), nil, err)
	}
	return w, nil
}

func openManifest(path string) (write, error) {
	text, err := chain.ReadSmall(path, maxManifest)
	if err != nil {
		return write{}, err
	}
	return parseManifest(text)
}

func parseManifest(text []byte) (write, error) {
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var body object
	for {
		var raw json.RawMessage
		err := documents.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return write{}, err
		}
		if len(raw) == 0 || string(raw) == "null" { // an empty document
			continue
		}
		if body != nil {
			return write{}, errors.New("it holds more than one object")
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			return write{}, err
		}
	}
	return manifestWrite(body)
}

func manifestWrite(body object) (write, error) {
	apiVersion, _ := body["apiVersion"].(string)
	kindName, _ := body["kind"].(string)
	metadata, _ := body["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	generateName, _ := metadata["generateName"].(string)
	version, err := schema.ParseGroupVersion(apiVersion)
	switch {
	case err != nil:
		return write{}, err
	case apiVersion == "" || kindName == "":
		return write{}, errors.New("it holds no object with apiVersion and kind")
	case strings.HasSuffix(kindName, "List"):
		return write{}, fmt.Errorf("a %s is no one object", kindName)
	case name == "" && generateName == "":
		return write{}, errors.New("its object has no metadata.name")
	}
	kind := version.WithKind(kindName)
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	written, _ := metadata["namespace"].(string)
	return write{verb: "create", resource: resource, namespace: namespaceOf(kind, written), body: body}, nil
}
