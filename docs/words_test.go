package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Pages stay short: what is longer belongs into a table, into a CSV file beside the page, or into
// the history of the repository. The bounds are in words.
func TestPagesStayShort(t *testing.T) {
	for _, c := range []struct {
		pattern string
		words   int
	}{
		{"CHANGELOG.md", 800},
		{"papers/*.md", 2_000},
		{"design/*.md", 2_400},
		{"reference/performance.md", 1_500},
		{"reference/*.md", 6_000},
	} {
		for _, page := range glob(t, c.pattern) {
			require.LessOrEqual(t, len(strings.Fields(read(t, page))), c.words, page)
		}
	}
	require.LessOrEqual(t, len(glob(t, "design/*.md")), 6)
	require.LessOrEqual(t, len(glob(t, "papers/*.md")), 4)
	words := 0
	for _, page := range pages(t) {
		words += len(strings.Fields(read(t, page)))
	}
	require.LessOrEqual(t, words, 70_800, "all pages together")
	require.LessOrEqual(t, len(pages(t)), 35) // README.md and CONTRIBUTING.md are two of them
}

// A noun stands where its reader needs it: these words make the reader go back and look for it.
func TestPagesNameTheirNouns(t *testing.T) {
	vague := regexp.MustCompile(`(?i)\b(likewise|that of|those of|the one|the ones|so many)\b`)
	for _, page := range pages(t) {
		for i, part := range strings.Split("\n"+read(t, page), "\n```") {
			if i%2 == 0 { // no block of code
				require.Empty(t, vague.FindAllString(part, -1), page)
			}
		}
	}
}
