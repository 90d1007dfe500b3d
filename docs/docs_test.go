// Package docs_test holds the pages to what is true: links lead somewhere,
// programs and their output are those that the tests compile and run, and the
// commands of the tutorial work.
package docs_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
)

const root = ".."

// pages are the README and all pages below docs.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{filepath.Join(root, "README.md")}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// block is a fenced block of a page.
type block struct{ language, text string }

func blocks(page string) []block {
	var found []block
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			found = append(found, block{language, text})
		}
	}
	return found
}

// flat is code without the indentation and comment marks that differ between a
// page and the file that is tested.
func flat(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestLinksLeadToFiles(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if !strings.Contains(m[1], "://") {
				_, err := os.Stat(filepath.Join(filepath.Dir(page), m[1]))
				require.NoError(t, err, "in %s", page)
			}
		}
	}
}

func TestProgramsAndTheirOutputAreTested(t *testing.T) {
	var tested strings.Builder
	for _, pattern := range []string{"tutorial/*_test.go", "tutorial/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			tested.WriteString(flat(read(t, file)) + "\n")
		}
	}
	checked := 0
	for _, page := range append([]string{filepath.Join(root, "README.md")}, tutorial(t)...) {
		for _, b := range blocks(read(t, page)) {
			if b.language == "go" || b.language == "text" {
				require.Contains(t, tested.String(), flat(b.text), "in %s", page)
				checked++
			}
		}
	}
	require.GreaterOrEqual(t, checked, 7)
}

func tutorial(t *testing.T) []string {
	found, err := filepath.Glob("tutorial/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

func TestCommandsOfTheTutorialWork(t *testing.T) {
	sample, err := filepath.Abs(filepath.Join(root, "traces"))
	require.NoError(t, err)
	var commands []string
	for _, page := range tutorial(t) {
		for _, b := range blocks(read(t, page)) {
			for line := range strings.Lines(b.text) {
				if args, ok := strings.CutPrefix(line, "go run . "); ok && b.language == "sh" {
					commands = append(commands, args)
				}
			}
		}
	}
	require.NotEmpty(t, commands)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(sample, "traces"))
	for _, args := range commands {
		var stdout, stderr bytes.Buffer
		code := cli.Run(context.Background(), cli.Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		require.Zero(t, code, "%s: %s", args, stderr.String())
	}
}
