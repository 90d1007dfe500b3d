// Package csvtext makes names from anybody's files harmless in the files of a run.
package csvtext

import (
	"strings"
	"unicode"
)

// Of is a name or a reason as the CSV files of a run have it: with blanks in place of
// control characters, and with a ' in front where a spreadsheet would take it for a
// formula.
func Of(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
