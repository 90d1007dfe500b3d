package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of the reference pages anew")

const (
	pageOfTheCommand  = "../../docs/reference/cli.md"
	pageOfTheScenario = "../../docs/reference/study.md"
	beginOfSettings   = "<!-- settings: written by go test ./experiments/cli -run Reference -rewrite -->\n"
	endOfSettings     = "<!-- end of settings -->\n"
)

// settingsTable is the table of settings on the page of the command.
func settingsTable() string {
	marks := map[simulation.Topic]string{simulation.OfRecords: "i, c", simulation.OfEstimates: "c"}
	bars := strings.NewReplacer("|", `\|`)
	var b strings.Builder
	b.WriteString("| setting | default | | |\n| --- | --- | --- | --- |\n")
	for _, s := range simulation.SettingTable() {
		name, value := "--"+s.Name, ""
		if s.Topic == 0 {
			name = "TRACE, `trace`"
		} else {
			name = "`" + strings.TrimSpace(name+" "+bars.Replace(s.Form)) + "`"
		}
		if s.Default != "" && s.Form != "" {
			value = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, value, bars.Replace(s.Doc), marks[s.Topic])
	}
	return b.String()
}

func TestTheReferenceOfSettingsIsTheirTable(t *testing.T) {
	page := read(t, pageOfTheCommand)
	before, rest, begins := strings.Cut(page, beginOfSettings)
	_, after, ends := strings.Cut(rest, endOfSettings)
	require.True(t, begins && ends)
	made := before + beginOfSettings + settingsTable() + endOfSettings + after
	if *rewrite {
		require.NoError(t, os.WriteFile(pageOfTheCommand, []byte(made), 0o666))
	}
	require.Equal(t, made, read(t, pageOfTheCommand), "go test ./experiments/cli -run Reference -rewrite")
}

func TestTheReferenceOfScenariosHasTheKeysOfEachSection(t *testing.T) {
	keys := map[string][]string{}
	for _, s := range simulation.SettingTable() {
		if s.Section != "" {
			keys[s.Section] = append(keys[s.Section], "`"+s.Name+"`")
		}
	}
	page := read(t, pageOfTheScenario)
	for section, names := range keys {
		require.Contains(t, page, "| `"+section+"` | "+strings.Join(names, ", ")+" |")
	}
}

// flagsOfOthers are flags that pages name of other programs: Slurm's commands, Batsim, container
// tools, git and valgrind.
var flagsOfOthers = strings.Fields(`allocations allusers array cpus-per-task delimiter duplicates endtime for help idle-- json
	master-host mmax-workload name noconvert parsable parsable2 partition requeue starttime stat states time timeout tool version wanted--`)

func TestFlagsThatPagesNameExist(t *testing.T) {
	known := slices.Clone(flagsOfOthers)
	everyCommand(newRoot(Env{}), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	})
	named := regexp.MustCompile(`--([a-z][a-z0-9-]+)`)
	checked, unknown := 0, []string{}
	for _, folder := range []string{"reference", "guides", "design", "papers"} {
		pages, err := filepath.Glob("../../docs/" + folder + "/*.md")
		require.NoError(t, err)
		for _, page := range append(pages, "../../README.md", "../../docs/start.md", "../../docs/concepts.md") {
			for _, m := range named.FindAllStringSubmatch(read(t, page), -1) {
				if checked++; !slices.Contains(known, m[1]) {
					unknown = append(unknown, page+": --"+m[1])
				}
			}
		}
	}
	require.Empty(t, unknown)
	require.Greater(t, checked, 300)
}
