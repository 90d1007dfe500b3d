package swarm

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/experiments/simulation"
)

// worlds draws many worlds and carries none out.
func worlds(n uint64, look func(w *world)) {
	for seed := range n {
		look(draw(seed+1, cut{}, "/nowhere"))
	}
}

// A feature that is added to the command is not done until the swarm knows it.
func TestEveryFlagOfSimulateIsDrawn(t *testing.T) {
	drawn := map[string]bool{}
	worlds(4000, func(w *world) {
		if w.kind&(command|slurms) == 0 {
			return
		}
		for _, s := range w.settings {
			drawn[s.name] = true
		}
		for _, arg := range w.simulate("out", w.policies, false, true, "1") {
			name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			drawn[name] = drawn[name] || strings.HasPrefix(arg, "--")
		}
		drawn["scenario"] = drawn["scenario"] || w.asFile
	})
	for _, name := range simulation.SettingNames() {
		require.True(t, drawn[name] || name == "trace" || name == "phases", "no world has the setting %s: give it a row in features_test.go", name)
	}
	var help bytes.Buffer
	require.Zero(t, cli.Run(context.Background(), cli.Env{Args: []string{"simulate", "--help"}, Stdout: &help, Stderr: &help}))
	_, flags, _ := strings.Cut(help.String(), "\nFlags:\n")
	// Of a terminal, of a machine that is small, of no run, and of oracles (manifestsRepeatTheRun, savedRunsGoOn, phasesArePolicies).
	elsewhere := []string{"watch", "memory", "help", "from-manifest", "until", "save", "resume", "phases"}
	found := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(flags, -1)
	require.Greater(t, len(found), 30)
	for _, f := range found {
		require.True(t, drawn[f[1]] || slices.Contains(elsewhere, f[1]), "no world has --%s: give it a row in features_test.go", f[1])
	}
}

func TestEveryFeatureIsDrawn(t *testing.T) {
	drawn := map[string]int{}
	few := 0
	const n = 8000
	worlds(n, func(w *world) {
		for _, f := range w.on {
			drawn[f.name]++
		}
		few += btoi(len(w.on) > 0 && len(w.on) <= 5)
	})
	for _, f := range features {
		require.Positive(t, drawn[f.name], f.name)
	}
	require.Greater(t, few, n/2, "most features are off in most worlds")
}

func TestEveryPolicyAndParameterIsDrawn(t *testing.T) {
	drawn := map[string]bool{}
	worlds(20000, func(w *world) {
		for _, list := range w.policies {
			for spec := range strings.SplitSeq(strings.ReplaceAll(list, "++", "&&"), "+") {
				spec = strings.ReplaceAll(spec, "&&", "++")
				parts := strings.Split(spec, ":")
				for i, part := range parts {
					name, _, _ := strings.Cut(part, "=")
					if i > 0 {
						name = parts[0] + " " + name
					}
					drawn[name] = true
				}
			}
		}
	})
	for _, e := range tables.Nodes {
		require.True(t, drawn[e.Name], e.Name)
		for _, p := range e.Params {
			require.True(t, drawn[e.Name+" "+p.Name] || p.Name == "within" || p.Name == "power-cap" || p.Name == "defer", "%s:%s: give it values in policies_test.go", e.Name, p.Name)
		}
	}
	for _, e := range tables.Strategies {
		require.True(t, drawn[e.Name], e.Name)
		for _, p := range e.Params {
			require.True(t, drawn[e.Name+" "+p.Name], "%s:%s: give it values in policies_test.go", e.Name, p.Name)
		}
	}
}

// What is left out changes nothing else: the command of a failure repeats it.
func TestAWorldWithLessIsTheSameInAllElse(t *testing.T) {
	worlds(300, func(w *world) {
		again := draw(w.seed, cut{only: w.names()}, "/nowhere")
		require.Equal(t, w.log(), again.log())
		require.Equal(t, w.settings, again.settings)
		less := draw(w.seed, cut{jobs: 3}, "/nowhere")
		if !w.has("backwards") && len(w.jobs) >= 3 && w.kind&command != 0 && !w.has("arrays gaps of-a-log") {
			require.Equal(t, len(less.jobs), 3)
			require.Equal(t, w.jobs[0].line(), less.jobs[0].line())
		}
	})
}
