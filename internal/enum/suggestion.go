package enum

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
)

// mostMistakes is the largest number of mistakes in a name that is still taken for a known name. A
// short name may have fewer: less than half of its letters.
const mostMistakes = 2

// Suggestion returns what to say behind an unknown name: the known name that is most like it, or
// "" if all are too different. It is the one text of suggestions, for keys of files, flags,
// commands, policies and whatever else has a name.
func Suggestion(name string, known []string) string {
	if !strings.ContainsFunc(name, unicode.IsLetter) { // numbers are not written wrongly, but other numbers
		return ""
	}
	best, least := "", mostMistakes+1
	for _, k := range known {
		if k == plural(name) || name == plural(k) {
			return fmt.Sprintf(": did you mean %q?", k)
		}
		if d := editDistance(name, k); d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// plural returns the plural of a word that ends in y: policies for policy. Other plurals are one
// mistake away.
func plural(word string) string {
	if stem, ends := strings.CutSuffix(word, "y"); ends {
		return stem + "ies"
	}
	return word
}

// SuggestionOrAll returns the suggestion or, if all names are too different, all of them.
func SuggestionOrAll(name string, known []string) string {
	return cmp.Or(Suggestion(name, known), ": there are "+strings.Join(known, ", "))
}

// editDistance returns how many letters must be changed, added, left out or swapped with their
// neighbour to make b of a (optimal string alignment). d[i][j] is the distance of the first i
// letters of a and the first j letters of b.
func editDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
