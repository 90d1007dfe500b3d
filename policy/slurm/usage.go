package slurm

import "slices"

// usage is what is free of each node: counted, which is all that the choice of nodes looks at.
type usage struct {
	cpus []int
	mem  []int
	gres map[string][]int // devices by kind
}

// newUsage is what idle nodes have.
func newUsage(conf *Config) usage {
	u := usage{cpus: make([]int, len(conf.Nodes)), mem: make([]int, len(conf.Nodes)), gres: map[string][]int{}}
	for i := range conf.Nodes {
		node := &conf.Nodes[i]
		u.cpus[i], u.mem[i] = node.CPUs(), node.Memory
		for _, g := range node.GRES {
			if u.gres[g.Kind] == nil {
				u.gres[g.Kind] = make([]int, len(conf.Nodes))
			}
			u.gres[g.Kind][i] += g.Count
		}
	}
	return u
}

func (u usage) clone() usage {
	other := usage{cpus: slices.Clone(u.cpus), mem: slices.Clone(u.mem), gres: map[string][]int{}}
	for kind, counts := range u.gres {
		other.gres[kind] = slices.Clone(counts)
	}
	return other
}

// add gives a node back so many cores, MB of memory and devices.
func (u usage) add(node, cores, mem int, gres []Amount) {
	u.cpus[node] += cores
	u.mem[node] += mem
	for _, g := range gres {
		if counts := u.gres[g.Kind]; counts != nil {
			counts[node] += g.Count
		}
	}
}

// negative is the amounts, taken instead of given.
func negative(amounts []Amount) []Amount {
	taken := slices.Clone(amounts)
	for i := range taken {
		taken[i].Count = -taken[i].Count
	}
	return taken
}

// coreSet is the cores of a node: which of them are taken.
type coreSet []bool

func newCoreSet(cores int) coreSet { return make(coreSet, cores) }

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
