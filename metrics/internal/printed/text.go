package printed

import (
	"strings"
	"unicode"
)

// Text is text with a question mark in place of each character that would not show
// but do something: control characters, those that begin an ANSI sequence among
// them, and those that turn the direction of writing.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			return '?'
		}
		return r
	}, text)
}
