package optimal

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

var byCBC = flag.Int("cbc", 5, "how many instances CBC solves for each measure: of 12 rigid jobs, and of 8 to 10 moldable ones")

// Branch and bound over starts that never fall and a mixed-integer programme over all starts
// share nothing but the definition of the measure.
func TestBestSchedulesOfTwelveJobsAreThoseOfCBC(t *testing.T) {
	heldToCBC(t, func(r *rand.Rand, processors int) []Job {
		jobs := drawn(r, 12, processors, 1, 6)
		for i := range jobs {
			jobs[i].Nodes = 1 << r.IntN(4) // otherwise CBC cannot prove most makespans in seconds
		}
		return jobs
	})
}

func TestBestSchedulesOfMoldableJobsAreThoseOfCBC(t *testing.T) {
	heldToCBC(t, func(r *rand.Rand, processors int) []Job {
		jobs := drawn(r, 8+r.IntN(3), processors, 1, 6)
		for i := range jobs {
			jobs[i].Nodes = 1 << r.IntN(4)
		}
		return molded(r, jobs, processors, 3, 6)
	})
}

// heldToCBC compares best schedules of instances of 8 processors with what CBC finds.
func heldToCBC(t *testing.T, instance func(r *rand.Rand, processors int) []Job) {
	cbc, err := exec.LookPath("cbc")
	if err != nil {
		t.Skip("cbc is not installed: apt-get install coinor-cbc")
	}
	const tau = 3 * des.Second
	for m := range Measure(3) {
		open, solved := 0, 0
		for seed := uint64(0); solved < *byCBC; seed++ {
			r := rand.New(rand.NewPCG(seed, 12))
			const processors = 8
			jobs := instance(r, processors)
			s, err := Solve(context.Background(), jobs, processors, m, tau)
			require.NoError(t, err)
			chosen := in(t, jobs, s)
			cost := costOf(chosen, feasible(t, chosen, s.Starts, processors), m, tau.Seconds())
			require.InEpsilon(t, cost, s.Cost, 1e-9)
			p := indexed{jobs: jobs, processors: processors, measure: m, tau: tau.Seconds()}
			found, least, proved := p.solve(t, cbc, cost)
			if proved && m == Makespan { // CBC has found one; it is the least if there is none of a second less
				require.True(t, found, "seed %d, %v: %v", seed, m, jobs)
				found, _, proved = p.solve(t, cbc, cost-1)
				found, least = !found, cost
			}
			if !proved {
				open++
				require.LessOrEqual(t, open, *byCBC, "a busy machine is slow; most are to be compared")
				continue
			}
			require.True(t, found, "seed %d, %v: %v", seed, m, jobs)
			require.InEpsilon(t, least, s.Cost, 1e-6, "seed %d, %v: %v", seed, m, jobs)
			solved++
		}
		t.Logf("%v: %d instances; CBC left %d others open after ten seconds", m, solved, open)
	}
}

// indexed is the search for a best schedule as a mixed-integer programme that is indexed by time (Sousa
// and Wolsey, Mathematical Programming 54, 1992). Times are whole seconds: x_i_k_s is 1 if job i
// starts at second s in its shape k, and the jobs of a second have no more processors than there are.
type indexed struct {
	jobs       []Job
	processors int
	measure    Measure
	tau        float64
}

// alone is what a start of job i in a shape costs, whatever the other jobs do.
func (p indexed) alone(i int, in Shape, start int) float64 {
	cost := costOf([]Job{rigid(p.jobs[i].Submit, in.Length, in.Nodes)}, []int{start}, p.measure, p.tau)
	if p.measure == Makespan { // it counts from the first submission of all
		first := p.jobs[0].Submit
		for _, j := range p.jobs {
			first = min(first, j.Submit)
		}
		cost += (p.jobs[i].Submit - first).Seconds()
	}
	return cost
}

// solve finds the least sum of costs of all schedules that cost at most a limit, and any schedule
// where the measure is the makespan. It may say that there is none.
func (p indexed) solve(t *testing.T, cbc string, limit float64) (found bool, least float64, proved bool) {
	var objective, constraints, names strings.Builder
	work := map[int]string{}               // by second
	others := 0.0                          // what the other jobs cost at least
	leasts := make([]float64, len(p.jobs)) // by job
	if p.measure != Makespan {
		for i, j := range p.jobs {
			leasts[i] = math.Inf(1)
			for shape := range j.all() {
				if shape.Nodes <= p.processors {
					leasts[i] = min(leasts[i], p.alone(i, shape, int(j.Submit/des.Second)))
				}
			}
			others += leasts[i]
		}
	}
	for i, j := range p.jobs {
		first, most, any := int(j.Submit/des.Second), limit-(others-leasts[i]), false
		for k, shape := range slices.Collect(j.all()) {
			if shape.Nodes > p.processors {
				continue
			}
			for s := first; p.alone(i, shape, s) <= most+1e-6; s++ {
				x := fmt.Sprintf("x_%d_%d_%d", i, k, s)
				fmt.Fprintf(&constraints, " + %s\n", x)
				fmt.Fprintf(&names, " %s\n", x)
				if p.measure != Makespan {
					fmt.Fprintf(&objective, " + %.17g %s\n", p.alone(i, shape, s), x)
				} else if objective.Len() == 0 {
					objective.WriteString(" 0 " + x + "\n")
				}
				for at := s; at < s+int(shape.Length/des.Second); at++ {
					work[at] += fmt.Sprintf(" + %d %s\n", shape.Nodes, x)
				}
				any = true
			}
		}
		if !any {
			return false, 0, true
		}
		constraints.WriteString(" = 1\n")
	}
	for _, sum := range work {
		fmt.Fprintf(&constraints, "%s <= %d\n", sum, p.processors)
	}
	dir := t.TempDir()
	model, answer := filepath.Join(dir, "m.lp"), filepath.Join(dir, "answer")
	text := "Minimize\n" + objective.String() + "Subject To\n" + constraints.String() + "Binary\n" + names.String() + "End\n"
	require.NoError(t, os.WriteFile(model, []byte(text), 0o600))
	options := []string{model, "-timeMode", "elapsed", "-seconds", "10"}
	if p.measure == Makespan {
		options = append(options, "-preprocess", "off", "-cuts", "off") // mostly ten times as fast
	}
	said, err := exec.Command(cbc, append(options, "-solve", "-solution", answer)...).CombinedOutput()
	require.NoError(t, err, "%s", said)
	written, err := os.ReadFile(answer)
	require.NoError(t, err)
	if optimum := regexp.MustCompile(`^Optimal - objective value (\S+)`).FindSubmatch(written); optimum != nil {
		least, err = strconv.ParseFloat(string(optimum[1]), 64)
		require.NoError(t, err)
		return true, least, true
	}
	return false, 0, bytes.HasPrefix(written, []byte("Infeasible")) || bytes.HasPrefix(written, []byte("Integer infeasible"))
}
