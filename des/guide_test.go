package des_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The guide's program is the example that is run here, as a program of its own.
func TestTheGuideShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("gridsim_example_test.go")
	require.NoError(t, err)
	program, output, found := strings.Cut(string(source), "\t// Output:\n")
	require.True(t, found)
	program = strings.Replace(program, "package des_test", "package main", 1)
	program = strings.Replace(program, "func ExampleEntity() {", "func main() {", 1) + "}\n"
	output = strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\t// ", "")

	guide, err := os.ReadFile("../docs/guides/from-gridsim-and-cloudsim.md")
	require.NoError(t, err)
	require.Contains(t, string(guide), "```go\n"+program+"```\n")
	require.Contains(t, string(guide), "```text\n"+output+"```\n")
}
