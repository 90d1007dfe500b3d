package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

func rowsOf(text string, columns ...string) *Rows {
	t := &Rows{Tally: &workload.Tally{}, l: &Columns{}, Source: &log{lines: scan.NewLines(strings.NewReader(text)), columns: columns, form: &Form{Separator: ',', Quotes: true, Plain: true, Least: len(columns)}}}
	for at, name := range columns {
		t.l.Fields, t.at = append(t.l.Fields, Field{Name: name}), append(t.at, at)
	}
	return t
}

func TestEveryLineIsCounted(t *testing.T) {
	tab := rowsOf("a,b\n1,2\n\n3\n4,x\n5,,7\n6,\n-1,2.5\n"+strings.Repeat("9", 1<<19)+"\n9e999,1\na,b\n", "a", "b")
	var rows []string
	for tab.NextRow() {
		a, b := tab.Seconds(0), tab.Whole(1)
		if !tab.Wrong() {
			rows = append(rows, fmt.Sprint(tab.Line(), a == workload.UnknownTime, float64(a)/float64(des.Second), b))
		}
	}
	require.NoError(t, tab.Err())
	require.Equal(t, []string{"2 false 1 2", "6 false 5 -1", "7 false 6 -1"}, rows)
	report := tab.Tally.Report()
	require.EqualValues(t, 9, report.Lines)
	require.EqualValues(t, 6, report.Total(workload.Damaged))
	require.EqualValues(t, 1, report.Count(workload.ExtraFields))
	require.EqualValues(t, 1, report.Count(workload.TooFewFields))
	require.EqualValues(t, 1, report.Count(workload.LineTooLong))
	require.EqualValues(t, 3, report.Count(workload.NotANumber), "a heading stands in the first line alone")
	require.EqualValues(t, 1, report.Count(workload.NotWhole))
}

func TestNoLineOfADataSetIsACommentOrRunsOn(t *testing.T) {
	tab := rowsOf("#1,2\n3,\"4\n5,6\n", "a", "b")
	lines := 0
	for tab.NextRow() {
		lines++
		tab.Whole(0)
	}
	require.Equal(t, 3, lines)
	require.EqualValues(t, 1, tab.Tally.Report().Count(workload.NotANumber), "#1")
	require.Zero(t, tab.Tally.Report().Count(workload.CommentNotKept))
}
