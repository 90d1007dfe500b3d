package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Claim is an ordering that a paper claims or its figures show.
type Claim struct {
	Text    string
	Pairs   []Pair
	Verdict Verdict
	Detail  string // which pairs do not hold, and by how much
}

// Pair says that one row's mean is below Factor times another's.
type Pair struct {
	Less, Than Ref
	Factor     float64 // 0 means 1
}

// Ref names a row.
type Ref struct{ Series, Point, Quantity string }

// Verdict is what paired differences say of a claim. Its pairs are tested
// together at Level (Bonferroni).
type Verdict string

const (
	Holds     Verdict = "holds"     // every difference has the claimed sign
	Fails     Verdict = "fails"     // some difference has the other sign
	Undecided Verdict = "undecided" // some interval covers 0, and none is against
)

func (c *Claim) judge(rows []Row, seen observations, index map[Ref]int) {
	level := 1 - (1-Level)/float64(max(len(c.Pairs), 1))
	c.Verdict = Holds
	var against []string
	for _, p := range c.Pairs {
		a, okA := index[p.Less]
		b, okB := index[p.Than]
		if !okA || !okB {
			c.Verdict, c.Detail = Undecided, "not measured"
			return
		}
		d := seen.difference(a, b, cmp.Or(p.Factor, 1), level)
		switch {
		case d.N >= 2 && d.Mean+d.HalfWidth < 0:
			continue
		case d.N >= 2 && d.Mean-d.HalfWidth > 0:
			c.Verdict = Fails
		case c.Verdict == Holds:
			c.Verdict = Undecided
		}
		against = append(against, fmt.Sprintf("%s − %s = %s", rows[a].label(), rows[b].label(), interval(d)))
	}
	c.Detail = strings.Join(against, "; ")
}

// orderings are the claims that the published figures make by themselves: for
// each quantity and source, who comes before whom.
func (t *Table) orderings() []Claim {
	var claims []Claim
	for _, q := range quantities(t.Rows) {
		for _, source := range []struct {
			name   string
			figure func(Row) string
		}{
			{"paper", func(r Row) string { return r.Paper }},
			{"authors' code", func(r Row) string { return r.Code }},
		} {
			if claim := t.ordering(q, source.figure); len(claim.Pairs) > 0 {
				claim.Text = source.name + ", " + claim.Text
				claims = append(claims, claim)
			}
		}
	}
	return claims
}

// ordering is what one source's figures of one quantity claim. Neighbours that
// differ by no more than the published number of cycles and the rounding leave in
// doubt, by the spread that ours have, are taken as level.
func (t *Table) ordering(quantity string, source func(Row) string) Claim {
	type entry struct {
		row Row
		figure
	}
	var entries []entry
	for _, r := range t.Rows {
		if f, ok := parseFigure(source(r)); ok && r.Quantity == quantity && !r.Timing {
			entries = append(entries, entry{r, f})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
	claim := Claim{Text: quantity + ":"}
	for i, e := range entries {
		if i > 0 {
			before := entries[i-1]
			doubt := math.Hypot(t.publishedSpread(e.row), t.publishedSpread(before.row)) + e.rounding + before.rounding
			if e.value-before.value > doubt {
				claim.Pairs = append(claim.Pairs, Pair{Less: before.row.ref(), Than: e.row.ref()})
				claim.Text += " <"
			} else {
				claim.Text += " ≈"
			}
		}
		claim.Text += " " + e.row.label()
	}
	return claim
}

// publishedSpread is the half width that r's figure would have after the published
// number of cycles.
func (t *Table) publishedSpread(r Row) float64 {
	if r.Ours.N < 2 || t.PublishedCycles == 0 {
		return 0
	}
	return r.Ours.HalfWidth * math.Sqrt(float64(t.Cycles)/float64(t.PublishedCycles))
}
