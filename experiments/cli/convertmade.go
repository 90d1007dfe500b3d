package cli

// What trace convert makes that is no log: job files of META's batches, and the nodes of a
// domain of the hosts of a platform.

import (
	"encoding/csv"
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
	"github.com/gridslot/gridslot/workload/formats/batsim"
	"github.com/gridslot/gridslot/workload/jobfile"
	"github.com/gridslot/gridslot/workload/vo"
)

// made writes what has been asked for by name to OUT, "-" for standard output.
type made func(cmd *cobra.Command, out string) error

// makers returns the table of what trace convert makes that is no log.
func makers(t *simulation.Tables) policy.Table[made] {
	return policy.Table[made]{
		policy.Row("vo", "META's batches of requests with budgets, as a job file: jobs that come at the beginning of each cycle, each of n nodes and a volume V, with a budget of n V x", func(s *policy.Settings) made {
			b := batchesOf(s, t)
			text, given := s.Given(simulation.SeedParam.Name, simulation.SeedParam.Values, simulation.SeedParam.Text)
			return writeBatches(b, simulation.SeedOf(text, given, s.Fail))
		}),
		policy.Row("platform", "hosts of a platform of SimGrid, as Batsim takes it, as nodes of a domain, in CSV; of price 1, without the master and storage hosts", func(s *policy.Settings) made {
			path, _ := s.Given("from", "FILE.xml", "the platform (needed); - is standard input")
			if path == "" {
				s.Fail("from", "the path of a platform, as in from=cluster.xml")
			}
			reference := 0.0
			if text, given := s.Given("reference", "SPEED", "of performance 1, of one core, with a unit: 2.5Gf (the slowest host's)"); given {
				var err error
				if reference, err = batsim.ParseSpeed(text); err != nil {
					s.Fail("reference", err.Error())
				}
			}
			return writeNodes(path, reference)
		}),
	}
}

// batchesOf reads the parameters of vo. The jobs are those of the same settings under the key
// batches of a domain's file.
func batchesOf(s *policy.Settings, t *simulation.Tables) vo.Batches {
	b, interval := vo.Batches{Cycles: 1, Users: 1, Batch: vo.Batch{}.WithDefaults()}, 600.0
	s.Count(&b.Cycles, "cycles", "number of cycles (1)")
	s.Count(&b.Jobs, "jobs", "jobs of each cycle (20)")
	s.Above(&interval, "interval", "UNITS", "time units from one cycle to the next (600)")
	b.Cycle = des.Seconds(interval)
	s.Count(&b.Users, "users", "number of users, to whom the jobs belong in turn (1)")
	setRange(s, &b.Nodes, "nodes", "n, whole numbers (2..5)")
	if b.Nodes.Min != math.Trunc(b.Nodes.Min) || b.Nodes.Max != math.Trunc(b.Nodes.Max) {
		s.Fail("nodes", "whole numbers, as in 2..5")
	}
	setRange(s, &b.Volume, "volume", "V, in time units at performance 1 (100..500)")
	setRange(s, &b.Wealth, "wealth", "x, what a user pays for a time unit at performance 1 (1..1.6)")
	setRange(s, &b.Real, "real", "what part of its volume a job really has (1..1)")
	s.OnOff(&b.Poorest, "poorest", "META's discount: the poorest have 0.4 of the least x (off)")
	s.Above(&b.MinPerf, "min-performance", "P", "least performance of the nodes (1)")
	if list, given := s.Given("criteria", "NAME,NAME", "each job's criterion is drawn from these searches for windows (none); see help finders"); given {
		named := policy.Criteria(t.Finders)
		for name := range strings.SplitSeq(list, ",") {
			c, err := named(strings.TrimSpace(name))
			if err != nil {
				s.Fail("criteria", err.Error())
			}
			b.Criteria = append(b.Criteria, c)
		}
	}
	return b
}

// setRange declares and reads a range of two numbers, the least and the most, A..B. Without it the
// field keeps its default, which the text tells.
func setRange(s *policy.Settings, field *vo.Range, name, text string) {
	value, given := s.Given(name, "A..B", text)
	if !given {
		return
	}
	low, high, ok := strings.Cut(value, "..")
	least, errLeast := strconv.ParseFloat(low, 64)
	most, errMost := strconv.ParseFloat(high, 64)
	if !ok || errLeast != nil || errMost != nil || !(least >= 0 && least <= most && most > 0) || math.IsInf(most, 0) {
		s.Fail(name, fmt.Sprintf("the least and the most, numbers of which the greater is above 0, as in %v..%v", field.Min, field.Max))
	}
	*field = vo.Range{Min: least, Max: most}
}

// writeBatches writes batches as a job file, whose format the ending of its path tells; to standard
// output they go as CSV. seed returns the seed from which they are drawn in a call with a given
// seed.
func writeBatches(b vo.Batches, seed func(call uint64) uint64) made {
	return func(cmd *cobra.Command, out string) error {
		if err := b.Check(); err != nil {
			return &usageError{err}
		}
		if err := hostmem.Fits(0, hostmem.Need{What: fmt.Sprintf("%d jobs of a batch", b.Jobs), Bytes: hostmem.BatchJob * float64(b.Jobs)}); err != nil {
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
			if err == nil {
				err = cmd.Context().Err()
			}
			if err == nil {
				err = to.Write(j)
			}
			if err != nil {
				return err
			}
		}
		return commit()
	}
}

// writeNodes writes the hosts of a platform as nodes of a domain. The performance of a node is the
// speed of the host over the reference, or over the slowest host if reference is 0.
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

// openPlatform reads the hosts of a platform; there is at least one.
func openPlatform(path string, stdin io.Reader) ([]batsim.Host, error) {
	if path == workload.StandardInput {
		return batsim.ReadPlatform(stdin, "standard input")
	}
	return batsim.OpenPlatform(path)
}
