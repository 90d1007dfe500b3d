package slurm

import (
	"errors"
	"strings"
)

// Words are those of a text as a shell would read it: between blanks, which ' and "
// keep together. Nothing else means anything.
func Words(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			end()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation mark has no second one")
	}
	end()
	return words, nil
}
