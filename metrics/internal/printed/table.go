package printed

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Column is a column of a table for people.
type Column[T any] struct {
	Title string
	Cell  func(T) string
}

// WriteTable writes an aligned table: the first column to the left, the others to
// the right.
func WriteTable[T any](w io.Writer, columns []Column[T], rows []T) error {
	width := make([]int, len(columns))
	table := make([][]string, 1+len(rows))
	for c, column := range columns {
		table[0] = append(table[0], column.Title)
		for i, s := range rows {
			table[i+1] = append(table[i+1], column.Cell(s))
		}
		for _, row := range table {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
	}
	var b strings.Builder
	for _, row := range table {
		fmt.Fprintf(&b, "%-*s", width[0], row[0])
		for c := 1; c < len(row); c++ {
			fmt.Fprintf(&b, "  %*s", width[c], row[c])
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Clock writes a duration in seconds: "12d 3:04:05" from a minute on, "12.3s" below, "3.6ms" below
// a tenth of a second. Milliseconds are rare among jobs: mostly they tell of a time that was given
// without its unit, in ticks.
func Clock(seconds float64) string {
	if seconds > 0 && seconds < 0.1 {
		return strconv.FormatFloat(1000*seconds, 'g', 3, 64) + "ms"
	}
	// From 59.95 on one decimal would round to 60.0s.
	if seconds < 59.95 {
		return strconv.FormatFloat(seconds, 'f', 1, 64) + "s"
	}
	t := int64(seconds + 0.5)
	days := ""
	if d := t / 86400; d > 0 {
		days = Int(int(d)) + "d "
	}
	t %= 86400
	return fmt.Sprintf("%s%d:%02d:%02d", days, t/3600, t/60%60, t%60)
}
