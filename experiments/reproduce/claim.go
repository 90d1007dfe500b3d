package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/metrics/stats"
)

// tableClaim is something measurable that a paper says: a sentence of its text, or an order that its
// figures show.
type tableClaim struct {
	Text string
	// Where is the section that has the sentence; "" for an order of figures.
	Where string
	// Pairs and Changes are the measured differences that decide the claim.
	Pairs   []pair
	Changes []change
	// Untested, if set, says why it is not tested.
	Untested string

	// Verdict is "" until judge is called, unless whoever made the claim has settled it.
	Verdict verdict
	Detail  string // what was measured, or which pairs do not hold and by how much
}

// pair says that one row's mean is below Factor times the mean of another row or, if Than is the
// zero value, below Factor itself.
type pair struct {
	Less, Than ref
	Factor     float64 // 0 means 1
}

// change says by how many per cent, rounded to whole ones, one row's mean differs from another's.
type change struct {
	Of, From ref
	Percent  float64 // negative where it is less
}

// ref names a row. Series includes the row's variant, if it has one. Invariant: no two rows of a
// table have one ref.
type ref struct{ Series, Point, Quantity string }

func (r ref) label() string { return tableRow{Series: r.Series, Point: r.Point}.label() }

// verdict is the judgement on a claim by paired differences. Its pairs and changes are tested
// together at the level of confidence (Bonferroni).
type verdict string

const (
	verdictHolds     verdict = "holds"          // every difference has the claimed sign, every change the claimed size
	verdictDirection verdict = "direction only" // every sign is as claimed, some size is not
	verdictFails     verdict = "fails"          // some difference has the other sign
	verdictUndecided verdict = "undecided"      // some interval covers 0, and none is against
	verdictNotTested verdict = "not tested"
)

// worse returns the verdict on two parts of a claim. A claim of which a part is not tested cannot
// hold, but it fails if another part does.
func worse(a, b verdict) verdict {
	order := []verdict{verdictHolds, verdictDirection, verdictUndecided, verdictNotTested, verdictFails}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// judge knows what was measured.
type judge interface {
	pair(p pair) (v verdict, detail string)
	change(ch change) (v verdict, detail string)
}

// judge makes the verdict on a claim, unless whoever made the claim has settled it.
func (c *tableClaim) judge(by judge) {
	switch {
	case c.Untested != "":
		c.Verdict, c.Detail = verdictNotTested, c.Untested
		return
	case c.Verdict != "":
		return
	}
	c.Verdict = verdictHolds
	var details []string
	take := func(v verdict, detail string) {
		c.Verdict = worse(c.Verdict, v)
		if detail != "" {
			details = append(details, detail)
		}
	}
	for _, p := range c.Pairs {
		take(by.pair(p))
	}
	for _, ch := range c.Changes {
		take(by.change(ch))
	}
	c.Detail = strings.Join(details, "; ")
}

// rounding is the greatest rounding error of a change that is published in whole per cents.
const rounding = 0.5

// replications judges by differences in pairs, cycle by cycle, at a level of confidence.
type replications struct {
	observations
	index map[ref]int
	level float64
}

func (r replications) pair(p pair) (verdict, string) {
	a, ok := r.index[p.Less]
	if p.Than == (ref{}) && ok {
		// The claim is about one row and a number: the difference from 0 times a row is the row.
		m := r.difference(a, a, 0, r.level)
		d := m
		d.Mean -= p.Factor
		// What was never seen in n cycles may have a share of up to 3/n: the rule of three (Hanley
		// and Lippman-Hand, If nothing goes wrong, is everything all right?, JAMA 249, 1983).
		if m.Mean == 0 && m.N > 0 {
			d.HalfWidth = 3 / float64(m.N)
		}
		return below(d), fmt.Sprintf("%s: %s = %s", p.Less.label(), p.Less.Quantity, interval(m))
	}
	b, okB := r.index[p.Than]
	if !ok || !okB {
		return verdictNotTested, fmt.Sprintf("not measured: %v, %v", p.Less, p.Than)
	}
	d := r.difference(a, b, cmp.Or(p.Factor, 1), r.level)
	if below(d) == verdictHolds {
		return verdictHolds, ""
	}
	return below(d), fmt.Sprintf("%s − %s = %s", p.Less.label(), p.Than.label(), interval(d))
}

func (r replications) change(ch change) (verdict, string) {
	of, okA := r.index[ch.Of]
	from, okB := r.index[ch.From]
	if !okA || !okB {
		return verdictNotTested, fmt.Sprintf("not measured: %v, %v", ch.Of, ch.From)
	}
	// The sign first: a rise is a difference above 0.
	d := r.observations.change(of, from, r.level)
	v := below(d)
	if ch.Percent > 0 {
		v = below(stats.Interval{Mean: -d.Mean, HalfWidth: d.HalfWidth, N: d.N})
	}
	// coarse is the half width, in per cent, above which a size is not judged.
	const coarse = 3
	switch {
	case v != verdictHolds:
	case d.HalfWidth > coarse: // too few cycles to tell the size
		v = verdictUndecided
	// The published number is rounded to whole per cents.
	case math.Abs(d.Mean-ch.Percent) > d.HalfWidth+rounding:
		v = verdictDirection
	}
	return v, fmt.Sprintf("%s: %s%% (published %+g%%)", ch.Of.label(), interval(d), ch.Percent)
}

// singleRuns judges by one figure for each row; NaN is none. There is no interval, so that no
// verdict is undecided.
type singleRuns map[ref]float64

// missing says which of the rows was not measured first; "" if all were.
func (f singleRuns) missing(refs ...ref) (detail string) {
	for _, r := range refs {
		if x, ok := f[r]; r != (ref{}) && (!ok || math.IsNaN(x)) {
			return fmt.Sprintf("not measured: %v", r)
		}
	}
	return ""
}

func (f singleRuns) pair(p pair) (verdict, string) {
	if missing := f.missing(p.Less, p.Than); missing != "" {
		return verdictNotTested, missing
	}
	bound, name := p.Factor, ""
	if p.Than != (ref{}) {
		bound, name = cmp.Or(p.Factor, 1)*f[p.Than], p.Than.label()+" "
	}
	if f[p.Less] < bound {
		return verdictHolds, ""
	}
	return verdictFails, fmt.Sprintf("%s %.6g, not below %s%.6g", p.Less.label(), f[p.Less], name, bound)
}

func (f singleRuns) change(ch change) (v verdict, detail string) {
	if missing := f.missing(ch.Of, ch.From); missing != "" {
		return verdictNotTested, missing
	}
	percent := 100 * (f[ch.Of]/f[ch.From] - 1)
	switch {
	case percent*ch.Percent <= 0:
		v = verdictFails
	case math.Abs(percent-ch.Percent) > rounding:
		v = verdictDirection
	default:
		v = verdictHolds
	}
	return v, fmt.Sprintf("%s: %+.1f%% (published %+g%%)", ch.Of.label(), percent, ch.Percent)
}

// below returns the verdict on a difference that is claimed to be below 0, by its interval.
//
//	mean + half width < 0   holds
//	mean - half width > 0   fails
//	otherwise               undecided, as is a difference of fewer than two cycles
func below(d stats.Interval) verdict {
	switch {
	case d.N >= 2 && d.Mean+d.HalfWidth < 0:
		return verdictHolds
	case d.N >= 2 && d.Mean-d.HalfWidth > 0:
		return verdictFails
	}
	return verdictUndecided
}

// claimRow is a row of NAME-claims.csv and claims.csv.
type claimRow struct {
	Experiment string  `csv:"experiment"`
	Where      string  `csv:"claimed_in"`
	Text       string  `csv:"claim"`
	Verdict    verdict `csv:"verdict"`
	Detail     string  `csv:"measured"`
	Cycles     int     `csv:"cycles"`
	Seed       uint64  `csv:"seed"`
}

// claimRows returns the rows of the table's claims.
func (t *Reproduction) claimRows() (all []claimRow) {
	for _, c := range t.claims {
		all = append(all, claimRow{t.name, c.where(), c.Text, c.Verdict, c.Detail, t.cycles, t.seed})
	}
	return all
}

// where returns the part of the paper that makes the claim.
func (c tableClaim) where() string { return cmp.Or(c.Where, "its figures") }

// writeClaims writes claims for people; judged names what the verdicts are based on.
func writeClaims(b *strings.Builder, claims []tableClaim, judged string) {
	fmt.Fprintf(b, "Claims, judged by %s:\n\n", judged)
	for _, c := range claims {
		writeClaim(b, c.where(), c.Text, c.Verdict, c.Detail)
	}
}

// writeClaim writes a claim as an item of a list.
func writeClaim(b *strings.Builder, where, text string, verdict verdict, detail string) {
	fmt.Fprintf(b, "* **%s** [%s] %s", verdict, where, text)
	if detail != "" {
		fmt.Fprintf(b, " (%s)", detail)
	}
	b.WriteString("\n")
}

// orderings returns the claims that the published figures make by themselves: for each quantity,
// source and variant, who comes before whom.
func (t *Reproduction) orderings() (claims []tableClaim) {
	for _, q := range quantities(t.rows) {
		for _, source := range sources {
			for _, v := range distinct(t.rows, func(r tableRow) string { return r.Variant }) {
				if claim := t.ordering(q, v, source.of); len(claim.Pairs) > 0 {
					claim.Text = source.name + ", " + claim.Text
					if v != "" {
						claim.Text = v + "; " + claim.Text
					}
					claims = append(claims, claim)
				}
			}
		}
	}
	return claims
}

// ordering returns what one source's figures of one quantity claim. Two neighbours count as level
// if they differ by no more than what the published number of cycles and the rounding leave in
// doubt, judged by the spread of our cycles.
func (t *Reproduction) ordering(quantity, variant string, source func(tableRow) string) tableClaim {
	type entry struct {
		row tableRow
		figure
	}
	// Our own rows and measured times are no claims of the paper.
	var entries []entry
	for _, r := range t.rows {
		if f, ok := parseFigure(source(r)); ok && r.Quantity == quantity && r.Variant == variant && !r.Timing && !r.Own && r.Ours.N > 0 {
			entries = append(entries, entry{r, f})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
	claim := tableClaim{Text: quantity + ":"}
	for i, e := range entries {
		if i > 0 {
			before := entries[i-1]
			doubt := math.Hypot(t.publishedSpread(e.row), t.publishedSpread(before.row)) + e.rounding + before.rounding
			if e.value-before.value > doubt {
				claim.Pairs = append(claim.Pairs, pair{Less: before.row.ref(), Than: e.row.ref()})
				claim.Text += " <"
			} else {
				claim.Text += " ≈"
			}
		}
		claim.Text += " " + e.row.label()
	}
	return claim
}

// publishedSpread returns the half width that r's figure would have after the published number of
// cycles: half widths shrink with the square root of the number of cycles.
func (t *Reproduction) publishedSpread(r tableRow) float64 {
	if r.Ours.N < 2 || t.publishedCycles == 0 {
		return 0
	}
	return r.Ours.HalfWidth * math.Sqrt(float64(t.cycles)/float64(t.publishedCycles))
}
