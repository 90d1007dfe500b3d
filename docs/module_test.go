package docs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/metrics/results"
)

// The section about a module of one's own is carried out, outside the repository and
// without the network.
func TestAModuleOfOnesOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	for _, tool := range []string{"sh", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	checkout, err := filepath.Abs(root)
	require.NoError(t, err)
	var commands []string
	var program, output string
	_, section, found := strings.Cut(read(t, "guides/extend.md"), "\n## A module\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, b := range blocks(section) {
		switch b.language {
		case "sh":
			commands = append(commands, b.text)
		case "go":
			program = b.text
		case "text":
			output = b.text
		}
	}
	require.Len(t, commands, 3)
	clone, setUp, _ := strings.Cut(commands[0], "\n")
	require.Contains(t, clone, "git clone")

	home := t.TempDir()
	if err := os.Symlink(checkout, filepath.Join(home, "gridslot")); err != nil {
		t.Skip(err)
	}
	shell(t, home, setUp)
	mine := filepath.Join(home, "mine")
	require.NoError(t, os.WriteFile(filepath.Join(mine, "main.go"), []byte(program), 0o666))
	require.Equal(t, strings.TrimSpace(output), strings.TrimSpace(shell(t, mine, commands[1])))
	require.LessOrEqual(t, strings.Count(read(t, filepath.Join(mine, "go.mod")), " v"), 20, "modules")

	m, err := results.ReadManifest(filepath.Join(mine, "results"))
	require.NoError(t, err)
	require.Equal(t, "example.org/mine (devel)", m.Program)
	require.Contains(t, m.Version, "v0.0.0 => ")
	t.Chdir(mine)
	for line := range strings.Lines(strings.TrimSpace(commands[2])) {
		args := strings.Fields(strings.TrimPrefix(line, "gridslot "))
		var stdout, stderr strings.Builder
		code := cli.Run(context.Background(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		require.Zero(t, code, "%s: %s", line, stderr.String())
	}
}

// shell runs commands in a folder and returns what they print. The test is
// skipped where a module is wanted that is not in the module cache.
func shell(t *testing.T, folder, commands string) string {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", commands)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil && strings.Contains(problems.String(), "GOPROXY=off") {
		t.Skipf("the module cache lacks something: %s", problems.String())
	}
	require.NoError(t, err, problems.String())
	return string(out)
}
