package swarm

// Drawing a world. Each feature, and each job, draws from random numbers of its own: where
// one is left out, all the others stay as they are.

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// kind is the machine of a world; several of them are a sum.
type kind int

const (
	cluster kind = 1 << iota
	domain
	gridOf
	program // a metascheduler in a program, with observers that meddle
	studyOf
	site    // Slurm decides, over a folder with the site's files and jobs
	siteLog // Slurm decides over a log

	command = cluster | domain | gridOf
	slurms  = site | siteLog
)

// kindOdds are how many of a hundred worlds have a machine.
var kindOdds = []struct {
	kind kind
	odds int
}{{cluster, 44}, {site, 4}, {siteLog, 2}, {domain, 20}, {gridOf, 13}, {program, 14}, {studyOf, 3}}

// rnd are random numbers.
type rnd struct{ *rand.Rand }

func stream(seed uint64, name string) rnd {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rnd{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// among is a whole number from lo to hi.
func (r rnd) among(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// chance is true n times in a hundred.
func (r rnd) chance(n int) bool { return r.IntN(100) < n }

// one is one of some texts.
func (r rnd) one(texts ...string) string { return texts[r.IntN(len(texts))] }

// text is one of some texts with blanks between them.
func (r rnd) text(texts string) string { return r.one(strings.Fields(texts)...) }

// number is a whole number from lo to hi, as a text.
func (r rnd) number(lo, hi int) string { return strconv.Itoa(r.among(lo, hi)) }

// feature is something that a world may have. A feature that is added to the program is added
// here as one row.
type feature struct {
	name  string
	of    kind   // the worlds that can have it
	odds  int    // how likely it is, beside others that have 10 where they say nothing
	needs string // one of these features must be on as well; the first is added
	not   string // features that exclude it
	add   func(r rnd, w *world)
}

func find(name string) *feature {
	for i := range features {
		if features[i].name == name {
			return &features[i]
		}
	}
	panic("there is no feature " + name)
}

// meets reports whether f is one of the features of a text.
func (f *feature) in(texts string) bool { return slices.Contains(strings.Fields(texts), f.name) }

func excludes(a, b *feature) bool { return a.in(b.not) || b.in(a.not) }

// drawFeatures chooses the features of a world, in the order of the table.
func drawFeatures(seed uint64, of kind) (on []*feature) {
	r := stream(seed, "features")
	n := r.among(1, 4)
	switch {
	case r.chance(3):
		n = 0
	case r.chance(30):
		n = r.among(5, 8)
	case r.chance(12):
		n = r.among(9, 16)
	}
	var left []*feature
	all := 0
	for i := range features {
		if features[i].of&of != 0 {
			left = append(left, &features[i])
			all += odds(left[len(left)-1])
		}
	}
	fits := func(f *feature) bool {
		return !slices.Contains(on, f) && !slices.ContainsFunc(on, func(o *feature) bool { return excludes(f, o) })
	}
	for tries := 0; len(on) < n && tries < 10*n; tries++ {
		at := r.IntN(all)
		i := 0
		for ; at >= odds(left[i]); i++ {
			at -= odds(left[i])
		}
		f := left[i]
		if !fits(f) {
			continue
		}
		if f.needs != "" && !has(on, f.needs) {
			needed := find(r.text(f.needs))
			if needed.of&of == 0 || !fits(needed) || excludes(needed, f) || needed.needs != "" && !has(on, needed.needs) {
				continue
			}
			on = append(on, needed)
		}
		on = append(on, f)
	}
	return on
}

func odds(f *feature) int {
	if f.odds == 0 {
		return 10
	}
	return f.odds
}

// has reports whether one of the features of a text is on.
func has(on []*feature, texts string) bool {
	return slices.ContainsFunc(on, func(f *feature) bool { return f.in(texts) })
}

// draw draws the world of a seed, less what is cut, which is to stand in a folder.
func draw(seed uint64, k cut, dir string) *world {
	w := &world{seed: seed, dir: dir, cut: k, yaml: map[string]string{}, files: map[string]string{}}
	r := stream(seed, "machine")
	at := r.IntN(100)
	for _, o := range kindOdds {
		if at -= o.odds; at < 0 {
			w.kind = o.kind
			break
		}
	}
	chosen := drawFeatures(seed, w.kind)
	if k.only != nil {
		chosen = slices.DeleteFunc(chosen, func(f *feature) bool { return !slices.Contains(k.only, f.name) })
		lacks := func(f *feature) bool { return f.needs != "" && !has(chosen, f.needs) }
		for slices.ContainsFunc(chosen, lacks) {
			chosen = slices.DeleteFunc(chosen, lacks)
		}
	}
	for i := range features {
		if slices.Contains(chosen, &features[i]) {
			w.on = append(w.on, &features[i])
		}
	}
	w.drawBase(r)
	for _, f := range w.on {
		f.add(stream(seed, f.name), w)
	}
	if k.policies != nil {
		var left []string
		for _, i := range k.policies {
			left = append(left, w.policies[min(i, len(w.policies)-1)])
		}
		w.policies = left
	}
	return w
}

func (w *world) names() []string {
	names := []string{}
	for _, f := range w.on {
		names = append(names, f.name)
	}
	return names
}

func (w *world) has(texts string) bool { return has(w.on, texts) }
