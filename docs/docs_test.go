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
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
)

const root = ".."

// pages are those at the top and all below docs.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}
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

func TestLinksLeadToFilesAndHeadings(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)
	var lost []string
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			_, err := os.Stat(target)
			if err != nil || m[2] != "" && strings.HasSuffix(target, ".md") && !slices.Contains(anchors(read(t, target)), m[2]) {
				lost = append(lost, page+": "+m[1]+m[2])
			}
		}
	}
	require.Empty(t, lost)
}

// Comments of programs name pages from the top of the repository on.
func TestPagesThatProgramsNameAreThere(t *testing.T) {
	named := regexp.MustCompile(`docs/[\w/-]+\.md`)
	var lost []string
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(path, ".go") {
			return err
		}
		for _, page := range named.FindAllString(read(t, path), -1) {
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				lost = append(lost, path+": "+page)
			}
		}
		return nil
	}))
	require.Empty(t, lost)
}

// anchors are what links can name of a page: its headings, as GitHub writes them, and what
// `<a id="NAME">` names.
func anchors(page string) []string {
	var found []string
	other := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		found = append(found, "#"+m[1])
	}
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 1 {
			continue // a block of code
		}
		for line := range strings.Lines(part) {
			if heading, ok := strings.CutPrefix(line, "#"); ok {
				heading = strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
				found = append(found, "#"+strings.ReplaceAll(other.ReplaceAllString(heading, ""), " ", "-"))
			}
		}
	}
	return found
}

func TestProgramsAndTheirOutputAreTested(t *testing.T) {
	var tested strings.Builder
	for _, pattern := range []string{"tutorial/*_test.go", "tutorial/*/*.go", "guides/*/*.go", "../policy/agent/oar.go"} {
		for _, file := range glob(t, pattern) {
			tested.WriteString(flat(read(t, file)) + "\n")
		}
	}
	checked := 0
	for _, page := range append([]string{filepath.Join(root, "README.md"), "start.md"}, glob(t, "guides/*.md")...) {
		for _, b := range blocks(read(t, page)) {
			if b.language == "go" || b.language == "text" {
				require.Contains(t, tested.String(), flat(b.text), "in %s", page)
				checked++
			}
		}
	}
	require.GreaterOrEqual(t, checked, 60)
}

func glob(t *testing.T, pattern string) []string {
	found, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// A program that no page names is found by nobody.
func TestEveryProgramIsNamedByAPage(t *testing.T) {
	var all strings.Builder
	for _, page := range append(glob(t, "guides/*.md"), "start.md") {
		all.WriteString(strings.ReplaceAll(read(t, page), "](guides/", "]("))
	}
	for _, folder := range glob(t, "guides/*/main.go") {
		name := filepath.Base(filepath.Dir(folder))
		require.True(t, strings.Contains(all.String(), "]("+name+"/") || strings.Contains(all.String(), "./docs/guides/"+name+" "), name)
	}
}

// The index of the pages names them all.
func TestEveryPageIsInTheIndex(t *testing.T) {
	index := read(t, "README.md")
	for _, pattern := range []string{"concepts.md", "start.md", "guides/*.md", "reference/*.md", "papers/*.md"} {
		for _, page := range glob(t, pattern) {
			require.Contains(t, index, "("+filepath.ToSlash(page)+")")
		}
	}
}

func TestCommandsOfTheTutorialWork(t *testing.T) {
	sample, err := filepath.Abs(filepath.Join(root, "traces"))
	require.NoError(t, err)
	var commands []string
	for _, b := range blocks(read(t, "start.md")) {
		for line := range strings.Lines(b.text) {
			if args, ok := strings.CutPrefix(line, "go run . "); ok && b.language == "sh" {
				commands = append(commands, args)
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

// What the citation says is what the program and the licence say.
func TestTheCitationIsOfThisVersion(t *testing.T) {
	citation := read(t, filepath.Join(root, "CITATION.cff"))
	require.Contains(t, citation, "cff-version: 1.2.0\n")
	require.Contains(t, citation, "\nversion: "+cli.Version+"\n")
	require.Contains(t, citation, "\nlicense: MIT\n")
	require.Contains(t, read(t, filepath.Join(root, "LICENSE")), "MIT License")
}
