package slurm

import (
	"math/bits"
	"slices"
)

// usage is the free CPUs, memory and devices of each node, as numbers: a choice of nodes looks at numbers only.
type usage struct {
	cpus []int // by node, 0 or more
	mem  []int // by node, MB
	// gres has devices by kind and node, those of a type also by KIND:TYPE; no kind that no node has. A device of a type
	// counts twice: as one of its type and as one of its kind.
	gres map[string][]int
	some nodeSet // invariant: the nodes whose cpus are above 0
}

// newUsage returns the CPUs, memory and devices of idle nodes.
func newUsage(conf *Config) usage {
	u := usage{cpus: make([]int, len(conf.Nodes)), mem: make([]int, len(conf.Nodes)), gres: map[string][]int{}, some: allNodes(len(conf.Nodes))}
	for i := range conf.Nodes {
		node := &conf.Nodes[i]
		u.cpus[i], u.mem[i] = node.CPUs(), node.Memory
		for _, g := range node.GRES {
			for _, kind := range []string{g.Kind, g.family()} {
				if u.gres[kind] == nil {
					u.gres[kind] = make([]int, len(conf.Nodes))
				}
			}
			u.moveDevices(i, g, 1)
		}
	}
	return u
}

func (u usage) clone() usage {
	other := usage{cpus: slices.Clone(u.cpus), mem: slices.Clone(u.mem), gres: map[string][]int{}, some: u.some.clone()}
	for kind, counts := range u.gres {
		other.gres[kind] = slices.Clone(counts)
	}
	return other
}

// take takes what a job has of its nodes.
func (u usage) take(j *Job) { u.move(j, -1) }

// release gives back what a job has of its nodes.
func (u usage) release(j *Job) { u.move(j, 1) }

func (u usage) move(j *Job, times int) {
	for i := range j.shares {
		u.moveOne(j, &j.shares[i], times)
	}
}

// give gives back what a job has of one of its nodes.
func (u usage) give(j *Job, had *share) { u.moveOne(j, had, 1) }

func (u usage) moveOne(j *Job, has *share, times int) {
	n := int(has.node)
	if u.cpus[n] += times * int(has.cpus); u.cpus[n] > 0 {
		u.some.add(n)
	} else {
		u.some.drop(n)
	}
	u.mem[n] += times * int(has.mem)
	if j.devices != nil {
		for _, g := range j.devices[has.node] {
			u.moveDevices(n, g, times)
		}
	}
}

// moveDevices adds devices of a node, times 1, or -1 to subtract them.
func (u usage) moveDevices(n int, g Amount, times int) {
	if counts := u.gres[g.Kind]; counts != nil {
		counts[n] += times * g.Count
	}
	if counts := u.gres[g.family()]; counts != nil && g.typed() {
		counts[n] += times * g.Count
	}
}

// copyFrom copies from other what is free on the nodes of a set.
func (u usage) copyFrom(other usage, nodes nodeSet) {
	for w, word := range nodes {
		u.some[w] = u.some[w]&^word | other.some[w]&word
		for ; word != 0; word &= word - 1 {
			n := w*64 + bits.TrailingZeros64(word)
			u.cpus[n], u.mem[n] = other.cpus[n], other.mem[n]
		}
	}
	for kind, counts := range u.gres {
		for n := range nodes.all {
			counts[n] = other.gres[kind][n]
		}
	}
}

// coreSet is the cores of a node: which of them are taken.
type coreSet []bool

func newCoreSet(cores int) coreSet { return make(coreSet, cores) }

// left is the number of cores that are not taken.
func (s coreSet) left() (n int) {
	for _, taken := range s {
		if !taken {
			n++
		}
	}
	return n
}

// all returns the cores that are not taken, at most so many, ascending. The first core of the set has the number first.
func (s coreSet) all(first, most int) []int {
	cores := make([]int, 0, most)
	for i, taken := range s {
		if !taken {
			cores = append(cores, first+i)
		}
	}
	return cores
}

func (s coreSet) take(cores []int) {
	for _, c := range cores {
		s[c] = true
	}
}

func (s coreSet) free(cores []int) {
	for _, c := range cores {
		s[c] = false
	}
}
