package stats_test

import (
	"fmt"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Mean waits in seconds under two policies, replication by replication with the same seeds.
var (
	easy = []float64{5210, 6120, 4980, 7400, 5630, 6890, 5120, 6010}
	sjbf = []float64{4700, 5890, 4610, 6480, 5480, 6150, 4890, 5750}
)

func ExampleCompare() {
	c, err := stats.Compare(sjbf, easy, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := stats.Ratio(sjbf, easy, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("wait under sjbf:", c.Verdict())
	fmt.Printf("effect size %.1f, rank-biserial %.0f\n", c.CohensD, c.RankBiserial)
	fmt.Println("as a factor:", r)
	// Output:
	// wait under sjbf: lower by 426 ± 231 (p = 0.0033)
	// effect size -1.5, rank-biserial -1
	// as a factor: 0.928 (0.8969 to 0.9639)
}

func ExampleHolm() {
	fmt.Println(stats.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06]
}

func ExampleBatchMeans() {
	random := des.NewStream(1, 0, "queue")
	waits := make([]float64, 50000) // of jobs that follow each other in a queue with one server
	for i := 1; i < len(waits); i++ {
		waits[i] = max(0, waits[i-1]+60*random.ExpFloat64()-100*random.ExpFloat64())
	}
	n, err := stats.MSER5(waits)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := stats.BatchMeans(waits[n:], 20, 0.95)
	fmt.Println(b.Interval, b.Doubtful()) // 90 by theory
	b = stats.BatchMeans(waits[n:], 2000, 0.95)
	fmt.Println(b.Interval, b.Doubtful())
	// Output:
	// 94.3 ± 5.4 false
	// 94.3 ± 4.2 true
}

func ExampleMoments_Interval() {
	var waits stats.Moments
	for _, replication := range []float64{101, 98, 105, 99, 102} {
		waits.Add(replication)
	}
	fmt.Println(waits.Interval(0.95))
	// Output: 101.0 ± 3.4
}
