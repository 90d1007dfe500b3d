package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of the reference pages anew")

const (
	pageOfTheCommand  = "../../docs/reference/cli.md"
	pageOfTheScenario = "../../docs/reference/scenario.md"
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
