package parquet

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/metrics/schema"
)

// back reads Parquet as rows of text, the heading first; numbers in the shortest form.
func back(t require.TestingT, data []byte) [][]string {
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	var heading []string
	for _, c := range f.Schema().Columns() {
		heading = append(heading, c[0])
	}
	all := [][]string{heading}
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 7)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				var texts []string
				for _, v := range row {
					switch {
					case v.IsNull():
						texts = append(texts, "")
					case v.Kind() == parquet.Double:
						texts = append(texts, strconv.FormatFloat(v.Double(), 'g', -1, 64))
					default:
						texts = append(texts, v.String())
					}
				}
				all = append(all, texts)
			}
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
		require.NoError(t, rows.Close())
	}
	return all
}

// shortest has the numbers of a file in the form that back gives them.
func shortest(t require.TestingT, f *schema.File, rows [][]string) {
	columns, err := f.Header(rows[0])
	require.NoError(t, err)
	for _, row := range rows[1:] {
		for i, c := range columns {
			if c.Type == schema.Number && row[i] != "" {
				v, err := strconv.ParseFloat(row[i], 64)
				require.NoError(t, err)
				row[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
}

func TestWhatIsReadBackIsWhatTheCSVSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(schema.Files()).Draw(t, "file")
		rows := [][]string{nil}
		for _, c := range f.Columns {
			if c.When == "" || rapid.Bool().Draw(t, c.Name) {
				rows[0] = append(rows[0], c.Name)
			}
		}
		columns, err := f.Header(rows[0])
		require.NoError(t, err)
		for range rapid.IntRange(0, 40).Draw(t, "rows") {
			var row []string
			for _, c := range columns {
				text := ""
				if rapid.IntRange(0, 3).Draw(t, "missing") > 0 {
					switch c.Type {
					case schema.Text:
						text = rapid.SampledFrom([]string{"easy", `a "b", c`, "0-3 7", "=1+1", "ü"}).Draw(t, "text")
					case schema.Number:
						text = strconv.FormatFloat(float64(rapid.Int64Range(-1e15, 1e15).Draw(t, "millionths"))/1e6, 'f', 6, 64)
					case schema.Integer:
						text = strconv.FormatInt(rapid.Int64().Draw(t, "integer"), 10)
					case schema.Bit:
						text = rapid.SampledFrom([]string{"0", "1"}).Draw(t, "bit")
					}
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
		var text strings.Builder
		require.NoError(t, csv.NewWriter(&text).WriteAll(rows))
		var out bytes.Buffer
		require.NoError(t, Write(&out, strings.NewReader(text.String()), &f))
		shortest(t, &f, rows)
		require.Equal(t, rows, back(t, out.Bytes()))
	})
}

func TestALongFileIsReadBackWhole(t *testing.T) {
	f, _ := schema.Of("queue-easy.csv")
	var text strings.Builder
	text.WriteString("time,queued_jobs,queued_processors,busy_processors\n")
	for i := range 3*batch + 5 {
		text.WriteString(strconv.Itoa(i) + ",1,2,3\n")
	}
	var out bytes.Buffer
	require.NoError(t, Write(&out, strings.NewReader(text.String()), &f))
	rows := back(t, out.Bytes())
	require.Len(t, rows, 3*batch+6)
	for i, row := range rows[1:] {
		require.Equal(t, strconv.Itoa(i), row[0])
	}
}

func TestWhatIsNotAsTheSchemaSaysIsAnError(t *testing.T) {
	f, _ := schema.Of("queue-easy.csv")
	for text, want := range map[string]string{
		"":                             "EOF",
		"time,load\n":                  `no column "load"`,
		"time,queued_jobs\n1,2\n2,x\n": "line 3, queued_jobs",
		"time,queued_jobs\n1\n":        "wrong number of fields",
	} {
		require.ErrorContains(t, Write(io.Discard, strings.NewReader(text), &f), want)
	}
}

func TestParquetStandsBesideTheCSV(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queue-easy.csv"), []byte("time,queued_jobs\n0.5,2\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.csv"), []byte("a\n1\n"), 0o666))
	require.NoError(t, Beside(dir, "queue-easy.csv"))
	require.NoError(t, Beside(dir, "notes.csv"))
	require.NoFileExists(t, filepath.Join(dir, "notes.parquet"), "nobody knows its columns")
	data, err := os.ReadFile(filepath.Join(dir, "queue-easy.parquet"))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"time", "queued_jobs"}, {"0.5", "2"}}, back(t, data))
}
