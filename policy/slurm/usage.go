package slurm

import "slices"

// usage is what is free of each node: counted, which is all that the choice of nodes looks at.
type usage struct {
	cpus []int            // by node, 0 or more
	mem  []int            // by node, MB
	gres map[string][]int // devices by kind and node; no kind that no node has
	some nodeSet          // invariant: the nodes whose cpus are above 0
}

// newUsage is what idle nodes have.
func newUsage(conf *Config) usage {
	u := usage{cpus: make([]int, len(conf.Nodes)), mem: make([]int, len(conf.Nodes)), gres: map[string][]int{}, some: allNodes(len(conf.Nodes))}
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
	for i := range j.Placed {
		u.moveOne(j, &j.Placed[i], times)
	}
}

// give gives back what a job has of one of its nodes.
func (u usage) give(j *Job, p *Placement) { u.moveOne(j, p, 1) }

func (u usage) moveOne(j *Job, p *Placement, times int) {
	if u.cpus[p.Node] += times * len(p.Cores); u.cpus[p.Node] > 0 {
		u.some.add(p.Node)
	} else {
		u.some.drop(p.Node)
	}
	u.mem[p.Node] += times * p.Mem
	for _, g := range j.GRES {
		if counts := u.gres[g.Kind]; counts != nil {
			counts[p.Node] += times * g.Count
		}
	}
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
