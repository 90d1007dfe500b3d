package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/entity/atomicfile"
	htmlreport "github.com/gridslot/gridslot/experiments/report"
	"github.com/gridslot/gridslot/metrics/results"
)

func newReport(env Env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write a page of what simulate has left in a folder, with a Gantt chart",
		Long: `Write what simulate --out DIR has left as one page of HTML: summary, settings,
warnings, and an interactive Gantt chart with what is busy and what waits. The
page holds all that it shows: it can be opened without a network, and sent on.

Of a study, which sweep has left, the page has the plan and what failed, means with
intervals, comparisons, rankings, heat maps, sensitivities, and links to the files
of single runs that were kept.`,
		Example: `  gridslot simulate --policy fcfs,easy --out results
  gridslot report results
  gridslot report results -o easy.html`,
		Args: arguments(1, 1, "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, write := filepath.Join(args[0], "report.html"), atomicfile.Write
			if out != "" {
				path, write = out, atomicfile.WriteNamed
			}
			page := func(w io.Writer) error { return htmlreport.WriteStudy(w, args[0]) }
			if !isStudy(args[0]) {
				folder, err := results.Open(args[0])
				if err != nil {
					return err
				}
				page = func(w io.Writer) error { return htmlreport.Write(w, folder) }
				if size := jobsSize(args[0]); size >= tellFrom {
					teller(env.Stderr)("%s has %d MB of jobs: their page takes about %d MB of memory while it is made", args[0], size>>20, size*memoryOfRow>>20)
				}
			}
			if err := write(path, page); err != nil {
				return err
			}
			teller(env.Stderr)("written: %s", path)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: DIR/report.html)")
	return cmd
}

const (
	tellFrom    = 40 << 20 // bytes of jobs, some 200,000 rows, from which on a page says beforehand what it takes
	memoryOfRow = 10       // times the bytes of jobs: 842 MB were measured of 82 MB, two policies on CEA-Curie
)

// jobsSize is how many bytes the jobs files of a folder of results have.
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
