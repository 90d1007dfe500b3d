package printed

import (
	"strings"
	"unicode"
)

// Text returns a text with a question mark in place of each character that would not show but do
// something: control characters, among them those that begin an ANSI sequence, and characters that
// turn the direction of writing.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			return '?'
		}
		return r
	}, text)
}
