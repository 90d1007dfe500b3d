// Package csvtext makes names from anybody's files harmless in the files of a run, and
// says in plain words what is wrong with a file.
package csvtext

import (
	"encoding/csv"
	"errors"
	"strings"
	"unicode"
)

// Of returns a name or a reason as the CSV files of a run have it: with blanks in place of control
// characters, and with a ' in front if a spreadsheet would take it for a formula.
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

// Wanted says what a reader of CSV wants, in plain words.
func Wanted(err *csv.ParseError) string {
	switch {
	case errors.Is(err, csv.ErrBareQuote):
		return `a field with a " in it stands in quotes, and has the " twice`
	case errors.Is(err, csv.ErrQuote):
		return `a field in quotes ends with a ", and a comma or the end of the line follows`
	case errors.Is(err, csv.ErrFieldCount):
		return "the line has more fields than the first one, or fewer"
	}
	return "it cannot be read"
}
