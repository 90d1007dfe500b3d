package google_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/google"
)

// BenchmarkReader reads 20 MB of events, of 100 jobs or tasks at a time.
func BenchmarkReader(b *testing.B) {
	for table, line := range []string{
		"%d,,%d,%d,tCyqsIK2IQYQrScdS4WYITCo3yS4nmuKWzEBJWQAoXc=,2,PZ4QdzP1gjK5fE2Kw1sM3c+2dJgbm8yFqFJ7Ls3wsA0=,3yS4nmuKWzEBJWQAoXctCyqsIK2IQYQrScdS4WYITCo=\n",
		"%d,,%d,7,38676,%d,tCyqsIK2IQYQrScdS4WYITCo3yS4nmuKWzEBJWQAoXc=,2,9,0.125,0.07446,0.0004244,0\n",
	} {
		b.Run(google.Tables[table], func(b *testing.B) {
			var text bytes.Buffer
			for i := 0; text.Len() < 20<<20; i++ {
				for _, kind := range []int{0, 1, 4} {
					for job := range 100 {
						fmt.Fprintf(&text, line, 600_000_000+i*1000+kind, 6_200_000_000+i*100+job, kind)
					}
				}
			}
			path := filepath.Join(b.TempDir(), "events.csv")
			require.NoError(b, os.WriteFile(path, text.Bytes(), 0o600))
			b.SetBytes(int64(text.Len()))
			trace, err := workload.Options{Format: google.Format{Table: google.Table(table)}}.Open(path)
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
