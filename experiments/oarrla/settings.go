package oarrla

// Where every choice of the experiment comes from.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/policy/agent"
)

const (
	setup = "OAR11 5"
	rla   = "OAR11, the strategy RLA"
)

// settings are what is fixed, what is not published among it; jobs is where those
// come from.
func (e Experiment) settings(jobs reproduce.Setting) []reproduce.Setting {
	from := func(origin reproduce.Origin, where string) reproduce.Source {
		return reproduce.Source{Origin: origin, Where: where}
	}
	var sizes []string
	for _, k := range e.Grid.Clusters {
		sizes = append(sizes, fmt.Sprint(k.Processors))
	}
	var steps []string
	for _, n := range e.Steps {
		steps = append(steps, fmt.Sprint(n))
	}
	return []reproduce.Setting{
		jobs,
		{Name: "numbers of jobs", Value: strings.Join(steps, ", "), From: from(reproduce.Ours, "the charts go up to 117,000")},
		{Name: "clusters", Value: strings.Join(sizes, ", ") + " processors", From: from(reproduce.Paper, setup)},
		{Name: "brokers", Value: fmt.Sprint(e.Grid.Brokers), From: from(reproduce.Paper, setup)},
		{Name: "a job's broker", Value: "in turn", From: from(reproduce.Ours, "not published; all get as much to do")},
		{Name: "speeds", Value: "equal", From: from(reproduce.Ours, "not published; unequal ones are below")},
		{Name: "local schedulers", Value: e.Grid.Clusters[0].Policy, From: from(reproduce.Ours, "not published; FCFS is below")},
		{Name: "latency", Value: fmt.Sprintf("%g s a message", e.Grid.Network.Latency),
			From: from(reproduce.Ours, "not published; a wide-area round trip and the handling at both ends; others are below")},
		{Name: "bandwidth", Value: "no limit", From: from(reproduce.Ours, "not published; messages are small")},
		{Name: "runtimes", Value: "known", From: from(reproduce.Paper, "OAR11 3: a job has so many million instructions; users' estimates are below")},
		{Name: "reward", Value: "abs(Tm - T)", From: from(reproduce.Paper, rla+"; the other rules are ours")},
		{Name: "its unit", Value: "seconds, not rounded", From: from(reproduce.Ours, "\"an integer\" of no unit; first=3600 is hours")},
		{Name: "T", Value: "from the job's submission to the fragment's end",
			From: from(reproduce.Paper, rla+": wait and execution; since=fragment begins at the cluster")},
		{Name: "Tm", Value: "the mean over the broker's fragments of the cluster, the latest among them",
			From: from(reproduce.Ours, "the paper does not say whether the latest is; to the sign it is all one")},
		{Name: "who teaches", Value: "fragments that the regulator placed, too", From: from(reproduce.Ours, "not said; emergencies=off is below")},
		{Name: "first scores", Value: fmt.Sprintf("%g", agent.Initial), From: from(reproduce.Ours, "not published; 0 would be final, since who gets nothing learns nothing")},
		{Name: "rounding of shares", Value: "drawn, so that every share is right in the mean", From: from(reproduce.Ours, "not published")},
		{Name: "a job too large", Value: "cut by the regulator into the fewest pieces that fit", From: from(reproduce.Ours, "nothing is said of jobs larger than a cluster, or than the grid")},
		{Name: "a start that has passed", Value: "from now on, if there is room", From: from(reproduce.Ours, "messages take time: otherwise no offer for now could be taken up")},
		{Name: "emergency reservations", Value: fmt.Sprintf("kept for %g s", grid.DefaultExpiry.Seconds()), From: from(reproduce.Ours, "not published; longer than any answer takes")},
		{Name: "start of a job", Value: "that of its first fragment", From: from(reproduce.Paper, setup+"; the wait of fragments is beside it")},
		{Name: "makespan", Value: "last finish minus first submission", From: from(reproduce.Ours, "the formula cannot be read; its other reading is the total execution time, the sum over the jobs of finish minus start")},
		{Name: "utilization", Value: "the mean of the clusters' own, over the makespan", From: from(reproduce.Paper, setup)},
		{Name: "stable, flat", Value: "within 10 points, less than doubled", From: from(reproduce.Ours, "the charts have no numbers")},
	}
}
