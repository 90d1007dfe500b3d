package cli

// Tables of `gridslot report --table`: what a study's results say of its cases.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/findings"
)

// resultTables are the tables that flags describe, of a study's folder or of any table with a row a
// run.
type resultTables struct {
	format string // "" where no table is wanted
	pivot  findings.Pivot
	// measures are the columns of which there is a table each; none is the study's first measure.
	measures   []string
	options    findings.Options
	parameters []string         // columns of a table of the user's own
	baseline   []findings.Param // what replaces the study's own baseline
}

// addFlags defines the flags.
func (t *resultTables) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	formats := strings.Join(findings.Formats(), "|")
	parsedFlag(cmd, &t.format, "table", "", formats, "tables of a study's results in this format", optional(oneOf(formats)))
	f.StringSliceVar(&t.measures, "measure", nil, "columns, a table each (default: the study's first measure)")
	f.StringSliceVar(&t.pivot.Rows, "rows", nil, "parameters, or all for a single table (default: what is compared)")
	f.StringSliceVar(&t.pivot.Columns, "columns", nil, "parameters (default: one that varies beside them, with numbers if there is any)")
	parsedFlag(cmd, &t.options.Where, "where", "", "NAME=VALUE,...", "only cases with these values, of several of one name any", optional(parseParams))
	f.BoolVar(&t.pivot.Difference, "difference", false, "differences from the baseline in per cent, in place of means")
	f.StringVar(&t.options.Compare, "compare", "", "parameter whose values are compared (default: the study's, or policy)")
	parsedFlag(cmd, &t.baseline, "baseline", "", "NAME=VALUE,...", "what the others are compared with (default: the study's, or the first value)", optional(parseParams))
	f.Float64Var(&t.options.Level, "level", 0.95, "of intervals and tests")
	f.StringSliceVar(&t.parameters, "parameters", nil, "of a table of your own: columns that are parameters (default: those in front of the column seed)")
}

// parseParams reads values of parameters, policy=easy,load=0.7, for flags that choose cases.
func parseParams(text string) (params []findings.Param, err error) {
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("want NAME=VALUE, or several with commas between them, not %q", text)
		}
		params = append(params, findings.Param{Name: name, Value: value})
	}
	return params, nil
}

// findings analyses a study's folder, or any table in a file. What the study says of measures,
// labels and the comparison counts unless a flag says otherwise.
func (t *resultTables) findings(path string) (*findings.Findings, error) {
	o := t.options
	var table *findings.Results
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if table, err = findings.Read(f, path, t.parameters...); err != nil {
			return nil, err
		}
	} else {
		if table, err = findings.Open(path); err != nil {
			return nil, err
		}
		of, err := study.Options(path)
		if err != nil {
			return nil, err
		}
		o.Measures, o.Labels = of.Measures, of.Labels
		if o.Compare == "" && len(t.baseline) == 0 {
			o.Compare, o.Baseline = of.Compare, of.Baseline
		}
	}
	if len(t.baseline) > 0 {
		o.Baseline = t.baseline
	}
	return findings.Analyze(table, o)
}

// write writes the tables of a study's folder, or of a file.
func (t *resultTables) write(w io.Writer, path string) error {
	f, err := t.findings(path)
	if err != nil {
		return err
	}
	measures := t.measures
	if len(measures) == 0 {
		measures = f.Options.Measures[:1]
	}
	// A measure that is not among the usual ones needs an analysis of its own.
	if slices.ContainsFunc(measures, func(m string) bool { return !slices.Contains(f.Options.Measures, m) }) {
		o := f.Options
		o.Measures = measures
		if f, err = findings.Analyze(f.Results, o); err != nil {
			return usagef("--measure: %w", err)
		}
	}
	var grids []findings.Grid
	for _, measure := range measures {
		layout := t.pivot
		layout.Measure = measure
		if slices.Equal(layout.Rows, []string{"all"}) {
			one := f.InOne(measure)
			layout.Rows, layout.Columns = one.Rows, one.Columns
		}
		of, err := f.Grids(layout)
		var unknown *enum.UnknownError
		if errors.As(err, &unknown) {
			return usagef("%w", err)
		}
		if err != nil {
			return err
		}
		grids = append(grids, of...)
	}
	return findings.Write(w, grids, t.format)
}
