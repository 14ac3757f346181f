// Two faults at once: the one whose evidence the chain meets first is the verdict, and never a mixture of both.
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

var (
	pairCount = flag.Int("pairs", 100, "how many random pairs of faults to try; CI tries 1000")
	pairSeed  = flag.Uint64("pairs.seed", 2026, "seed of the random pairs")
)

// shownAt is the step at which a fault's evidence appears: the last one that its run reached. What the review or the search after it brings to light of an earlier step shows at access_entry,
// which is then skipped itself.
func shownAt(f sandbox.Fault) chain.Step {
	place := chain.StepNone
	for i, mark := range []rune(f.Marks) {
		if mark != '·' {
			place = chain.KindAccess.Steps()[i]
		}
	}
	if place == chain.StepEndpoint && f.Step < place {
		return chain.StepAccessEntry
	}
	return place
}

// earlier returns the fault of the two that must be the verdict: its evidence appears first; of two whose evidence appears at one step, the choice is open (ok is false).
func earlier(a, b sandbox.Fault) (first sandbox.Fault, ok bool) {
	if shownAt(a) == shownAt(b) {
		return a, false
	}
	if shownAt(b) < shownAt(a) {
		a = b
	}
	return a, true
}

// changes are what a fault sets outside the shared state.
type changes struct {
	env    map[string]string
	config bool
	asksNo bool // EKS is not asked where the cluster is: the configuration says it all
	told   bool // EKS tells another endpoint or CA of prod
	token  bool // the exporter's web identity token is another, or gone
}

func changesOf(t *testing.T, f sandbox.Fault) changes {
	t.Helper()
	scene := newScene(t)
	env, config, token, told := maps.Clone(scene.Env), scene.Config, readToken(scene), toldOfProd(scene)
	if err := f.Apply(scene); err != nil {
		t.Fatal(err)
	}
	c := changes{env: map[string]string{}, config: scene.Config != config, asksNo: strings.Contains(scene.Config, "ca_file:"), token: readToken(scene) != token, told: toldOfProd(scene) != told}
	for key, value := range scene.Env {
		if env[key] != value {
			c.env[key] = value
		}
	}
	return c
}

// toldOfProd is where DescribeCluster says that prod is, and its CA.
func toldOfProd(scene *sandbox.Scene) (told string) {
	scene.State.Change(func(s *sandbox.State) {
		if c := s.Clusters["prod"]; c != nil {
			told = c.Endpoint + c.Fault.Endpoint + string(c.CAPEM)
		}
	})
	return told
}

func readToken(scene *sandbox.Scene) string {
	token, _ := os.ReadFile(filepath.Join(scene.Dir, "token"))
	return string(token)
}

// undone reports whether one fault takes the other back, so that no two are left: both set one variable, the configuration or the token; one makes EKS be asked nothing while the other is
// what EKS says; one replaces the source that the other breaks; or both are the Pod Identity agent's one answer.
func undone(a, b sandbox.Fault, known map[string]changes) bool {
	of, and := known[a.Name], known[b.Name]
	for key := range of.env {
		if _, both := and.env[key]; both {
			return true
		}
	}
	otherKeys := func(c changes, of sandbox.Fault) bool {
		return c.env["AWS_ACCESS_KEY_ID"] != "" && of.Name == "key-deleted"
	}
	early := func(f sandbox.Fault) bool { return f.Step <= chain.StepSTS }
	switch {
	case of.config && and.config, of.token && and.token:
		return true
	case otherKeys(of, b), otherKeys(and, a):
		return true
	case of.asksNo && (b.Step == chain.StepToken || and.told), and.asksNo && (a.Step == chain.StepToken || of.told):
		return true
	case a.Target == "pod-agent@prod" && early(a) && early(b):
		return true
	}
	return false
}

func TestTwoFaultsBlameTheEarlierLayer(t *testing.T) {
	faults := slices.DeleteFunc(sandbox.Faults(), func(f sandbox.Fault) bool {
		return f.Kind() != chain.KindAccess || f.Adjust != nil // these change the target, not the scene
	})
	known := map[string]changes{}
	for _, f := range faults {
		known[f.Name] = changesOf(t, f)
	}
	random := rand.New(rand.NewPCG(*pairSeed, 0))
	for tried := 0; tried < *pairCount; {
		a, b := faults[random.IntN(len(faults))], faults[random.IntN(len(faults))]
		first, ok := earlier(a, b)
		if a.Target != b.Target || !ok || undone(a, b, known) {
			continue
		}
		tried++
		t.Run(a.Name+"+"+b.Name, func(t *testing.T) {
			scene := newScene(t)
			scene.Config = strings.Replace(scene.Config, "timeout: 3s", "timeout: 2s", 1)
			for _, f := range []sandbox.Fault{a, b} {
				if err := f.Apply(scene); err != nil {
					t.Fatal(err)
				}
			}
			run := probeOnce(t, scene, first.Target)
			v := run.Verdict
			if v.Outcome != first.Outcome || v.Step != first.Step || v.Reason != first.Reason {
				t.Errorf("got %s %s/%s %s, want %s of %s: %s", v.Outcome, v.Step, v.Reason, marksOf(run), first.Reason, first.Name, v.Detail)
			}
		})
	}
}
