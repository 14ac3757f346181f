// Prometheus as a library brings no cloud's service discovery along.
//
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os/exec"
	"strings"
	"testing"
)

func TestNoServiceDiscovery(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	denied := []string{
		"k8s.io/client-go/kubernetes", "k8s.io/client-go/rest", "k8s.io/api/", "github.com/hashicorp/consul", "github.com/hashicorp/nomad", "github.com/docker/docker", "github.com/moby/moby",
		"github.com/digitalocean/", "github.com/hetznercloud/", "github.com/linode/", "github.com/gophercloud/", "github.com/vultr/", "github.com/ionos-cloud/",
		"github.com/ovh/", "github.com/scaleway/", "github.com/envoyproxy/", "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager",
		"github.com/aws/aws-sdk-go-v2/service/ec2", "github.com/aws/aws-sdk-go-v2/service/lightsail", "github.com/prometheus/prometheus/plugins",
	}
	for dependency := range strings.FieldsSeq(string(out)) {
		for _, d := range denied {
			if strings.HasPrefix(dependency, d) {
				t.Errorf("the engine imports %s", dependency)
			}
		}
		if strings.HasPrefix(dependency, "github.com/prometheus/prometheus/discovery/") && dependency != "github.com/prometheus/prometheus/discovery/targetgroup" {
			t.Errorf("the engine imports %s", dependency)
		}
	}
}
