// What generators do, in words: the settings in force, defaults included.

package vo

import (
	"cmp"
	"fmt"
	"math"
)

// Fact is one setting of a generator, as it is in force.
type Fact struct{ Name, Value string }

// Facts are e's settings.
func (e Environment) Facts() []Fact {
	perf := "real numbers"
	if !e.Nodes.RealPerf {
		perf = "whole numbers"
	}
	sigma := cmp.Or(e.Nodes.PriceSpread, 0.2)
	load, distribution, parameters := levelFacts(e.Load.level())
	horizons := "the interval alone"
	if h := max(e.Load.Horizons, 1); h > 1 {
		horizons = fmt.Sprintf("tasks are drawn over %d intervals, of which the first is kept", h)
	}
	return []Fact{
		{"nodes", fmt.Sprint(cmp.Or(e.Nodes.Count, 100))},
		{"performance", fmt.Sprintf("uniform in %v", e.Nodes.perf())},
		{"performances are", perf},
		{"price", fmt.Sprintf("Q p exp(%v (p - 1)) (1 + d) a time unit, d normal, sigma %v, redrawn beyond %v", perfGain, sigma, math.Round(3000*sigma)/1000)},
		{"price factor", fmt.Sprintf("Q = %v", cmp.Or(e.Nodes.PriceFactor, 1))},
		{"value", fmt.Sprintf("q uniform in [0, %d)", maxQ)},
		{"interval", fmt.Sprintf("%d time units", cmp.Or(e.Units, 600))},
		{"local load", load},
		{"its distribution", distribution},
		{"its parameters", parameters},
		{"local tasks", fmt.Sprintf("%v time units, whole, normal about the middle, sigma a third of half the range; uniform starts", e.Load.task())},
		{"horizon of local tasks", horizons},
	}
}

// levelFacts are the facts of a level: its range, its distribution and the parameters.
func levelFacts(l Level) (load, distribution, parameters string) {
	switch l := l.(type) {
	case HypergeometricLevel:
		t := l.tenths()
		return percent(t.Min) + " to " + percent(t.Max), "hypergeometric",
			fmt.Sprintf("k of (%d, %d, %d), redrawn until 0 < k < 10", levelCount.Population, levelCount.Marked, levelCount.Draws)
	case NormalLevel:
		d := l.distribution()
		return percent(d.Min) + " to " + percent(d.Max), "normal",
			fmt.Sprintf("mode %s, deviation %s, redrawn outside the range", percent(d.Mu), percent(d.Sigma))
	}
	return fmt.Sprintf("%+v", l), "of its own", "of its own"
}

// percent writes so many tenths.
func percent(tenths float64) string { return fmt.Sprintf("%v%%", math.Round(tenths*1000)/100) }

// Facts are b's settings.
func (b Batch) Facts() []Fact {
	budget := fmt.Sprintf("n V x, x uniform in %v", b.wealth())
	if b.Poorest {
		budget += ", the poorest users' discount included"
	}
	return []Fact{
		{"jobs", fmt.Sprint(cmp.Or(b.Jobs, 20))},
		{"nodes of a job", fmt.Sprintf("n uniform, whole numbers in %v", b.nodes())},
		{"volume", fmt.Sprintf("V uniform in %v", b.volume())},
		{"least performance", fmt.Sprint(cmp.Or(b.MinPerf, 1))},
		{"budget", budget},
		{"real share", fmt.Sprintf("of its estimate a job takes a share that is uniform in %v", b.real())},
	}
}

// Facts are c's settings.
func (c AMP11Slots) Facts() []Fact {
	c = c.settings()
	return []Fact{
		{"slots", fmt.Sprintf("uniform, whole numbers in %v", c.Count)},
		{"length of a slot", fmt.Sprintf("uniform in %v", amp11SlotLength)},
		{"performance of a slot", fmt.Sprintf("uniform in %v", amp11SlotPerf)},
		{"delay to the next slot", fmt.Sprintf("0 with probability %v, otherwise uniform in %v", amp11Together, amp11Delay)},
		{"price of a slot", fmt.Sprintf("uniform in %v, times %v^p", amp11PriceDeviation, amp11PriceOfOne)},
	}
}

// Facts are c's settings.
func (c AMP11Jobs) Facts() []Fact {
	volume := "V = t P"
	if c.AtOne {
		volume = "V = t"
	}
	limit := "none"
	if c.PriceFactor > 0 {
		limit = fmt.Sprintf("C = %v^P", amp11PriceOfOne)
		if c.PriceFactor != 1 {
			limit = fmt.Sprintf("C = %v times %v^P", c.PriceFactor, amp11PriceOfOne)
		}
	}
	c = c.settings()
	return []Fact{
		{"jobs", fmt.Sprintf("uniform, whole numbers in %v", c.Jobs)},
		{"nodes of a job", fmt.Sprintf("N uniform, whole numbers in %v", c.Nodes)},
		{"time", fmt.Sprintf("t uniform in %v", amp11JobLength)},
		{"volume", volume},
		{"least performance", fmt.Sprintf("P uniform in %v", amp11MinPerf)},
		{"price limit", limit},
	}
}
