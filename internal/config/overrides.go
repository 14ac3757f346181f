// The file of a gate's overrides: who opened it, why, and until when.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
	"github.com/eks-slo/eks-slo-exporter/internal/slo"
)

// CheckOverrides reads the overrides of all gates as they are now: Problems when some have expired or are wrong, and the errors of files that cannot be read.
//
// Load does not do so: an override expires by itself, and must not keep an exporter from starting or reloading. The gate decides without it, and says so at each decision.
func (c *Config) CheckOverrides(now time.Time) error {
	readers := map[string][]string{}
	for _, gate := range c.Gates {
		if gate.Overrides != "" {
			readers[gate.Overrides] = append(readers[gate.Overrides], gate.Name)
		}
	}
	var problems Problems
	var unreadable []error
	for _, path := range slices.Sorted(maps.Keys(readers)) {
		_, err := LoadOverrides(path, readers[path], now)
		if found, ok := errors.AsType[Problems](err); ok {
			problems = append(problems, found...)
		} else if err != nil {
			unreadable = append(unreadable, err)
		}
	}
	if len(problems) > 0 {
		return errors.Join(append(unreadable, problems)...)
	}
	return errors.Join(unreadable...)
}

// LoadOverrides reads a file of overrides: a mapping with the list overrides, each with gate, by, why and until. A file that does not exist holds none.
//
// It returns those that are in force, and Problems of the others: one that has expired is a mistake, since a gate that somebody believes to be open is closed. gates are the names of those that read the file.
func LoadOverrides(path string, gates []string, now time.Time) ([]slo.Override, error) {
	data, err := chain.ReadSmall(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the overrides: %w", &fs.PathError{Op: "open", Path: path, Err: err})
	}
	return parseOverrides(path, data, gates, now)
}

func parseOverrides(name string, data []byte, gates []string, now time.Time) ([]slo.Override, error) {
	d := newDecoder(name, data)
	var inForce []slo.Override
	if root := d.Document(); root != nil {
		f := d.Mapping(root, "the file of overrides", "overrides")
		f.Require("overrides", "write overrides: [] when there are none")
		for i, item := range f.List("overrides") {
			before := len(d.Problems())
			o, ok := d.override(item, i, gates, now)
			if ok && len(d.Problems()) == before {
				inForce = append(inForce, o)
			}
		}
	}
	if problems := d.Problems(); len(problems) > 0 {
		return inForce, problems
	}
	return inForce, nil
}

// override reads one; ok is false when it opens no gate. That is not told by problems alone: what an alias repeats is reported once.
func (d *decoder) override(item *yaml.Node, i int, gates []string, now time.Time) (o slo.Override, ok bool) {
	f := d.Mapping(item, fmt.Sprintf("overrides[%d]", i), "gate", "by", "why", "until")
	f.Require("gate", "the name of the gate that is opened")
	f.Require("by", "who answers for it")
	f.Require("why", "whoever looks at the decision reads it")
	f.Require("until", "when it ends, such as 2026-12-01T18:00:00Z")
	o = slo.Override{Gate: f.Text("gate"), By: f.Text("by"), Why: f.Text("why"), Until: d.moment(f, "until")}
	known, ended := slices.Contains(gates, o.Gate), !o.Until.After(now)
	if o.Gate != "" && !known {
		d.Report(f.At("gate"), overrideOfNoGate, o.Gate, diag.DidYouMean{Word: o.Gate, Known: slices.Values(gates)})
	}
	if !o.Until.IsZero() && ended {
		d.Report(f.At("until"), overrideExpired, o.Gate, f.Scalar("until").Value)
	}
	return o, known && !ended && o.By != "" && o.Why != ""
}
