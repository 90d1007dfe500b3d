package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// The comment of an exported name begins with a noun, too: go doc shows it without its neighbours, and
// "X is what ..." leaves the reader to find out what X is.
func TestExportedNamesHaveNouns(t *testing.T) {
	vague := regexp.MustCompile(`^(?:Package \w+|[A-Z]\w*(?:(?:, \w+)* and \w+)?(?:, if (?:set|given),)?) (?:is|are) (?:what|that|how|where|who)\b`)
	require.Regexp(t, vague, "Rate is what was submitted.")
	require.Regexp(t, vague, "From, To and At are where it begins.")
	require.NotRegexp(t, vague, "Rate is the load that was submitted: it is what policies see.")
	seen := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			var text *ast.CommentGroup
			switch n := n.(type) {
			case *ast.File:
				text = n.Doc
			case *ast.GenDecl:
				text = n.Doc
			case *ast.FuncDecl:
				text = n.Doc
			case *ast.TypeSpec:
				text = n.Doc
			case *ast.ValueSpec:
				text = n.Doc
			case *ast.Field:
				text = n.Doc
			}
			if text != nil {
				seen++
				first, _, _ := strings.Cut(text.Text(), "\n\n")
				assert.NotRegexp(t, vague, strings.Join(strings.Fields(first), " "), "%s", files.Position(text.Pos()))
			}
			return true
		})
		return nil
	}))
	require.Greater(t, seen, 1000) // the code was found
}
