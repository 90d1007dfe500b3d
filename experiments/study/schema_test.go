package study

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

const schemaPath = "../../docs/reference/study.schema.json"

func TestTheSchemaIsThatOfTheReader(t *testing.T) {
	if *rewrite {
		require.NoError(t, os.WriteFile(schemaPath, studySchema(), 0o666))
	}
	text, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	require.Equal(t, string(studySchema()), string(text), "go test ./experiments/study -rewrite")
	var s struct{ Properties map[string]any }
	require.NoError(t, json.Unmarshal(text, &s))
	for _, name := range known() {
		require.Contains(t, s.Properties, name)
	}
}

const page = "../../docs/reference/study.md"

// Each key has a row on the page, with the text of the table.
func TestThePageHasAllKeys(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, table := range [][]key{keys, keysOf(limitYAML{}), keysOf(sampleYAML{}), keysOf(rangeYAML{})} {
		for _, k := range table {
			require.Contains(t, string(text), "| `"+k.name+"` | "+k.text+" |")
		}
	}
	for _, name := range simulation.SettingNames() {
		if !slices.Contains([]string{"policy", "trace", "seed"}, name) {
			require.Contains(t, string(text), "`"+name+"`")
		}
	}
	for _, kind := range simulation.FileKinds() {
		require.Contains(t, string(text), "`"+kind+"`")
	}
}

// examples are the studies of a page.
func examples(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n## The study file\n") // a scenario stands before it
	if !found {
		after = string(text)
	}
	var all []string
	for i, part := range strings.Split(after, "```") {
		if study, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			all = append(all, study)
		}
	}
	return all
}

// The examples stand for whole studies: each is read, checked and planned beside
// files of the names that it uses.
func TestTheExamplesOfThePagesAreStudies(t *testing.T) {
	beside := map[string]string{
		"kth.swf": tiny, "ctc.swf": tiny, "sdsc.swf": tiny, "failures-1.csv": "from,to,processors\n", "failures-2.csv": "from,to,processors\n",
		"organisation.yaml": domainFile, "large.yaml": domainFile, "nodes.csv": nodesFile,
		"cluster.yaml": "processors: 4\nworkload: {trace: kth.swf}\n",
	}
	for page, least := range map[string]int{page: 8, "../../docs/guides/studies.md": 1} {
		all := examples(t, page)
		require.GreaterOrEqual(t, len(all), least)
		for _, text := range all {
			content := maps.Clone(beside)
			content["study.yaml"] = text
			f, err := Open(filepath.Join(files(t, content), "study.yaml"), nil)
			require.NoError(t, err, text)
			s, err := f.Study("test")
			require.NoError(t, err, text)
			_, err = s.Plan()
			require.NoError(t, err, text)
		}
	}
}
