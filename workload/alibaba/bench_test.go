package alibaba_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/alibaba"
)

// BenchmarkReader reads 20 MB of a table without damage.
func BenchmarkReader(b *testing.B) {
	for table, line := range []string{
		"R2_1,17,j_1234567,1,Terminated,158478,158520,150.0,0.39\n",
		"ins_123456789,R2_1,j_1234567,1,Terminated,158478,158520,m_2345,1,1,55,120,0.02,0.04\n",
		"4f057009a5d481acec67b088,tensorflow,2.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC\n",
	} {
		b.Run(alibaba.Tables[table], func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "table.csv")
			text := bytes.Repeat([]byte(line), 20<<20/len(line))
			require.NoError(b, os.WriteFile(path, text, 0o600))
			b.SetBytes(int64(len(text)))
			trace, err := workload.Options{Format: alibaba.Format{Table: alibaba.Table(table)}}.Open(path)
			require.NoError(b, err)
			for b.Loop() {
				r, closer, err := trace.Records()
				require.NoError(b, err)
				for r.Next() {
				}
				require.NoError(b, r.Err())
				require.NoError(b, closer.Close())
			}
		})
	}
}
