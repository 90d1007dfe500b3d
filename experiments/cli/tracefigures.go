package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/workload/facts"
)

// drawLog draws what is in a log into a folder, as SVG. The log's facts have it all; figures only
// lay it out.
func drawLog(cmd *cobra.Command, dir string, info *traceInfo) error {
	if info.Jobs == 0 {
		return fmt.Errorf("%s: there are no jobs to draw figures of", info.Name)
	}
	f := info.Facts
	l := figure.Log{
		Clock: f.Arrivals.Zone, Sizes: distributionOf(f.Sizes.Sample()), Runtimes: distributionOf(f.Runtimes.Sample()),
	}
	for h, r := range f.Arrivals.Hours {
		l.Hours[h] = float64(r.Jobs)
	}
	for d, r := range f.Arrivals.Days {
		l.Days[d] = float64(r.Jobs)
	}
	if e := f.Estimates; e != nil {
		l.Requests, l.Accuracy = distributionOf(e.Sample()), e.Deciles[:]
	}
	if f.Processors > 0 {
		for _, w := range f.Weeks {
			l.Weeks = append(l.Weeks, figure.LoadOfWeek{Week: w.Number, Offered: w.Load, Utilization: w.Utilization})
		}
	}
	figures, err := figure.DrawLog(&l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the folder for the figures (--figures): %w", err)
	}
	return saveFigures(cmd.Context(), dir, "svg", figures, func(path string) error {
		_, err := fmt.Fprintf(shown{cmd.ErrOrStderr()}, "gridslot: written: %s\n", path)
		return err
	})
}

// saveFigures writes figures into a folder, and calls written with the path of each that is there.
// An interrupt ends it between two figures, so that no figure is half written.
func saveFigures(ctx context.Context, dir, format string, figures []*figure.Figure, written func(path string) error) error {
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	held, err := outdir.Open(dir, names...)
	if err != nil {
		return err
	}
	defer held.Close()
	for _, f := range figures {
		if ctx.Err() != nil {
			return errors.New("interrupted; the figures named above are whole")
		}
		path := filepath.Join(dir, f.Name+"."+format)
		if err := f.Save(path); err != nil {
			return err
		}
		if err := written(path); err != nil {
			return err
		}
	}
	return nil
}

// distributionOf returns the different values of a sample and how often each is there.
func distributionOf(s *facts.Sample) (d figure.Distribution) {
	for v, n := range s.Values() {
		d.Values, d.Counts = append(d.Values, v), append(d.Counts, n)
	}
	return d
}
