package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// everyCommand visits a command and those below it.
func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		everyCommand(c, visit)
	}
}

func TestHelpOfACommandFitsOnAScreen(t *testing.T) {
	var paths []string
	everyCommand(newRoot(Env{}), func(cmd *cobra.Command) { paths = append(paths, cmd.CommandPath()) })
	for _, path := range paths {
		got := succeed(t, append(strings.Fields(path)[1:], "--help")...)
		lines := strings.Split(strings.TrimRight(got.stdout, "\n"), "\n")
		require.LessOrEqual(t, len(lines), 60, path)
		for _, line := range lines {
			if !strings.Contains(path, "sweep") { // whose flags are sentences
				require.LessOrEqual(t, utf8.RuneCountInString(line), 140, "%s: %s", path, line)
			}
		}
	}
}

// A value that may be missing comes behind "=": in "--check 5" the 5 would be a log, and in "--anonymise users"
// the file to write.
func TestHelpShowsHowAValueIsGiven(t *testing.T) {
	for path, wants := range map[string][]string{
		"trace info":    {"\n  --check[=N] ", "\n  --users[=RULE] ", "\n  --figures DIR ", "\n  --sort "},
		"trace convert": {"\n  --anonymise[=FIELD,FIELD] ", "\n  --apart[=FIELD,FIELD] ", "\n  --first N ", "\n  --shift "},
	} {
		got := succeed(t, append(strings.Fields(path), "--help")...)
		for _, want := range wants {
			require.Contains(t, got.stdout, want)
		}
	}
}

// Flags are defined where they are needed; a setting of a run is one row, whoever has it. Of the
// 150 two came with --until, --save and --resume, three with --slurm, --accounts and --phases, seven with bound, and
// one with --bounds, which no flag could give way to.
func TestFlagsAreFew(t *testing.T) {
	flags := 0
	everyCommand(newRoot(Env{}), func(cmd *cobra.Command) { cmd.LocalFlags().VisitAll(func(*pflag.Flag) { flags++ }) })
	require.LessOrEqual(t, flags, 150, "a new flag takes the place of another, or is a parameter of one")
}

func TestEveryTopicOfHelpHasItsTable(t *testing.T) {
	for topic, wants := range map[string][]string{
		"policies": {"easy-sjbf", "reservations=none|N|all"}, "node-policies": {"css", "bsf"}, "strategies": {"cheapest"}, "finders": {"amp"},
		"sources": {"lublin", "DIST is one of"}, "made": {"vo", "platform"}, "users": {"long-term=N"}, "formats": {"sacct", "zone=AREA/CITY"},
		"outages": {"weibull"}, "victims": {"checkpoint"}, "predictors": {"recent"}, "correctors": {"tsafrir"}, "moldable": {"amdahl"},
		"settings": {"estimates user|exact|factor:F|tsafrir|tsafrir:max=T|fmodel:F"},
	} {
		got := succeed(t, "help", topic)
		for _, want := range wants {
			require.Contains(t, got.stdout, want, topic)
		}
		require.Contains(t, call("help").stdout, topic)
	}
	require.Equal(t, call("simulate", "--help").stdout, call("help", "simulate").stdout)
	require.Contains(t, call("__complete", "help", "").stdout, "policies\n")
	require.Equal(t, exitUsage, call("help", "nothing").code)
}
