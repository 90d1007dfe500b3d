package rows

// The page docs/reference/files.md, whose tables are made from the files of this package.

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of docs/reference/files.md anew")

// What stands between these lines of the page is made from Schemas.
const (
	tablesBegin = "<!-- The tables are made from metrics/rows: go test ./metrics/rows -rewrite -->\n"
	tablesEnd   = "<!-- The end of the tables -->\n"
)

// section is what the page says of a file.
func (s *schema) section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s", s.Name, s.text)
	if s.when != "" {
		fmt.Fprintf(&b, " Written %s.", s.when)
	}
	b.WriteString("\n\n")
	condition := "" // of the list
	for i, c := range s.Columns {
		alone := c.When != "" && (i == 0 || s.Columns[i-1].When != c.When) && (i+1 == len(s.Columns) || s.Columns[i+1].When != c.When)
		if !alone && c.When != condition {
			condition = c.When
			fmt.Fprintf(&b, "\nColumns %s:\n\n", cmp.Or(condition, "of all runs"))
		}
		fmt.Fprintf(&b, "* `%s`%s: %s", c.Name, c.kind(), c.Text)
		if alone {
			fmt.Fprintf(&b, " *(only %s)*", c.When)
		}
		b.WriteString("\n")
	}
	if s.notes != "" {
		b.WriteString("\n" + s.notes + "\n")
	}
	return b.String()
}

// kind is the type of the column in brackets, or the unit of its numbers if it has one. An
// integer without a unit has no brackets: most columns are such.
func (m *meaning) kind() string {
	switch {
	case m.Unit == "" && m.Type == integer:
		return ""
	case m.Unit == "":
		return " (" + m.Type.String() + ")"
	case m.Type == integer:
		return " (integer, " + m.Unit + ")"
	}
	return " (" + m.Unit + ")"
}

func TestTheTablesOfThePageAreMadeFromTheFiles(t *testing.T) {
	const page = "../../docs/reference/files.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	head, rest, begins := strings.Cut(string(text), tablesBegin)
	_, tail, ends := strings.Cut(rest, tablesEnd)
	require.True(t, begins && ends)
	var tables strings.Builder
	for _, s := range Schemas() {
		if s.Name == "controller-events-POLICY.csv" {
			continue // controller-events.csv of a phase, as slurm-events-POLICY.csv is told
		}
		if s.Name == "slurm-events-POLICY.csv" || s.Name == "controller-events.csv" {
			fmt.Fprintf(&tables, "\n## %s\n\nThe same as slurm-events.csv %s.\n", s.Name, s.when)
			continue
		}
		tables.WriteString(s.section())
	}
	want := head + tablesBegin + tables.String() + "\n" + tablesEnd + tail
	if *rewrite {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o666))
		return
	}
	require.True(t, string(text) == want, "go test ./metrics/rows -rewrite writes it anew")
}
