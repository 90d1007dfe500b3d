package cli

// What trace convert makes that is no log: job files of META's batches, and the nodes of a
// domain of the hosts of a platform.

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/batsim"
	"github.com/gridslot/gridslot/workload/jobfile"
	"github.com/gridslot/gridslot/workload/vo"
)

// made writes what has been asked for by name to OUT.
type made func(cmd *cobra.Command, out string) error

// makers is the table of what is made that is no log.
func makers(t *simulation.Tables) policy.Table[made] {
	between := func(name, otherwise, text string) policy.Param {
		return policy.Param{Name: name, Values: "A..B", Text: text + " (" + otherwise + ")"}
	}
	return policy.Table[made]{
		{
			Name: "vo", Text: "META's batches of requests with budgets, as a job file: at the beginning of each cycle so many jobs, each of n nodes and a volume V, with a budget of n V x",
			Params: []policy.Param{
				{Name: "cycles", Values: "N", Text: "number of cycles (1)"},
				{Name: "jobs", Values: "N", Text: "jobs of each cycle (20)"},
				{Name: "interval", Values: "UNITS", Text: "time units from one cycle to the next (600)"},
				{Name: "users", Values: "N", Text: "jobs belong to so many users in turn (1)"},
				between("nodes", "2..5", "n, whole numbers"),
				between("volume", "100..500", "V, in time units at performance 1"),
				between("wealth", "1..1.6", "x, what a user pays for a time unit at performance 1"),
				between("real", "1..1", "what part of its volume a job really has"),
				{Name: "poorest", Values: "on|off", Text: "META's discount: the poorest have 0.4 of the least x (off)"},
				{Name: "min-performance", Values: "P", Text: "least performance of the nodes (1)"},
				{Name: "criteria", Values: "NAME,NAME", Text: "each job's criterion is drawn from these searches for windows (none); see help finders"},
				simulation.SeedParam,
			},
			New: func(a *policy.Args) made { return writeBatches(batchesOf(a, t), simulation.SeedOf(a)) },
		},
		{
			Name: "platform", Text: "hosts of a platform of SimGrid, as Batsim takes it, as nodes of a domain, in CSV; of price 1, without the master and storage hosts",
			Params: []policy.Param{
				{Name: "from", Values: "FILE.xml", Text: "the platform (needed); - is standard input"},
				{Name: "reference", Values: "SPEED", Text: "of performance 1, of one core, with a unit: 2.5Gf (the slowest host's)"},
			},
			New: func(a *policy.Args) made {
				path, _ := a.Value("from")
				if path == "" {
					a.Fail("from", "the path of a platform, as in from=cluster.xml")
				}
				reference := 0.0
				if text, given := a.Value("reference"); given {
					var err error
					if reference, err = batsim.ParseSpeed(text); err != nil {
						a.Fail("reference", err.Error())
					}
				}
				return writeNodes(path, reference)
			},
		},
	}
}

// batchesOf reads the parameters of vo. Jobs are those of the same settings under the key
// batches of a domain's file.
func batchesOf(a *policy.Args, t *simulation.Tables) vo.Batches {
	b := vo.Batches{Cycles: cmp.Or(a.Positive("cycles"), 1), Users: cmp.Or(a.Positive("users"), 1)}
	b.Jobs = cmp.Or(a.Positive("jobs"), 20)
	b.Poorest = a.OnOff("poorest", false)
	b.MinPerf = a.Number("min-performance", 1)
	interval := a.Number("interval", 600)
	if !positive(interval) {
		a.Fail("interval", "a number of time units above 0")
	}
	if !positive(b.MinPerf) {
		a.Fail("min-performance", "a number above 0")
	}
	b.Cycle = des.Seconds(interval)
	b.Nodes = rangeOf(a, "nodes", vo.Range{Min: 2, Max: 5})
	b.Volume = rangeOf(a, "volume", vo.Range{Min: 100, Max: 500})
	b.Wealth = rangeOf(a, "wealth", vo.Range{Min: 1, Max: 1.6})
	b.Real = rangeOf(a, "real", vo.Range{Min: 1, Max: 1})
	if b.Nodes.Min != math.Trunc(b.Nodes.Min) || b.Nodes.Max != math.Trunc(b.Nodes.Max) {
		a.Fail("nodes", "whole numbers, as in 2..5")
	}
	if list, given := a.Value("criteria"); given {
		named := policy.Criteria(t.Finders)
		for name := range strings.SplitSeq(list, ",") {
			c, err := named(strings.TrimSpace(name))
			if err != nil {
				a.Fail("criteria", err.Error())
			}
			b.Criteria = append(b.Criteria, c)
		}
	}
	return b
}

// rangeOf is a range of two numbers, the least and the most.
func rangeOf(a *policy.Args, name string, otherwise vo.Range) vo.Range {
	text, given := a.Value(name)
	if !given {
		return otherwise
	}
	low, high, ok := strings.Cut(text, "..")
	least, errLeast := strconv.ParseFloat(low, 64)
	most, errMost := strconv.ParseFloat(high, 64)
	if !ok || errLeast != nil || errMost != nil || !(least >= 0 && least <= most && most > 0) || math.IsInf(most, 0) {
		a.Fail(name, fmt.Sprintf("the least and the most, numbers of which the greater is above 0, as in %v..%v", otherwise.Min, otherwise.Max))
	}
	return vo.Range{Min: least, Max: most}
}

// batchJobBytes are what a job of a batch takes: a batch is drawn as a whole.
const batchJobBytes = 220

// writeBatches writes batches as a job file, whose format the ending of its path tells; to
// standard output they go as CSV. They are drawn from the seed of the call, as seed tells.
func writeBatches(b vo.Batches, seed func(call uint64) uint64) made {
	return func(cmd *cobra.Command, out string) error {
		if err := b.Check(); err != nil {
			return &usageError{err}
		}
		if err := hostmem.Fits(0, hostmem.Need{What: fmt.Sprintf("%d jobs of a batch", b.Jobs), Bytes: batchJobBytes * float64(b.Jobs)}); err != nil {
			return err
		}
		o, _, err := optionsOf(cmd)
		if err != nil {
			return worded(cmd, err)
		}
		var to interface {
			Write(*entity.Job) error
		}
		var commit func() error
		if out == workload.StandardInput {
			w := jobfile.NewWriter(cmd.OutOrStdout(), jobfile.CSV)
			to, commit = w, w.Flush
		} else {
			format, ok := jobfile.FormatOf(out)
			if !ok {
				return usagef("OUT: %s: a job file is known by its ending: .csv or .jsonl, and .gz or .zst behind", out)
			}
			w, err := jobfile.Create(out, format)
			if err != nil {
				return err
			}
			defer w.Abort()
			to, commit = w, w.Commit
		}
		for j, err := range b.Generate(seed(o.Seed)) {
			if err == nil && cmd.Context().Err() != nil {
				err = errors.New("interrupted")
			}
			if err != nil {
				return err
			}
			if err := to.Write(j); err != nil {
				return err
			}
		}
		return commit()
	}
}

// writeNodes writes the hosts of a platform as nodes of a domain. The performance of a node
// is the speed of the host over that of reference, or of the slowest host.
func writeNodes(path string, reference float64) made {
	return func(cmd *cobra.Command, out string) error {
		hosts, err := openPlatform(path, cmd.InOrStdin())
		if err != nil {
			return err
		}
		base := reference
		if base == 0 {
			base = hosts[0].Speed
			for _, h := range hosts {
				base = min(base, h.Speed)
			}
		}
		rows := [][]string{{"id", "performance", "price", "name", "cores"}}
		for i, h := range hosts {
			rows = append(rows, []string{strconv.Itoa(i + 1), strconv.FormatFloat(h.Speed/base, 'g', -1, 64), "1", h.Name, strconv.Itoa(h.Cores)})
		}
		if out == workload.StandardInput {
			return csv.NewWriter(cmd.OutOrStdout()).WriteAll(rows)
		}
		return atomicfile.WriteNamed(out, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
	}
}

func openPlatform(path string, stdin io.Reader) ([]batsim.Host, error) {
	if path == workload.StandardInput {
		return batsim.ReadPlatform(stdin, "standard input")
	}
	return batsim.OpenPlatform(path)
}
