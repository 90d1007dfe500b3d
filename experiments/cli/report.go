package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/interrupt"
	htmlreport "github.com/gridslot/gridslot/experiments/report"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics/results"
)

// newReport is `gridslot report`. A folder of simulations and one of a study have pages of their
// own. What a study's results say can be had as a table, too.
func newReport(env Env) *cobra.Command {
	var out string
	var tables resultTables
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write a page of what simulate has left in a folder, with a Gantt chart",
		Long: `Write one page of HTML from the results of simulate --out DIR: summary, settings,
warnings, an interactive Gantt chart, busy processors and the queue over time. The
page needs no network and no other file.

The page of a study has its plan and failures, means with intervals, comparisons,
rankings, heat maps, sensitivities, and links to the kept files of single runs.

With --table FORMAT a study gives a table in place of the page. Each cell has the mean
over its seeds (or weeks, if there is no chance) with an interval. The best values are
bold; a star marks a significant difference from the baseline. If the study varies
more than rows and columns show, there is one table for each further value. With
--table, DIR may also be any CSV file with a row for each run.`,
		Example: `  gridslot simulate --policy fcfs,easy --out results
  gridslot report results
  gridslot report results -o easy.html
  gridslot report study --table markdown --difference --rows trace,policy --columns load
  gridslot report mine.csv --table latex --parameters policy,load --measure wait`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if tables.format != "" {
				table := func(w io.Writer) error {
					return interrupt.Write(cmd.Context(), w, func(w io.Writer) error { return tables.write(w, args[0]) })
				}
				if out != "" {
					return atomicfile.WriteNamed(out, table)
				}
				return table(cmd.OutOrStdout())
			}
			if flag := firstGiven(cmd, "out", "table"); flag != "" {
				return usagef("--%s is about a table: say --table FORMAT, too", flag)
			}
			return writePage(cmd, env, args[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: DIR/report.html; standard output for a table)")
	tables.addFlags(cmd)
	return cmd
}

// writePage writes the page of a folder to the file out, or else into the folder.
func writePage(cmd *cobra.Command, env Env, dir, out string) error {
	path, write := filepath.Join(dir, "report.html"), atomicfile.Write
	if out != "" {
		path, write = out, atomicfile.WriteNamed
	}
	page := func(w io.Writer) error { return htmlreport.WriteStudy(w, dir) }
	if !isStudy(dir) {
		folder, err := results.Open(dir)
		if err != nil {
			return err
		}
		page = func(w io.Writer) error { return htmlreport.Write(w, folder) }
		if size := jobsSize(dir); size >= tellFrom {
			teller(env.Stderr)("%s has %d MB of jobs: their page takes about %d MB of memory while it is made", dir, size>>20, size*memoryOfRow>>20)
		}
	}
	if err := write(path, func(w io.Writer) error { return interrupt.Write(cmd.Context(), w, page) }); err != nil {
		return err
	}
	teller(env.Stderr)("written: %s", path)
	return nil
}

// A large page says beforehand what it takes.
const (
	tellFrom    = 40 << 20 // bytes of jobs, some 200,000 rows, from which on a page is large
	memoryOfRow = 10       // times the bytes of jobs: 842 MB were measured of 82 MB, two policies on CEA-Curie
)

// jobsSize returns how many bytes the jobs files of a folder of results have; 0 if it cannot be
// read.
func jobsSize(dir string) (size int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // opening the folder tells
	}
	for _, e := range entries {
		jobs, _ := filepath.Match("jobs-*.csv", e.Name())
		if info, err := e.Info(); jobs && err == nil {
			size += info.Size()
		}
	}
	return size
}
