package main

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

func TestTheCommittedSampleIsWhatTheGeneratorWrites(t *testing.T) {
	_, packed := traces.Sample()
	r, err := gzip.NewReader(packed)
	require.NoError(t, err)
	committed, err := io.ReadAll(r)
	require.NoError(t, err)
	var fresh bytes.Buffer
	require.NoError(t, write(workload.NewWriter(&fresh)))
	require.True(t, bytes.Equal(committed, fresh.Bytes()), "run: go generate ./traces")
}

func TestCreateWritesATraceThatReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.swf.gz")
	require.NoError(t, create(path))
	trace, err := workload.Options{Reading: workload.Reading{Strict: true}}.Open(path)
	require.NoError(t, err)
	require.Equal(t, processors, trace.MaxProcs)
	n := 0
	for j := range trace.Jobs() {
		n++
		require.LessOrEqual(t, j.Runtime, j.Request.Length)
		require.LessOrEqual(t, j.Request.Nodes, processors)
	}
	require.NoError(t, trace.Err())
	require.Equal(t, jobs, n)
}

func TestCreateReportsAnUnwritablePath(t *testing.T) {
	require.Error(t, create(filepath.Join(t.TempDir(), "no", "such", "folder", "x.swf")))
}
