// Config is what one YAML file says, after every check; its targets are ready to be probed.
//
// SPDX-License-Identifier: Apache-2.0

// Package config reads the configuration file strictly: an unknown key, a dangling reference or a malformed value is a Problem with its position, and all problems come in one go.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// Config is a validated configuration. It is never changed after Parse returned it.
type Config struct {
	Access       []chain.Target            // sorted by name
	Groups       []chain.Target            // the target groups that are named, sorted by name
	Discoveries  []chain.Discovery         // what finds more of them at run time, sorted by name
	Identities   map[string]chain.Identity // by name
	Clusters     map[string]chain.Cluster  // by name
	Probe        Probe
	AWSAPIBudget AWSAPIBudget
	Query        Query
	Gates        []slo.Gate // sorted by name
}

// Probe holds the defaults of every target's schedule.
type Probe struct {
	Interval time.Duration // between two slots of a target; default 15s
	Timeout  time.Duration // of one run, at most Interval; default 10s
}

// AWSAPIBudget limits reads of AWS APIs, per account and region.
type AWSAPIBudget struct {
	EKSReadsPerSecond float64 // default 1
	ELBReadsPerSecond float64 // default 2
}

// Problems are all mistakes of one file, in the order of their positions.
type Problems = diag.Problems

const maxSize = diag.MaxSize // of every file that is read, in bytes

// Load reads and parses a file. Mistakes in it come back as Problems, a file that cannot be read, or that is a pipe or a device, as a *fs.PathError.
func Load(path string) (*Config, error) {
	data, err := chain.ReadSmall(path, maxSize)
	_, tooLarge := errors.AsType[*chain.TooLargeError](err)
	switch {
	case tooLarge:
		return Parse(path, make([]byte, maxSize+1)) // which says so, and looks at nothing else
	case err != nil:
		return nil, fmt.Errorf("reading the configuration: %w", &fs.PathError{Op: "open", Path: path, Err: err})
	}
	return Parse(path, data)
}

// Parse reads the text of a configuration file. Every error is of type Problems.
//
// name is the file's name: it stands in the problems, and relative file names in the text start at its directory.
func Parse(name string, data []byte) (*Config, error) {
	d := newDecoder(name, data)
	var config *Config
	if root := d.Document(); root != nil {
		config = d.config(d.Mapping(root, "the configuration", sections...))
	}
	if problems := d.Problems(); len(problems) > 0 {
		return nil, problems
	}
	return config, nil
}

var sections = []string{"probe", "clusters", "identities", "access", "target_groups", "aws_api_budget", "query", "rules", "alertmanagers", "gates"}

func (d *decoder) config(root diag.Fields) *Config {
	config := &Config{Probe: d.probe(root), AWSAPIBudget: d.apiBudget(root), Query: d.query(root)}
	config.Gates = d.gates(root)
	identities := d.identities(root)
	clusters := d.clusters(root, identities)
	config.Access = d.access(root, config.Probe, identities, clusters)
	config.Groups, config.Discoveries = d.targetGroups(root, identities, clusters)
	config.Identities, config.Clusters = identities.values, clusters.values
	slices.SortFunc(config.Access, func(a, b chain.Target) int { return strings.Compare(a.Name, b.Name) })
	return config
}

func (d *decoder) apiBudget(root diag.Fields) AWSAPIBudget {
	budget := AWSAPIBudget{EKSReadsPerSecond: 1, ELBReadsPerSecond: 2}
	if root.Has("aws_api_budget") {
		f := d.Mapping(root.Node("aws_api_budget"), "aws_api_budget", "eks_reads_per_second", "elb_reads_per_second")
		budget.EKSReadsPerSecond = d.rate(f, "eks_reads_per_second", budget.EKSReadsPerSecond)
		budget.ELBReadsPerSecond = d.rate(f, "elb_reads_per_second", budget.ELBReadsPerSecond)
	}
	return budget
}

// rate reads a number of requests per second.
func (d *decoder) rate(f diag.Fields, key string, otherwise float64) float64 {
	const least, most = 0.01, 1000 // less than a read in a hundred seconds reads nothing in time
	n := f.Scalar(key)
	if n == nil {
		return otherwise
	}
	value, err := strconv.ParseFloat(n.Value, 64)
	if tag := n.ShortTag(); (tag != "!!int" && tag != "!!float") || err != nil || math.IsNaN(value) || value < least || value > most {
		d.Report(f.At(key), badRate, key)
		return otherwise
	}
	return value
}
