// Command know-a-log tells how far the two halves of a log are apart, which no model of it
// need be nearer to.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/facts"
)

func part(o workload.Options) *facts.Facts {
	_, o.Stdin = traces.Sample()
	trace, err := o.Open(workload.StandardInput)
	if err != nil {
		log.Fatal(err)
	}
	f, report, err := facts.Of(context.Background(), trace)
	if err != nil {
		log.Fatal(err)
	}
	if report.Total(workload.Damaged) > 0 {
		log.Fatal(report)
	}
	return f
}

func main() {
	first, second := part(workload.Options{Part: workload.Part{First: 2500}}), part(workload.Options{Part: workload.Part{Skip: 2500}})
	fmt.Printf("median runtime %.0f s and %.0f s\n", first.Runtimes.Median, second.Runtimes.Median)
	for _, d := range facts.Compare(first, second) {
		fmt.Printf("%-16s ks %.3f, w1/mean %.3f\n", d.Quantity, d.KolmogorovSmirnov, d.Relative)
	}
}
