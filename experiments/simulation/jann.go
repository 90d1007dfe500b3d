package simulation

// Jann's model, which is fitted to a log, and what its fit is told as.

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// fitJann fits Jann's model to a log, and returns the number of processors of the log's machine.
// ranges is "powers" for ranges of sizes that end at powers of two, or the number at whose
// multiples they end; see model.FitJann.
func fitJann(path, ranges string, maxOrder int) (m model.Jann, processors int, err error) {
	t, err := openLog(path)
	if err != nil {
		return m, 0, err
	}
	if processors, err = Processors(t); err != nil {
		return m, 0, err
	}
	borders := model.PowersOfTwo(processors)
	if ranges != jannPowers {
		step, err := strconv.Atoi(ranges)
		if err != nil || step < 1 {
			return m, 0, fmt.Errorf("ranges: want %s, or the number whose multiples they end at, not %q", jannPowers, ranges)
		}
		borders = model.MultiplesOf(step, processors)
	}
	m, err = model.FitJann(t.Jobs(), borders, maxOrder)
	if err = errors.Join(t.Err(), err); err != nil {
		return m, 0, fmt.Errorf("%s: %w", t.Name, err)
	}
	return m, processors, nil
}

// The ranges and the greatest order of the paper (Jann, Pattnaik, Franke, Wang, Skovira and
// Riordan, Modeling of workload in MPPs, JSSPP 1997).
const (
	jannPowers = "powers"
	jannOrder  = 7 // the paper's orders are at most that
)

// toldOfJann returns what was fitted, for the header of a log, and a warning for each range in
// which no hyper-Erlang distribution has the three moments of the log: only its mean is met there.
func toldOfJann(path string, m *model.Jann, order int) (h *workload.Header, warnings []string) {
	h = &workload.Header{}
	h.Add("Note", "Jann and others, JSSPP 1997, fitted to "+path)
	for i := range m.Ranges {
		r := &m.Ranges[i]
		h.Add("Note", fmt.Sprintf("sizes %s, %d jobs: gaps %s, runtimes %s", sizesOf(r), r.Jobs(), hyperErlang(r.Gap), hyperErlang(r.Run)))
		if without := withoutFit(r); without != "" {
			warnings = append(warnings, fmt.Sprintf("sizes %s, %d jobs: no hyper-Erlang distribution of an order up to %d has the three moments of the %s: only the mean is met", sizesOf(r), r.Jobs(), order, without))
		}
	}
	return h, warnings
}

// sizesOf returns the least and the greatest size of a range, for people. Invariant: a range has a
// size.
func sizesOf(r *model.JannRange) string {
	first, last := r.Sizes[0].Size, r.Sizes[len(r.Sizes)-1].Size
	if first == last {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

// hyperErlang writes a distribution as model.ParseDistribution reads it: with probability P an Erlang
// time of the mean Order / Rate1, otherwise one of the mean Order / Rate2.
func hyperErlang(d model.HyperErlang) string {
	order := float64(d.Order)
	return fmt.Sprintf("hyper-erlang/%.4g/%d/%.6g/%.6g", d.P, d.Order, order/d.Rate1, order/d.Rate2)
}

// withoutFit names what of a range does not have the three moments of the log; "" if all has.
func withoutFit(r *model.JannRange) string {
	switch gaps, runs := r.GapMoments < 3, r.RunMoments < 3; {
	case gaps && runs:
		return "gaps and runtimes"
	case gaps:
		return "gaps"
	case runs:
		return "runtimes"
	}
	return ""
}
