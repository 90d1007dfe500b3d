package simulation

// The phase of a controller: when, within the periods of its loops, the jobs of a log come. No log
// tells it, and starts move with it.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// slurmPhase returns the phase of a policy: for how many whole seconds the controller has been up
// when the log begins. "slurm" has 0, "slurm:phase=17" has 17, and "slurm:phase=seed" one that the
// seed draws.
func slurmPhase(spec string, seed uint64) (des.Time, error) {
	text, phased := strings.CutPrefix(spec, slurmPolicy+":phase=")
	switch {
	case spec == slurmPolicy:
		return 0, nil
	case text == "seed":
		return phasesOf(1, seed)[0], nil
	case !phased:
		return 0, fmt.Errorf("with slurm.conf the policy is %[1]q, or %[1]s:phase=SECONDS, or %[1]s:phase=seed, and not %[2]q", slurmPolicy, spec)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n >= uint64(phases/des.Second) {
		return 0, fmt.Errorf("%s: want whole seconds of 0 to %d", spec, phases/des.Second-1)
	}
	return des.Time(n) * des.Second, nil
}

// phases is the time below which phases are drawn. Any period of a controller's loops divides an
// hour, or nearly so.
const phases = des.Hour

// mostPhases is the largest number of phases in one call.
const mostPhases = 1000

// phasesOf draws n different phases. With mostPhases of 3,600 it seldom draws one twice.
func phasesOf(n int, seed uint64) (all []des.Time) {
	draw := des.NewStream(seed, 0, "phase of slurmctld")
	for len(all) < n {
		p := des.Time(draw.IntN(int(phases/des.Second))) * des.Second
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// slurmNames returns the policies of a machine on which Slurm decides: those that are asked for, or
// one for each of the phases.
func slurmNames(sc *Scenario) (names []policyName, err error) {
	specs := sc.Policies
	// Phases that are asked for by a number stand in place of "slurm" alone.
	if n := sc.Slurm.Phases; n > 0 && len(specs) == 0 || n > 0 && len(specs) == 1 && specs[0] == slurmPolicy {
		specs = nil
		for _, p := range phasesOf(n, sc.Settings.Seed) {
			specs = append(specs, fmt.Sprintf("%s:phase=%v", slurmPolicy, p))
		}
	}
	if len(specs) == 0 {
		specs = []string{slurmPolicy}
	}
	for _, spec := range specs {
		if _, err := slurmPhase(spec, sc.Settings.Seed); err != nil {
			return nil, err
		}
		name := policyName{spec: spec, file: strings.ReplaceAll(spec, ":", "-")}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%s is there twice", spec)
		}
		names = append(names, name)
	}
	return names, nil
}

// spreads returns the spread of each measure of the summary over the phases; none if there are not
// several phases. A measure without a value in some phase is left out.
func (o *Outcome) spreads() (all []rows.Spread, err error) {
	// Only if every run has a phase do the rows differ in nothing else.
	phased := len(o.Results) > 1
	for _, r := range o.Results {
		phased = phased && strings.HasPrefix(r.Summary.Policy, slurmPolicy+":phase=")
	}
	if !phased {
		return nil, nil
	}
	columns, table, err := o.Table()
	if err != nil {
		return nil, err
	}
	for i, name := range columns {
		if name == "policy" || name == "cpu_seconds" {
			continue
		}
		var values []float64
		for _, row := range table {
			if v, err := strconv.ParseFloat(row[i], 64); err == nil && !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) == len(table) {
			// Phases are drawn independently: the interval is Student's, at 95%.
			mean := stats.Mean(values, .95)
			all = append(all, rows.Spread{
				Measure: name, Phases: len(values), Min: slices.Min(values), Mean: mean.Mean, Max: slices.Max(values),
				Low: mean.Mean - mean.HalfWidth, High: mean.Mean + mean.HalfWidth,
			})
		}
	}
	return all, nil
}

// printSpreads writes a table of the spread of every measure over the phases.
func (o *Outcome) printSpreads(w io.Writer) error {
	all, err := o.spreads()
	if err != nil || len(all) == 0 {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\nover %d phases\tmin\tmean\tmax\t95%% of the mean\t\n", len(o.Results))
	for _, s := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s to %s\t\n", s.Measure, plain.FourFigures(s.Min), plain.FourFigures(s.Mean), plain.FourFigures(s.Max), plain.FourFigures(s.Low), plain.FourFigures(s.High))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "rules exact, phase unknown: no log tells when the loops of its controller woke")
	return err
}

// writeSpreads writes phases.csv, if there are several phases.
func (c *call) writeSpreads(o *Outcome) error {
	all, err := o.spreads()
	if err != nil || len(all) == 0 {
		return err
	}
	return c.writeForAll(rows.Spreads.Name, func(w io.Writer) error { return rows.WriteAll(w, rows.Spreads, all) })
}
