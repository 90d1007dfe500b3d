package facts

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/workload"
)

// column describes the values of jobs in a column that SWF does not have: numbers or text.
type column struct {
	Name    string        `json:"name"`
	Unit    string        `json:"unit,omitempty"`
	Known   int64         `json:"jobs"`              // that say anything
	Numbers *Distribution `json:"numbers,omitempty"` // kept to a thousandth
	// Outside are numbers that Numbers has not got: negative, or of 1e15 or more.
	Outside  int64         `json:"outside,omitempty"`
	Distinct int           `json:"distinct,omitempty"` // texts
	Popular  []popularText `json:"popular,omitempty"`  // at most ten
}

// popularText is a text and how many jobs say it.
type popularText struct {
	Text  string  `json:"text"`
	Jobs  int64   `json:"jobs"`
	Share float64 `json:"share"`
}

// Numbers are kept in a Sample in thousandths. Those from greatestNumber on would leave its 64 bits.
const (
	thousandths    = 1000
	greatestNumber = 1e15
)

// columnTally counts what is said in a column.
type columnTally struct {
	column  workload.Column
	known   int64            // jobs that say anything
	numbers *Sample          // empty for a column of text
	outside int64            // numbers that numbers cannot hold
	texts   map[string]int64 // jobs by text; at most maxOwners texts, others are not counted
}

// newColumns begins a tally for each column of a header.
func newColumns(all []workload.Column) (tallies []columnTally) {
	for _, c := range all {
		tallies = append(tallies, columnTally{column: c, numbers: newSample(thousandths), texts: map[string]int64{}})
	}
	return tallies
}

// add takes in what a job says.
func (c *columnTally) add(v workload.Value) {
	if !v.Known() {
		return
	}
	c.known++
	if c.column.Text {
		if _, ok := c.texts[v.Text]; ok || len(c.texts) < maxOwners {
			c.texts[v.Text]++
		}
		return
	}
	if !(v.Number >= 0 && v.Number < greatestNumber) {
		c.outside++
		return
	}
	c.numbers.add(int64(math.Round(v.Number * thousandths)))
}

// conclude tells what was found of that many jobs in all.
func (c *columnTally) conclude(jobs int64) column {
	all := column{
		Name: c.column.Name, Unit: c.column.Unit, Known: c.known,
		Numbers: c.numbers.distributionIf(), Outside: c.outside, Distinct: len(c.texts),
	}
	for text, n := range c.texts {
		all.Popular = append(all.Popular, popularText{text, n, share(n, jobs)})
	}
	slices.SortFunc(all.Popular, func(a, b popularText) int { return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Text, b.Text)) })
	all.Popular = all.Popular[:min(len(all.Popular), topOwners)]
	return all
}
