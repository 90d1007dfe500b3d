package schema

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write docs/reference/schema.md anew")

func TestThePageIsMadeFromTheData(t *testing.T) {
	const page = "../../docs/reference/schema.md"
	if *rewrite {
		require.NoError(t, os.WriteFile(page, []byte(Markdown()), 0o666))
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, string(text) == Markdown(), "go test ./metrics/schema -rewrite writes it anew")
}

// What the page of files says of a file stands between its heading and the next one.
func TestThePageOfFilesTellsOfEveryColumn(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/files.md")
	require.NoError(t, err)
	for _, f := range Files() {
		prefix, _ := f.prefix()
		switch f.Name {
		case "local-POLICY.csv", "accounts-POLICY.csv", "clusters-POLICY.csv":
			continue // they stand on the page of grids
		}
		_, section, ok := strings.Cut(string(text), "\n## "+f.Name+"\n")
		require.True(t, ok, f.Name)
		section, _, _ = strings.Cut(section, "\n## ")
		words := strings.FieldsFunc(section, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
		for _, c := range f.Columns {
			require.Contains(t, words, c.Name, "%s%s", prefix, c.Name)
		}
	}
}

func TestFilesAreKnownByTheirNames(t *testing.T) {
	f, ok := Of("jobs-easy-finder=amp.csv")
	require.True(t, ok)
	require.Equal(t, "jobs-POLICY.csv", f.Name)
	f, ok = Of("summary.csv")
	require.True(t, ok)
	require.Equal(t, "policy", f.Columns[0].Name)
	for _, name := range []string{"requests.csv", "jobs-easy.parquet", "summary.csv.gz", "xjobs-easy.csv"} {
		_, ok = Of(name)
		require.False(t, ok, name)
	}
}

func TestColumnsHaveTheirOrder(t *testing.T) {
	f, _ := Of("prices-css.csv")
	columns, err := f.Header([]string{"time", "node", "owner", "price"})
	require.NoError(t, err)
	require.Equal(t, Number, columns[3].Type)
	_, err = f.Header([]string{"node", "time"})
	require.ErrorContains(t, err, `prices-POLICY.csv has no column "time" at this place`)
}
