package findings_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/gridslot/gridslot/metrics/findings"
)

// Two policies on the same five seeds. Waits differ much from seed to seed, but less from
// policy to policy on one seed.
func Example() {
	table, err := findings.Read(strings.NewReader(`policy,load,seed,mean_wait
easy,0.9,1,4120
easy,0.9,2,2870
easy,0.9,3,5210
easy,0.9,4,3640
easy,0.9,5,4480
easy-sjbf,0.9,1,3790
easy-sjbf,0.9,2,2610
easy-sjbf,0.9,3,4850
easy-sjbf,0.9,4,3290
easy-sjbf,0.9,5,4190
`), "results.csv")
	if err != nil {
		log.Fatal(err)
	}
	f, err := findings.Analyze(table, findings.Options{Baseline: []findings.Param{{Name: "policy", Value: "easy"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range f.Comparisons {
		fmt.Printf("%s is %s: %.0f s (%.1f to %.1f %%, %d seeds)\n", f.Cells[c.Cell].Params[0], c.Verdict,
			c.Difference.Mean, c.Percent.Low, c.Percent.High, c.Difference.N)
	}
	grids, err := f.Grids(findings.Pivot{})
	if err != nil {
		log.Fatal(err)
	}
	if err := findings.Write(os.Stdout, grids, "csv"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// easy-sjbf is better: -318 s (-9.9 to -6.5 %, 5 seeds)
	// policy,"mean wait, s","mean wait, s ±"
	// easy,4064,1092.19154
	// easy-sjbf,3746,1060.20948
}
