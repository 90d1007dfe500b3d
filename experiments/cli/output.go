package cli

// How commands tell what they have found: tables for people, CSV and JSON.

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// printable is the output of a command. As JSON it is written by its own tags, so its fields are
// exported.
type printable interface{ writeTable(page) error }

// tabular is a printable that is a table to programs as well: its rows, the header first.
type tabular interface{ csvRows() [][]string }

// tell writes what has been found in the format that a flag names: "json", "csv", or otherwise a
// page for people.
func tell(cmd *cobra.Command, format string, a printable) error {
	switch format {
	case "json":
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	case "csv":
		table, ok := a.(tabular)
		if !ok {
			return usagef("--format csv: what is told here has no rows")
		}
		return csv.NewWriter(cmd.OutOrStdout()).WriteAll(table.csvRows())
	}
	p := newPage(cmd.OutOrStdout())
	if err := a.writeTable(p); err != nil {
		return err
	}
	return p.Flush()
}

// page is text for people: rows of columns, and sentences between them. Flush ends it.
type page struct {
	*tabwriter.Writer
	to io.Writer // what the columns are written to
}

// newPage returns a page on w. Characters that control a terminal do not get there.
func newPage(w io.Writer) page {
	to := shown{w}
	return page{tabwriter.NewWriter(to, 0, 0, 2, ' ', 0), to}
}

// say ends the columns and writes text as it is: tabs in it make no columns.
func (p page) say(format string, values ...any) error {
	if err := p.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.to, format, values...)
	return err
}

// row writes cells side by side. A row of no cells is an empty line; columns after it have other
// widths.
func (p page) row(cells ...string) { fmt.Fprintln(p, strings.Join(cells, "\t")) }

// fact writes a row of two cells: a name, and what it is.
func (p page) fact(name, format string, values ...any) { p.row(name, fmt.Sprintf(format, values...)) }

// Numbers for people.

// percent returns a share with its sign; hundredths returns the same number without it, for a table
// whose head has the sign.
func percent(share float64) string    { return hundredths(share) + "%" }
func hundredths(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }

// known returns a number with digits places after the point; "-" for 0, which stands for a number
// that is not known.
func known(x float64, digits int) string {
	if x == 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// seconds returns a time with all of its digits.
func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) }
