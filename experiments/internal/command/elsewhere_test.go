package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload/parquet/writer"
)

// call is a call of a program that writes Parquet, or of one that hands it over.
func call(t *testing.T, writes bool, args ...string) (code int, stdout, stderr, handed string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := Parts{
		Tables: func() *scenario.Tables {
			tables := scenario.NewTables(nil, nil, nil, nil, nil)
			if writes {
				ParquetIs(tables, writer.Format{})
			} else {
				ParquetIs(tables, nil)
			}
			return tables
		},
		HandOver: func(_ context.Context, _ Env, what string) int { handed = what; return 0 },
	}
	code = Run(context.Background(), Env{Args: args, Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &errs, Parts: p})
	return code, out.String(), errs.String(), handed
}

func TestParquetIsReadHereAndWrittenElsewhere(t *testing.T) {
	dir := t.TempDir()
	swf, table, back := filepath.Join(dir, "a.swf"), filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.swf")
	const line = "1 5 2 10 4 -1 -1 4 60 -1 1 3 -1 -1 -1 -1 -1 -1\n"
	require.NoError(t, os.WriteFile(swf, []byte("; MaxProcs: 8\n"+line), 0o600))

	code, _, stderr, handed := call(t, false, "trace", "convert", swf, table)
	require.Zero(t, code, stderr)
	require.Equal(t, "writing parquet", handed)
	require.NoFileExists(t, table)
	_, _, _, handed = call(t, false, "trace", "convert", "-", "-", "--to", "parquet")
	require.Equal(t, "writing parquet", handed, "before standard input is read")

	code, _, stderr, handed = call(t, true, "trace", "convert", swf, table, "--lossless")
	require.Zero(t, code, stderr)
	require.Empty(t, handed)
	code, _, stderr, handed = call(t, false, "trace", "convert", table, back, "--lossless")
	require.Zero(t, code, stderr)
	require.Empty(t, handed)
	got, err := os.ReadFile(back)
	require.NoError(t, err)
	require.Contains(t, string(got), "\n"+line)
	require.Contains(t, string(got), "; MaxProcs: 8\n")

	code, stdout, stderr, _ := call(t, false, "simulate", table, "--policy", "easy")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "easy")
}
