package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/workload/facts"
)

// drawLog draws what is in a log into a folder, as SVG.
func drawLog(dir string, f *facts.Facts) (paths []string, err error) {
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
		return nil, err
	}
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder for the figures (--figures): %w", err)
	}
	held, err := outdir.Open(dir, names...)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+".svg")
		if err := f.Save(path); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func distributionOf(s *facts.Sample) (d figure.Distribution) {
	for v, n := range s.Values() {
		d.Values, d.Counts = append(d.Values, v), append(d.Counts, n)
	}
	return d
}
