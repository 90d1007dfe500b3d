package slurm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Trackable resources (TRES): what limits on amounts and charges count. A kind is one row of Controller.kinds, and
// a limit one row of tresLimits.

// Positions of the kinds that every Slurm has (TRES_ARRAY_CPU and so on). The kinds of AccountingStorageTRES follow.
// Energy and the kinds after billing are never asked for here: their amounts are 0.
const (
	tresCPU     = iota
	tresMem     // MB
	tresEnergy  // known only after a job, so that Slurm holds nobody to it
	tresNode    // a node of several jobs counts once in limits on what they have together
	tresBilling // what a second is charged, cut to a whole number
)

// usualTRES are the names of the kinds that every Slurm has, by position.
var usualTRES = []string{"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"}

// tresKind is a kind of TRES.
type tresKind struct {
	name    string // as sacctmgr has it, in lower case: cpu, gres/gpu, license/matlab
	label   string // the word for it in reasons: see labelOf
	device  string // of gres/KIND or gres/KIND:TYPE: the kind of devices, else ""
	stands  bool   // it is of a type, and devices of its kind without a type count as of it, as no other kind of TRES counts them
	license string // of license/NAME: the name, in lower case, else ""
}

// tresLabels are the words for kinds in reasons, by the name of the kind or its part up to the slash.
var tresLabels = map[string]string{
	"cpu": "Cpu", "mem": "Mem", "energy": "Energy", "node": "Node", "billing": "Billing", "gres/": "GRES", "license/": "License", "bb/": "BB",
	"fs/": "Unknown", "ic/": "Unknown", "vmem": "Unknown", "pages": "Unknown",
}

// labelOf returns the word for a kind of TRES in reasons; "" if Slurm knows no such kind.
func labelOf(name string) string {
	kind, of, named := strings.Cut(name, "/")
	if named {
		kind += "/"
	}
	if named && of == "" {
		return ""
	}
	return tresLabels[kind]
}

// kindsOf returns the kinds of TRES that a controller counts: the usual kinds, the kinds of AccountingStorageTRES
// by their names (slurmdb_sort_tres_by_id_asc), and the kinds that have a weight, without which Slurm would not
// begin.
func kindsOf(conf *Config) (all []tresKind) {
	add := func(name string) {
		if slices.ContainsFunc(all, func(k tresKind) bool { return k.name == name }) {
			return
		}
		k := tresKind{name: name, label: labelOf(name)}
		if of, is := strings.CutPrefix(name, "gres/"); is {
			k.device = of
		}
		if of, is := strings.CutPrefix(name, "license/"); is {
			k.license = of
		}
		all = append(all, k)
	}
	for _, name := range slices.Concat(usualTRES, slices.Sorted(slices.Values(conf.TrackedTRES))) {
		add(name)
	}
	for i := range conf.Partitions {
		for _, w := range conf.Partitions[i].BillingWeights {
			add(w.Kind)
		}
	}
	standIn(all)
	return all
}

// standIn finds, of each kind of devices that is counted only by type, the type that stands in for devices without a
// type (assoc_mgr_find_tres_pos2).
func standIn(kinds []tresKind) {
	counted := map[string]bool{}
	for i := range kinds {
		counted[kinds[i].device] = true
	}
	for i := range kinds {
		if family, _, typed := strings.Cut(kinds[i].device, ":"); typed && !counted[family] {
			kinds[i].stands, counted[family] = true, true
		}
	}
}

// tres is the amount of each kind of TRES that a job asks for or has, and its nodes where they are known.
type tres struct {
	amounts []int // by position of the kind; nil: nothing of any
	on      []int // positions of nodes
}

// of returns the amount of the kind at a position of Controller.kinds.
func (t tres) of(kind int) int {
	if t.amounts == nil {
		return 0
	}
	return t.amounts[kind]
}

// requestedCPUs returns the number of CPUs that a job asks for (min_cpus): at least one for each node that it must have, though not for
// each of its nodes.
func (j *Job) requestedCPUs() int { return max(j.tasks()*j.cpusPerTask(), len(j.Required)) }

// requested returns the amounts that a job asks for in a partition before nodes are known (tres_req_cnt).
func (c *Controller) requested(j *Job, p *partition) tres {
	return c.reckon(j, p, j.requestedCPUs(), j.leastNodes(), nil)
}

// reckonedNeeds returns the amounts that the job of e needs. CPUs are the number that it would have got when
// nodes were last found for it (total_cpus), or until then the number that it asks for. nodes is the number of
// nodes; 0: as many as it asks for. whole are the nodes all of whose devices it would have, or nil.
func (c *Controller) reckonedNeeds(e *entry, nodes int, whole nodeSet) tres {
	cpus := e.job.reckoned
	if cpus == 0 {
		cpus = e.job.requestedCPUs()
	}
	if nodes == 0 {
		nodes = e.job.leastNodes()
	}
	return c.reckon(e.job, e.part, cpus, nodes, whole)
}

// reckon returns the amounts that a job would have in a partition, if only the numbers of its CPUs and nodes are
// known. Devices count for the nodes that were chosen last for the job, and until then for those that it asks
// for. A job that asks for no memory, where there is no DefMemPerCPU, counts with the memory of its partition's
// first node (job_get_tres_mem). The next call takes its room.
func (c *Controller) reckon(j *Job, p *partition, cpus, nodes int, whole nodeSet) tres {
	perNode, perCPU := j.Memory, j.MemoryPerCPU
	if perNode == 0 && perCPU == 0 {
		perCPU = c.conf.Select.DefMemPerCPU
	}
	if perNode == 0 && perCPU == 0 && len(p.Nodes) > 0 {
		perNode = c.conf.Nodes[p.Nodes[0]].Memory
	}
	mem := perNode * nodes
	if perNode == 0 {
		mem = perCPU * cpus
	}
	if c.roomToReckon == nil {
		c.roomToReckon = make([]int, len(c.kinds))
	}
	return c.filled(c.roomToReckon, j, p, cpus, mem, nodes, j.Required, func(kind *tresKind) int {
		switch {
		case whole != nil:
			return kind.devicesOn(slices.Collect(whole.all), c.devicesOf)
		case j.spread > 0:
			return j.spread * kind.devicesIn(j.GRES)
		}
		return j.leastNodes() * kind.devicesIn(j.GRES)
	})
}

// has returns the amounts that a job has, or would have, on chosen nodes, with the billing weights of a
// partition. whole says that the job has the nodes to itself, with all their devices. Otherwise given decides which types of
// devices count: those that the job was given, or else those that it asks for, by which limits are checked.
func (c *Controller) has(j *Job, p *partition, placed []Placement, whole, given bool) tres {
	cpus, mem := 0, 0
	on := make([]int, len(placed))
	for i := range placed {
		cpus += placed[i].CPUs
		mem += placed[i].Mem
		on[i] = placed[i].Node
	}
	return c.filled(make([]int, len(c.kinds)), j, p, cpus, mem, len(placed), on, func(kind *tresKind) int {
		switch {
		case whole:
			return kind.devicesOn(on, c.devicesOf)
		case given:
			return kind.devicesOn(on, func(node int) []Amount { return j.devices[int32(node)] })
		}
		return len(on) * kind.devicesIn(j.GRES)
	})
}

// devicesOf returns the devices of a node.
func (c *Controller) devicesOf(node int) []Amount { return c.conf.Nodes[node].GRES }

// filled returns the amounts of all kinds, in room, by kind: each call sets the same kinds, and the others stay
// 0. devices tells how many devices of a kind there are.
func (c *Controller) filled(room []int, j *Job, p *partition, cpus, mem, nodes int, on []int, devices func(*tresKind) int) tres {
	t := tres{amounts: room, on: on}
	t.amounts[tresCPU], t.amounts[tresMem], t.amounts[tresNode] = cpus, mem, nodes
	for i := len(usualTRES); i < len(c.kinds); i++ {
		switch k := &c.kinds[i]; {
		case k.device != "":
			t.amounts[i] = devices(k)
		case k.license != "":
			t.amounts[i] = amountIn(j.Licenses, k.license)
		}
	}
	t.amounts[tresBilling] = int(min(c.weighted(t, p), math.MaxInt32)) // last, for it goes by all others
	return t
}

// amountIn returns the number of things of a kind in a list of amounts. Slurm compares names of kinds without
// regard to case.
func amountIn(amounts []Amount, kind string) (n int) {
	for i := range amounts {
		if strings.EqualFold(amounts[i].Kind, kind) {
			n += amounts[i].Count
		}
	}
	return n
}

// devicesIn returns how many devices of the kind are in a list. Devices of all types count as of the kind without a type.
// Slurm compares names of kinds without regard to case.
func (k *tresKind) devicesIn(amounts []Amount) (n int) {
	for i := range amounts {
		if a := &amounts[i]; k.isOf(a) || k.standsFor(a) {
			n += a.Count
		}
	}
	return n
}

// isOf reports whether devices are of the kind by their own kind and type.
func (k *tresKind) isOf(a *Amount) bool {
	return strings.EqualFold(a.Kind, k.device) || strings.EqualFold(a.family(), k.device)
}

// standsFor reports whether devices without a type count as devices of this type.
func (k *tresKind) standsFor(a *Amount) bool {
	family, _, _ := strings.Cut(k.device, ":")
	return k.stands && strings.EqualFold(a.Kind, family)
}

// devicesOn returns how many devices of the kind count on nodes, in their order; on lists the devices of a node that count.
// A flaw of Slurm: if the nodes have both devices of the type and devices without a type that count as of it, Slurm keeps
// only the number of the sort that it first meets later.
func (k *tresKind) devicesOn(nodes []int, on func(node int) []Amount) int {
	sum, untyped, last := 0, 0, false // last: devices without a type were first met after devices of the type
	met, metUntyped := false, false
	for _, node := range nodes {
		amounts := on(node)
		for i := range amounts {
			switch a := &amounts[i]; {
			case k.standsFor(a):
				untyped += a.Count
				last, metUntyped = last || !metUntyped, true
			case k.isOf(a):
				sum += a.Count
				last, met = last && met, true
			}
		}
	}
	switch {
	case met && metUntyped && last:
		return untyped
	case met && metUntyped:
		return sum
	}
	return sum + untyped
}

// weighted returns the charge for each second of amounts in a partition (billing, assoc_mgr_tres_weighted): the
// CPUs, or if the partition has TRESBillingWeights the sum of amount · weight over all kinds. With
// PriorityFlags=MAX_TRES the amounts of nodes count by the largest product instead, to which the products of
// licences are added.
func (c *Controller) weighted(t tres, p *partition) float64 {
	if len(p.BillingWeights) == 0 {
		return float64(t.of(tresCPU))
	}
	var sum, most, global float64
	for _, w := range p.BillingWeights {
		at := slices.IndexFunc(c.kinds, func(k tresKind) bool { return k.name == w.Kind })
		amount := float64(t.of(at))
		switch {
		case at == tresBilling:
			continue
		case at == tresMem:
			amount /= 1024 // weights are of a GB
		case c.kinds[at].license != "":
			global += amount * w.Value
			continue
		}
		sum += amount * w.Value
		most = max(most, amount*w.Value)
	}
	if c.conf.Priority.MaxTRES {
		return most + global
	}
	return sum + global
}

// tresLimit is a limit on amounts: a row of tresLimits.
type tresLimit uint8

// The limits on amounts, in the order in which Slurm checks them when nodes are chosen
// (acct_policy_job_runnable_post_select). Associations have only those before minTRESPerJob. Limits on what jobs have or use
// together come first: see ofGroup.
const (
	grpTRESMins tresLimit = iota
	grpTRES
	grpTRESRunMins
	maxTRESMinsPerJob
	maxTRESPerJob
	maxTRESPerNode
	minTRESPerJob
	maxTRESPerAccount
	maxTRESPerUser
	tresLimitCount
)

// measure is the quantity that a limit on amounts bounds.
type measure uint8

const (
	used          measure = iota // what jobs have used up to now, amount times minutes, as far as it has not decayed
	together                     // what the job and those that run have
	minutes                      // the minutes that the job and those that run may still use, amount times minutes
	ofEach                       // what the job has
	ofEachMinutes                // what the job has, times the minutes of its limit
	ofEachNode                   // what the job has divided by its nodes, cut to a whole number
	atLeast                      // what the job has: the limit is the least
)

// tresLimits are the limits on amounts.
var tresLimits = [tresLimitCount]struct {
	option        string   // as sacctmgr spells it
	keys          []string // its names in lower case
	before, after string   // the words before and after the kind in reasons
	measure       measure
}{
	grpTRESMins:       {"GrpTRESMins", []string{"grptresmins"}, "Grp", "Minutes", used},
	grpTRES:           {"GrpTRES", []string{"grptres"}, "Grp", "", together},
	grpTRESRunMins:    {"GrpTRESRunMins", []string{"grptresrunmins"}, "Grp", "RunMinutes", minutes},
	maxTRESMinsPerJob: {"MaxTRESMins", []string{"maxtresmins", "maxtresminsperjob"}, "Max", "MinutesPerJob", ofEachMinutes},
	maxTRESPerJob:     {"MaxTRES", []string{"maxtres", "maxtresperjob"}, "Max", "PerJob", ofEach},
	maxTRESPerNode:    {"MaxTRESPerNode", []string{"maxtrespernode"}, "Max", "PerNode", ofEachNode},
	minTRESPerJob:     {"MinTRES", []string{"mintres", "mintresperjob"}, "Min", "", atLeast},
	maxTRESPerAccount: {"MaxTRESPerAccount", []string{"maxtresperaccount", "maxtrespa"}, "Max", "PerAccount", together},
	maxTRESPerUser:    {"MaxTRESPerUser", []string{"maxtresperuser", "maxtrespu"}, "Max", "PerUser", together},
}

// tresLimitOf is the limit on amounts that an option in lower case sets.
func tresLimitOf(key string) (l tresLimit, is bool) {
	for l := range tresLimitCount {
		if slices.Contains(tresLimits[l].keys, key) {
			return l, true
		}
	}
	return 0, false
}

// ofGroup reports whether the limit is on what jobs have together, have used or can still use, so that it is checked for
// each account above the user, too, and not inherited.
func (l tresLimit) ofGroup() bool { return l < maxTRESMinsPerJob }

// ofTime reports whether the limit is on minutes.
func (l tresLimit) ofTime() bool {
	return l == grpTRESMins || l == grpTRESRunMins || l == maxTRESMinsPerJob
}

// reasonOf is the reason of jobs that wait for a limit on a kind with a label. of is whose limit it is: QOS or Assoc.
func (l tresLimit) reasonOf(of, label string) Reason {
	row := &tresLimits[l]
	if l == maxTRESPerAccount {
		of = ""
	}
	if l == maxTRESPerNode && (label == "Node" || label == "License") { // Slurm has forgotten them
		label = "Unknown"
	}
	name := of + row.before + label + row.after
	if other, there := oddReasons[name]; there {
		return other
	}
	return Reason(name)
}

// oddReasons are the reasons that are not made of their words as all others are: reasons from Slurm's first
// years, and memory, which QoSs call otherwise than associations.
var oddReasons = map[string]Reason{
	"QOSGrpCpu": "QOSGrpCpuLimit", "QOSGrpMem": "QOSGrpMemLimit", "QOSGrpNode": "QOSGrpNodeLimit",
	"AssocGrpCpu": "AssocGrpCpuLimit", "AssocGrpMem": "AssocGrpMemLimit", "AssocGrpNode": "AssocGrpNodeLimit",
	"QOSGrpCpuMinutes": "QOSGrpCPUMinutesLimit", "AssocGrpCpuMinutes": "AssocGrpCPUMinutesLimit",
	"QOSMaxCpuMinutesPerJob": "QOSMaxCpuMinutesPerJobLimit", "AssocMaxCpuMinutesPerJob": "AssocMaxCpuMinutesPerJobLimit",
	"QOSGrpMemMinutes": "QOSGrpMemoryMinutes", "QOSMaxMemMinutesPerJob": "QOSMaxMemoryMinutesPerJob",
	"QOSGrpCpuRunMinutes": "QOSGrpCPURunMinutesLimit", "AssocGrpCpuRunMinutes": "AssocGrpCPURunMinutesLimit",
	"QOSMaxCpuPerJob": "QOSMaxCpuPerJobLimit", "QOSMaxNodePerJob": "QOSMaxNodePerJobLimit",
	"AssocMaxCpuPerJob": "AssocMaxCpuPerJobLimit", "AssocMaxNodePerJob": "AssocMaxNodePerJobLimit",
	"QOSMaxCpuPerUser": "QOSMaxCpuPerUserLimit", "QOSMaxNodePerUser": "QOSMaxNodePerUserLimit", "QOSMinCpu": "QOSMinCpuNotSatisfied",
	"QOSGrpMemRunMinutes": "QOSGrpMemoryRunMinutes", "QOSMaxMemPerJob": "QOSMaxMemoryPerJob", "QOSMaxMemPerNode": "QOSMaxMemoryPerNode",
	"QOSMinMem": "QOSMinMemory", "QOSMaxMemPerUser": "QOSMaxMemoryPerUser", "MaxMemPerAccount": "MaxMemoryPerAccount",
}

// ceiling is a limit on the amount of a kind, as the controller checks it.
type ceiling struct {
	kind   int    // position of the kind
	most   int    // 0 or more; the least of MinTRESPerJob
	reason Reason // of jobs that wait for it
}

// ceilings are the limits on amounts of a group. Each list has rising positions of kinds: of several limits in the way Slurm
// names the first.
type ceilings [tresLimitCount][]ceiling

// on returns the limit on a kind; limited is false if the kind has no limit.
func (all *ceilings) on(l tresLimit, kind int) (limit ceiling, limited bool) {
	for _, limit = range all[l] {
		if limit.kind == kind {
			return limit, true
		}
	}
	return ceiling{}, false
}

// setCeilings turns the limits that were read into ceilings that can be checked, for QoSs and down the tree of
// accounts. An association without a limit on single jobs for a kind has the limit of the nearest account above
// it for that kind. Kinds that the controller does not count are left out, as in slurmctld.
func (c *Controller) setCeilings() {
	set := func(l *limits, of string) {
		l.ceilings = ceilings{}
		for limit := range tresLimitCount {
			for kind, k := range c.kinds {
				if most, limited := l.asked[limit][k.name]; limited {
					l.ceilings[limit] = append(l.ceilings[limit], ceiling{kind, most, limit.reasonOf(of, k.label)})
				}
			}
		}
	}
	for _, q := range c.accounts.qos {
		set(&q.limits, "QOS")
	}
	for at := range c.accounts.all { // parents come first
		set(&at.limits, "Assoc")
		at.amountLimits = nil
		if at.parent == nil {
			continue
		}
		for _, limit := range []tresLimit{maxTRESMinsPerJob, maxTRESPerJob, maxTRESPerNode} {
			for _, above := range at.parent.ceilings[limit] {
				if _, own := at.ceilings.on(limit, above.kind); !own {
					at.ceilings[limit] = append(at.ceilings[limit], above)
				}
			}
			slices.SortFunc(at.ceilings[limit], func(a, b ceiling) int { return a.kind - b.kind })
		}
	}
}

// setAmounts reads KIND=COUNT,KIND=COUNT. Limits on kinds that are not named stay. It reports false if Slurm knows no
// such kind.
func setAmounts(to *map[string]int, value string) (known bool, err error) {
	known = true
	if *to == nil {
		*to = map[string]int{}
	}
	for part := range strings.SplitSeq(value, ",") {
		kind, text, _ := strings.Cut(part, "=")
		n, err := amountOf(kind, text)
		if err != nil || kind == "" {
			return false, fmt.Errorf("%q: want KIND=COUNT", part)
		}
		switch kind = strings.ToLower(kind); {
		case labelOf(kind) == "":
			known = false
		case n < 0:
			delete(*to, kind) // -1 clears a limit; 0 is one
		default:
			(*to)[kind] = n
		}
	}
	return known, nil
}

// megabytes are the units of memory in which sacctmgr has it.
var megabytes = map[string]int{"M": 1, "G": 1 << 10, "T": 1 << 20, "P": 1 << 30}

// amountOf reads an amount of a kind. Memory is in MB, or in the unit behind the number, as 10G.
func amountOf(kind, text string) (int, error) {
	times := 1
	if strings.EqualFold(kind, "mem") && text != "" {
		if unit, there := megabytes[strings.ToUpper(text[len(text)-1:])]; there {
			text, times = text[:len(text)-1], unit
		}
	}
	n, err := strconv.Atoi(text)
	if err == nil && n > math.MaxInt/times {
		err = strconv.ErrRange
	}
	return n * times, err
}

// amountLimit is a limit on amounts that holds for a job.
type amountLimit struct {
	limit tresLimit
	ceiling
	of     *group // whose limit it is: a QoS or an association
	beside *crowd // its running jobs count together with the job
}

// amountLimits returns the limits on amounts that hold for the job, in the order in which Slurm checks them: of its
// QoS, of its user's association, and of the accounts above from the nearest on. A limit of the QoS stands in for the same
// limit of associations on the same kind. Of an account the list has only limits on all its jobs together; setCeilings has
// passed its limits on single jobs to its users. Limits do not change while a controller runs, so all jobs of
// an association with one QoS share a list.
func (j *Job) amountLimits() []amountLimit {
	if j.assoc == nil { // limits are enforced only together with associations
		return nil
	}
	all, listed := j.assoc.amountLimits[j.qos]
	if !listed {
		if j.assoc.amountLimits == nil {
			j.assoc.amountLimits = map[*qos][]amountLimit{}
		}
		all = j.listAmountLimits()
		j.assoc.amountLimits[j.qos] = all
	}
	return all
}

// listAmountLimits makes the list that amountLimits returns.
func (j *Job) listAmountLimits() (all []amountLimit) {
	instead := &ceilings{} // the QoS's
	if q := j.qos; q != nil {
		instead = &q.ceilings
		for limit := range tresLimitCount {
			for _, most := range q.ceilings[limit] {
				all = append(all, amountLimit{limit, most, &q.group, q.countedFor(limit, j)})
			}
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		for limit := range minTRESPerJob {
			if at != j.assoc && !limit.ofGroup() {
				continue
			}
			for _, most := range at.ceilings[limit] {
				if _, ofQOS := instead.on(limit, most.kind); !ofQOS {
					all = append(all, amountLimit{limit, most, &at.group, &at.crowd})
				}
			}
		}
	}
	return all
}

// beyondAmounts returns the limit on amounts that keeps a job with these wants from starting, or ""
// (acct_policy_job_runnable_post_select). It notes whether it is a limit of the QoS.
func (c *Controller) beyondAmounts(j *Job, wants tres) Reason {
	if !c.conf.Enforce.Limits {
		return ""
	}
	j.blockedByQOS = false
	for _, l := range j.amountLimits() {
		if c.beyond(l, j, wants) {
			j.blockedByQOS = j.qos != nil && l.of == &j.qos.group
			return l.reason
		}
	}
	return ""
}

// countedFor returns the jobs of the QoS that count with a limit on amounts: all of them, or only the jobs of j's
// user or account.
func (q *qos) countedFor(limit tresLimit, j *Job) *crowd {
	switch limit {
	case maxTRESPerUser:
		ofUser, _ := q.sharers(j)
		return ofUser
	case maxTRESPerAccount:
		_, ofAccount := q.sharers(j)
		return ofAccount
	}
	return &q.crowd
}

// beyond reports whether a limit does not let the job start with these wants beside the jobs that run. A job that
// wants nothing of a kind waits for no limit on what jobs have together.
func (c *Controller) beyond(l amountLimit, j *Job, wants tres) bool {
	want := wants.of(l.kind)
	switch tresLimits[l.limit].measure {
	case used:
		return c.beyondUse(l.ceiling, l.of, j, want)
	case together:
		if l.kind == tresNode { // a node that the others have already counts once
			theirs := c.nodesOf(l.beside.running)
			for _, n := range wants.on {
				if theirs.has(n) {
					want--
				}
			}
		}
		return want > 0 && c.taken(l.beside, l.kind)+want > l.most
	case minutes:
		return want > 0 && want*int(j.Limit/des.Minute)+c.minutesLeft(l.of, l.kind, j) > l.most
	}
	return l.beyondAlone(j, wants)
}

// beyondAlone reports whether a job with these wants is beyond the limit, whatever runs.
func (l *amountLimit) beyondAlone(j *Job, wants tres) bool {
	want := wants.of(l.kind)
	switch tresLimits[l.limit].measure {
	case used, minutes, ofEachMinutes:
		return want > 0 && int(j.Limit/des.Minute) > l.most/want
	case ofEachNode:
		return want/max(wants.of(tresNode), 1) > l.most
	case atLeast:
		return want < l.most
	}
	return want > l.most
}

// beyondUse reports whether the use of a kind by a group keeps a job from starting that wants an amount of it
// (GrpTRESMins). With AccountingStorageEnforce=safe the use that the job and the running jobs may still make counts, too.
// A job whose QoS has UsageFactor=0 is checked as if the group had used nothing.
func (c *Controller) beyondUse(most ceiling, g *group, j *Job, want int) bool {
	if want == 0 {
		return false
	}
	has := 0
	if j.usageFactor() != 0 {
		has = g.used.minutes(most.kind)
	}
	return has >= most.most || c.conf.Enforce.Safe && want*int(j.Limit/des.Minute)+c.minutesLeft(g, most.kind, j) > most.most-has
}

// outOfUse reports whether a running job has to end because a limit on use has been reached (acct_policy_job_time_out): its
// group has used GrpTRESMins or run GrpWall, or the job itself has used MaxTRESMins. With safe no job is ended, because no job
// starts that could reach a limit. Limits of the root of all associations end no job, nor does MaxTRESMins=node of an
// association.
func (c *Controller) outOfUse(now des.Time, j *Job) bool {
	if !c.conf.Enforce.Limits || c.conf.Enforce.Safe || !c.accounts.limitsUse {
		return false
	}
	minutes := int(c.second(now)-c.second(j.Start)) / 60
	of := &unlimited // the QoS's
	if q := j.qos; q != nil {
		if of = &q.limits; q.usedUp(&unlimited, j, minutes, true) {
			return true
		}
	}
	for at := j.assoc; at != nil && at.parent != nil; at = at.parent {
		if at.usedUp(of, j, minutes, false) {
			return true
		}
	}
	return false
}

// usedUp reports whether a limit on use of a group has been reached: by all its jobs together, or by the job j alone, which
// has run for some minutes. Limits that the QoS has, too, do not count. nodes says whether MaxTRESMins=node counts.
func (g *group) usedUp(qos *limits, j *Job, minutes int, nodes bool) bool {
	holds := func(limit tresLimit, kind int) bool {
		_, instead := qos.ceilings.on(limit, kind)
		return !instead && j.allocated.of(kind) > 0
	}
	for _, most := range g.ceilings[grpTRESMins] {
		if holds(grpTRESMins, most.kind) && g.used.minutes(most.kind) >= most.most {
			return true
		}
	}
	if wall := g.wallTogether; wall.limited && !qos.wallTogether.limited && des.Time(g.used.wallMinutes())*des.Minute >= wall.most {
		return true
	}
	for _, most := range g.ceilings[maxTRESMinsPerJob] {
		if holds(maxTRESMinsPerJob, most.kind) && (nodes || most.kind != tresNode) && minutes*j.allocated.of(most.kind) >= most.most {
			return true
		}
	}
	return false
}

// taken returns the amount of a kind of TRES that the jobs of a crowd have together; a node counts once.
func (c *Controller) taken(by *crowd, kind int) int {
	switch {
	case kind == tresNode:
		return c.nodesOf(by.running).count()
	case by.sums == nil:
		return 0
	}
	return by.sums[kind]
}

// nodesOf is the nodes that jobs have.
func (c *Controller) nodesOf(running []*Job) nodeSet {
	all := newNodeSet(len(c.conf.Nodes))
	for _, r := range running {
		all.unite(r.nodes)
	}
	return all
}

// minutesLeft returns the use that the running jobs of a group may still make of a kind, amount times minutes,
// cut to a whole number as in Slurm. It counts when j is to start, except for a job whose QoS has UsageFactor=0:
// then minutesLeft returns 0.
func (c *Controller) minutesLeft(g *group, kind int, j *Job) int {
	if j.usageFactor() == 0 {
		return 0
	}
	seconds := 0.0
	if g.lost != nil {
		seconds = g.lost[kind]
	}
	for _, r := range g.running {
		seconds += float64(r.allocated.of(kind)) * c.unused(r)
	}
	return max(0, int(seconds/60))
}
