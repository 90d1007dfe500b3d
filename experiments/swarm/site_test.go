package swarm

// Worlds in which Slurm's rules decide: a small site with its slurm.conf, accounts, reservations and
// orders of operators, and jobs of a folder or of a log.

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// siteFolder is the folder of the site's files.
const siteFolder = "slurm.d"

// slurmSite is what the files of a site say.
type slurmSite struct {
	nodes      []*nodeRow
	partitions []*partition
	conf       []string // lines of slurm.conf beside nodes and partitions
	sched      []string // SchedulerParameters
	selects    []string // SelectTypeParameters; nil: slurm.conf does not have the key
	scheduler  string   // of SchedulerType, behind "sched/"
	enforce    []string // AccountingStorageEnforce
	database   bool
	qos        []string // lines of sacctmgr.txt, in this order
	accounts   map[string]string
	users      map[string]string
	bookings   []*siteBooking
	orders     []siteOrder
	plain      bool // jobs.csv has names of jobs in place of keys
}

// devices are the devices of each node, as slurm.conf has them.
func (n *nodeRow) devices() string {
	if n.types == nil {
		return fmt.Sprintf("gpu:%d", n.gpus)
	}
	var all []string
	for _, of := range n.types {
		all = append(all, fmt.Sprintf("gpu:%s:%d", of, n.gpus))
	}
	return strings.Join(all, ",")
}

// nodeRow is a row NodeName: nodes of first to last.
type nodeRow struct {
	first, last, sockets, cores, memory, gpus int
	types                                     []string // of its GPUs: as many of each; nil: they have none
	more                                      string
}

// partition is a row PartitionName.
type partition struct {
	name        string
	first, last int // nodes
	maxTime     int // minutes; 0: no limit
	more        string
}

// siteBooking is a row of reservations.csv.
type siteBooking struct {
	created, start, minutes int
	first, last             int // nodes; a number of nodes where first is 0
	users                   string
	maintenance             bool
}

// siteOrder is a row of actions.csv.
type siteOrder struct {
	at                   int
	do, job, node, value string
}

// hostsOf is a host list.
func hostsOf(first, last int) string {
	if first == last {
		return fmt.Sprintf("n%d", first)
	}
	return fmt.Sprintf("n[%d-%d]", first, last)
}

// hosts are the names of a host list as hostsOf and Slurm write it.
func hosts(list string) (names []string) {
	for _, n := range numbersOf(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(list, "n"), "["), "]")) {
		names = append(names, fmt.Sprintf("n%d", n))
	}
	return names
}

// say adds a line to slurm.conf.
func (s *slurmSite) say(format string, args ...any) {
	s.conf = append(s.conf, fmt.Sprintf(format, args...))
}

// count is how many nodes there are.
func (s *slurmSite) count() int { return s.nodes[len(s.nodes)-1].last }

// rowOf is the row of a node.
func (s *slurmSite) rowOf(node int) *nodeRow {
	return s.nodes[slices.IndexFunc(s.nodes, func(r *nodeRow) bool { return node <= r.last })]
}

// split makes two rows of the last one, where it has two nodes.
func (s *slurmSite) split(r rnd) {
	last := s.nodes[len(s.nodes)-1]
	if last.first == last.last {
		return
	}
	second := *last
	last.last = r.among(last.first, last.last-1)
	second.first = last.last + 1
	s.nodes = append(s.nodes, &second)
}

// drawSite draws what there is of a site without any feature.
func (w *world) drawSite(r rnd) {
	shape := [][2]int{{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 3}, {1, 8}}[r.IntN(6)]
	n := r.among(1, 8)
	s := &slurmSite{accounts: map[string]string{}, users: map[string]string{}, selects: []string{"CR_Core"}, scheduler: "backfill"}
	s.nodes = []*nodeRow{{first: 1, last: n, sockets: shape[0], cores: shape[1], memory: 1000 * shape[0] * shape[1]}}
	s.partitions = []*partition{{name: "p0", first: 1, last: n, more: " Default=YES"}}
	if r.chance(20) {
		s.partitions[0].more += " OverSubscribe=EXCLUSIVE"
	}
	w.site, w.procs, w.source = s, n*shape[0]*shape[1], "site"
	w.policies = []string{"slurm"}
	w.set("slurm", siteFolder)
	if w.kind == siteLog {
		w.source = ""
		w.set("slurm", siteFolder+"/slurm.conf")
	}
}

// stretch has the jobs of a site last longer: the loops of Slurm wake every second to every minute.
func (w *world) stretch(r rnd) {
	by := []int{1, 5, 20}[r.IntN(3)]
	for _, j := range w.jobs {
		j.submit, j.runtime, j.estimate = j.submit*by, j.runtime*by, j.estimate*by
	}
	w.each("shape", func(r rnd, j *job) {
		cpus := w.site.nodes[0].sockets * w.site.nodes[0].cores
		nodes := (j.procs + cpus - 1) / cpus
		switch k := r.IntN(10); {
		case k < 5:
			j.more["tasks"] = strconv.Itoa(j.procs)
		case k < 7:
			j.more["nodes"] = strconv.Itoa(nodes)
		case k < 8:
			j.more["nodes"], j.more["tasks"] = strconv.Itoa(nodes), strconv.Itoa(max(nodes-r.IntN(2), j.procs-r.IntN(3), 1))
		case k < 9:
			per := r.among(1, cpus)
			j.more["nodes"], j.more["tpn"], j.more["tasks"] = strconv.Itoa(nodes), strconv.Itoa(per), strconv.Itoa(nodes*per)
		default:
			per := r.among(1, min(cpus, 3))
			j.more["cpt"], j.more["tasks"] = strconv.Itoa(per), strconv.Itoa(max(1, j.procs/per))
		}
	})
}

func (j *job) key() string { return fmt.Sprintf("j%d", j.id) }

// minutes is the time limit.
func (j *job) minutes() int { return max(1, (j.estimate+59)/60) }

// siteUsers are the accounts of users; what a log has of them are numbers.
var siteUsers = []string{"a", "a", "b", "b"}

// userName is the name of a user.
func (w *world) userName(user int) string {
	if w.kind == siteLog {
		return strconv.Itoa(user)
	}
	return fmt.Sprintf("u%d", user)
}

// writeSite writes the files of the site.
func (w *world) writeSite() error {
	s := w.site
	dir := filepath.Join(w.dir, siteFolder)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	conf := slices.Clone(s.conf)
	conf = append(conf, "SelectType=select/cons_tres", "SchedulerType=sched/"+s.scheduler)
	if s.selects != nil {
		conf = append(conf, "SelectTypeParameters="+strings.Join(s.selects, ","))
	}
	if len(s.sched) > 0 {
		conf = append(conf, "SchedulerParameters="+strings.Join(s.sched, ","))
	}
	if s.database {
		conf = append(conf, "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageEnforce="+strings.Join(append([]string{"associations"}, s.enforce...), ","))
	}
	for _, n := range s.nodes {
		line := fmt.Sprintf("NodeName=%s Sockets=%d CoresPerSocket=%d ThreadsPerCore=1 RealMemory=%d", hostsOf(n.first, n.last), n.sockets, n.cores, n.memory)
		if n.gpus > 0 {
			line += " Gres=" + n.devices()
		}
		conf = append(conf, line+n.more)
	}
	for _, p := range s.partitions {
		limit := "INFINITE"
		if p.maxTime > 0 {
			limit = strconv.Itoa(p.maxTime)
		}
		conf = append(conf, fmt.Sprintf("PartitionName=%s Nodes=%s State=UP MaxTime=%s%s", p.name, hostsOf(p.first, p.last), limit, p.more))
	}
	accounts := slices.Clone(s.qos)
	if s.database {
		for _, name := range slices.Sorted(maps.Keys(s.accounts)) {
			accounts = append(accounts, "add account "+name+s.accounts[name])
		}
		for i, account := range siteUsers {
			name := w.userName(i + 1)
			accounts = append(accounts, "add user "+name+" account="+account+s.users[name])
		}
	}
	files := map[string]string{"slurm.conf": strings.Join(conf, "\n") + "\n"}
	if s.database {
		files["sacctmgr.txt"] = strings.Join(accounts, "\n") + "\n"
	}
	if len(s.bookings) > 0 {
		files["reservations.csv"] = s.bookingsFile()
	}
	if w.kind == site {
		files["jobs.csv"] = w.siteJobs()
		if len(s.orders) > 0 {
			slices.SortStableFunc(s.orders, func(a, b siteOrder) int { return cmp.Compare(a.at, b.at) })
			text := "time,do,job,node,value\n"
			for _, o := range s.orders {
				text += fmt.Sprintf("%d.75,%s,%s,%s,%s\n", o.at, o.do, o.job, o.node, o.value)
			}
			files["actions.csv"] = text
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func (s *slurmSite) bookingsFile() string {
	text := "created,name,start,minutes,nodelist,nodecnt,partition,users,maint\n"
	for i, b := range s.bookings {
		where := hostsOf(b.first, b.last) + ",,"
		if b.first == 0 {
			where = fmt.Sprintf(",%d,p0", b.last)
		}
		text += fmt.Sprintf("%d.5,res%d,%d,%d,%s,\"%s\",%d\n", b.created, i, b.start, b.minutes, where, b.users, btoi(b.maintenance))
	}
	return text
}

// siteJobs is jobs.csv.
func (w *world) siteJobs() string {
	columns := map[string]bool{}
	for _, j := range w.jobs {
		for name := range j.more {
			columns[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(columns))
	key := "key"
	if w.site.plain {
		key = "name"
		names = slices.DeleteFunc(names, func(name string) bool { return name == key })
	}
	lines := []string{strings.Join(append([]string{key, "submit", "uid", "limit_min", "runtime"}, names...), ",")}
	for _, j := range w.jobs {
		fields := []string{j.key(), strconv.Itoa(j.submit) + ".25", strconv.Itoa(5000 + j.user), strconv.Itoa(j.minutes()), strconv.Itoa(j.runtime)}
		for _, name := range names {
			field := j.more[name]
			if strings.Contains(field, ",") {
				field = `"` + field + `"`
			}
			fields = append(fields, field)
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	return strings.Join(lines, "\n") + "\n"
}

// booked notes that the site has reservations.
func (w *world) booked(b *siteBooking) {
	w.site.bookings = append(w.site.bookings, b)
	if w.kind == siteLog {
		w.set("reservations", siteFolder+"/reservations.csv")
	}
}

// lastSubmit is when the last job comes.
func (w *world) lastSubmit() int { return w.jobs[len(w.jobs)-1].submit }

// siteFeatures are features of sites.
func siteFeatures() []feature {
	anySite := site | siteLog
	some := func(name string, odds int, change func(r rnd, w *world, j *job)) feature {
		return feature{name: name, of: site, odds: odds, add: func(_ rnd, w *world) {
			w.each(name, func(r rnd, j *job) { change(r, w, j) })
		}}
	}
	return []feature{
		// The machine.
		{name: "node-kinds", of: anySite, add: func(r rnd, w *world) {
			w.site.split(r)
			last := w.site.nodes[len(w.site.nodes)-1]
			last.sockets, last.cores = r.among(1, 2), r.among(1, 4)
			last.memory = r.among(1, 4) * 1000
		}},
		{name: "weights", of: anySite, odds: 5, add: func(r rnd, w *world) {
			w.site.split(r)
			for _, n := range w.site.nodes {
				n.more += " Weight=" + r.text("1 1 5 10")
			}
		}},
		{name: "gpus", of: anySite, add: func(r rnd, w *world) {
			w.site.split(r)
			w.site.nodes[len(w.site.nodes)-1].gpus = r.among(1, 4)
			w.site.say("GresTypes=gpu")
			w.each("gpus", func(r rnd, j *job) {
				if r.chance(30) {
					j.more["gres"] = "gpu:" + r.number(1, 2)
				}
			})
		}},
		{name: "gpu-types", of: anySite, odds: 8, needs: "gpus", add: func(r rnd, w *world) {
			types := strings.Fields(r.one("a100", "a100 v100", "v100 a100"))
			w.site.nodes[len(w.site.nodes)-1].types = types
			w.each("gpu-types", func(r rnd, j *job) {
				switch n := r.number(1, 2); {
				case j.more["gres"] == "" || r.chance(40):
				case r.chance(30):
					j.more["gres"] = "gpu:a100:1,gpu:v100:" + n
				case r.chance(5):
					j.more["gres"] = "gpu:1,gpu:a100:" + n // which is refused
				default:
					j.more["gres"] = "gpu:" + r.text("a100 a100 v100") + ":" + n
				}
			})
		}},
		{name: "node-features", of: site, odds: 5, add: func(r rnd, w *world) {
			w.site.split(r)
			for i, n := range w.site.nodes {
				n.more += " Feature=" + []string{"fast", "slow", "fast,big"}[i%3]
			}
			w.each("node-features", func(r rnd, j *job) {
				if r.chance(30) {
					j.more["feature"] = r.text("fast slow big fast&big")
				}
			})
		}},
		{name: "memory", of: anySite, add: func(r rnd, w *world) {
			w.site.selects[0] = "CR_Core_Memory"
			if r.chance(50) {
				w.site.say("DefMemPerCPU=%s", r.text("100 500 1000"))
			}
			w.each("memory", func(r rnd, j *job) {
				switch k := r.IntN(10); {
				case k < 4:
					j.more["mempercpu"] = r.text("100 300 500 1000 1500")
				case k < 8:
					j.more["mem"] = r.text("100 500 1000 2000 4000")
				}
			})
		}},
		{name: "licences", of: anySite, odds: 6, add: func(r rnd, w *world) {
			w.site.say("Licenses=matlab:%d,abaqus:3", r.among(1, 3))
			if r.chance(40) {
				w.site.sched = append(w.site.sched, "bf_licenses")
			}
			w.each("licences", func(r rnd, j *job) {
				if r.chance(40) {
					j.more["licenses"] = r.one("matlab:1", "matlab:1", "abaqus:2", "matlab:1,abaqus:1")
				} else if r.chance(5) {
					j.more["licenses"] = r.text("abaqus:9 ansys:1") // which are refused
				}
			})
		}},
		{name: "least-loaded", of: anySite, odds: 2, add: func(_ rnd, w *world) { w.site.selects = append(w.site.selects, "CR_LLN") }},
		{name: "packed", of: anySite, odds: 2, not: "least-loaded", add: func(_ rnd, w *world) { w.site.selects = append(w.site.selects, "CR_Pack_Nodes") }},

		{name: "best-fit", of: anySite, odds: 2, add: func(_ rnd, w *world) {
			w.site.selects[0] = strings.Replace(w.site.selects[0], "CR_Core", "CR_CPU", 1)
		}},
		{name: "usual-selection", of: anySite, odds: 2, not: "memory best-fit least-loaded packed", add: func(_ rnd, w *world) { w.site.selects = nil }},
		{name: "builtin", of: anySite, odds: 2, add: func(_ rnd, w *world) { w.site.scheduler = "builtin" }},

		// Partitions.
		{name: "partitions", of: anySite, odds: 15, add: func(r rnd, w *world) {
			n := w.site.count()
			for i := range r.among(1, 2) {
				first := r.among(1, n)
				w.site.partitions = append(w.site.partitions, &partition{name: fmt.Sprintf("p%d", i+1), first: first, last: r.among(first, n), more: " PriorityJobFactor=" + r.text("1 2 10")})
			}
			if r.chance(40) {
				w.site.partitions[0].last = r.among(1, n)
			}
			lists := r.chance(50)
			w.each("partitions", func(r rnd, j *job) {
				k := r.IntN(len(w.site.partitions))
				j.more["partition"] = fmt.Sprintf("p%d", k)
				if lists && r.chance(40) {
					j.more["partition"] += fmt.Sprintf(",p%d", (k+1)%len(w.site.partitions))
				}
			})
		}},
		{name: "tiers", of: anySite, odds: 8, needs: "partitions", add: func(r rnd, w *world) {
			for _, p := range w.site.partitions {
				p.more += " PriorityTier=" + r.text("1 1 2 5")
			}
		}},
		{name: "partition-limits", of: anySite, odds: 6, add: func(r rnd, w *world) {
			for _, p := range w.site.partitions {
				if r.chance(50) {
					p.maxTime = r.among(1, 30)
				}
				if r.chance(40) {
					p.more += " MaxNodes=" + r.text("1 2")
				}
			}
			if r.chance(50) {
				w.site.say("EnforcePartLimits=%s", r.text("ALL ANY NO"))
			}
		}},
		{name: "billing", of: anySite, odds: 3, add: func(r rnd, w *world) {
			w.site.partitions[0].more += " TRESBillingWeights=" + r.one("CPU=1.0,Mem=0.25G", "CPU=0.5", "CPU=1.0,GRES/gpu=2.0", "CPU=1.0,GRES/gpu:a100=4.0")
			if r.chance(40) {
				w.site.say("PriorityFlags=MAX_TRES")
			}
		}},

		// Accounts.
		{name: "accounts", of: anySite, odds: 15, add: func(r rnd, w *world) { w.enrol(r) }},
		{name: "qos", of: anySite, odds: 12, add: func(r rnd, w *world) {
			w.enrol(r)
			w.site.qos = []string{"add qos low priority=0", "add qos std priority=" + r.text("10 50"), "add qos hi priority=100"}
			w.site.enforce = append(w.site.enforce, "qos")
			for name := range w.site.users {
				w.site.users[name] += " qos=low,std,hi defaultqos=std"
			}
			w.each("qos", func(r rnd, j *job) {
				if r.chance(70) {
					j.more["qos"] = r.text("low low std hi")
				}
			})
		}},
		{name: "qos-limits", of: anySite, odds: 15, needs: "qos", add: func(r rnd, w *world) {
			w.site.enforce = append(w.site.enforce, "limits")
			for i := range w.site.qos {
				for range r.IntN(3) {
					w.site.qos[i] += " " + r.one("maxjobsperuser=1", "grpjobs=2", "maxtresperuser=cpu=4", "grptres=cpu=6", "grptres=node=2", "maxwall=5", "maxtresperjob=cpu=4", "maxsubmitjobsperuser=3", "maxtresperaccount=cpu=5", "grptresrunmins=cpu=60", "maxjobsperaccount=2", "grptresmins=cpu=60", "grpwall=40", "maxtresminsperjob=cpu=40")
				}
				if r.chance(10) {
					w.site.qos[i] += " flags=" + r.text("NoReserve DenyOnLimit NoDecay")
				}
			}
		}},
		{name: "account-limits", of: anySite, odds: 12, needs: "accounts", add: func(r rnd, w *world) {
			w.site.enforce = append(w.site.enforce, r.text("limits limits limits,safe"))
			for _, name := range slices.Sorted(maps.Keys(w.site.accounts)) {
				if r.chance(80) {
					w.site.accounts[name] += " " + r.one("grpjobs=2", "grptres=cpu=4", "maxjobs=1", "grptresmins=cpu=90", "grpwall=60")
				}
			}
			for _, name := range slices.Sorted(maps.Keys(w.site.users)) {
				if r.chance(60) {
					w.site.users[name] += " " + r.one("maxjobs=1", "maxtresperjob=cpu=3", "maxsubmitjobs=4", "grptres=cpu=4", "maxwall=10", "grptresrunmins=cpu=90", "grpjobsaccrue=2", "maxwall=0", "maxtresmins=cpu=30")
				}
			}
		}},
		{name: "usual-qos", of: anySite, odds: 10, needs: "accounts", not: "qos", add: func(r rnd, w *world) {
			w.site.enforce = append(w.site.enforce, "limits")
			w.site.qos = append(w.site.qos, "modify qos normal set "+r.one("grpjobs=2", "maxjobsperuser=1", "grptres=cpu=4", "maxsubmitjobsperuser=4", "maxwall=5"))
		}},
		{name: "tres-limits", of: anySite, odds: 12, needs: "qos-limits account-limits", add: func(r rnd, w *world) {
			own := []string{"grptres", "maxtresperjob", "maxtrespernode", "grptresrunmins", "grptresmins", "maxtresmins"}
			for i := range w.site.qos {
				for range r.IntN(3) {
					w.site.qos[i] += w.amountLimit(r, append(own, "maxtresperuser", "maxtresperaccount", "mintresperjob")...)
				}
				if r.chance(20) {
					w.site.qos[i] += " " + r.one("grpsubmitjobs=5", "maxsubmitjobsperaccount=4")
				}
			}
			for _, all := range []map[string]string{w.site.accounts, w.site.users} {
				for _, name := range slices.Sorted(maps.Keys(all)) {
					if r.chance(40) {
						all[name] += w.amountLimit(r, own...)
					}
					if r.chance(20) {
						all[name] += " " + r.one("grpsubmitjobs=6", "maxsubmitjobs=3", "maxjobs=2")
					}
				}
			}
		}},
		{name: "use-limits", of: anySite, odds: 8, needs: "qos-limits account-limits", add: func(r rnd, w *world) {
			limit := func() string {
				return " " + r.one("grptresmins=cpu=", "grptresmins=cpu=", "grpwall=", "maxtresmins=cpu=", "maxtresmins=node=") + r.text("5 15 40 100")
			}
			for i := range w.site.qos {
				if r.chance(40) {
					w.site.qos[i] += limit() + r.one("", "", " usagefactor=2", " usagefactor=0")
				}
			}
			for _, all := range []map[string]string{w.site.accounts, w.site.users} {
				for _, name := range slices.Sorted(maps.Keys(all)) {
					if r.chance(40) {
						all[name] += limit()
					}
				}
			}
		}},
		{name: "assoc-limit-stop", of: anySite, odds: 3, needs: "qos-limits account-limits", add: func(_ rnd, w *world) { w.site.sched = append(w.site.sched, "assoc_limit_stop") }},

		// Priorities.
		{name: "multifactor", of: anySite, odds: 12, add: func(r rnd, w *world) {
			w.site.say("PriorityType=priority/multifactor")
			w.site.say("PriorityWeightAge=%s", r.text("0 100 1000 10000"))
			w.site.say("PriorityMaxAge=0-%s", r.text("2 24"))
			w.site.say("PriorityCalcPeriod=%s", r.text("1 5"))
			if r.chance(50) {
				w.site.say("PriorityWeightPartition=%s", r.text("1000 5000"))
			}
			if r.chance(50) {
				w.site.say("PriorityWeightQOS=%s", r.text("1000 10000"))
			}
			if r.chance(40) {
				w.site.say("PriorityWeightJobSize=%s", r.text("500 5000"))
				w.site.say("PriorityFavorSmall=%s", r.text("YES NO"))
			}
		}},
		{name: "fair-share", of: anySite, odds: 10, needs: "multifactor", add: func(r rnd, w *world) {
			w.site.say("PriorityWeightFairshare=%s", r.text("1000 10000 100000"))
			w.site.say("PriorityDecayHalfLife=0-%s", r.text("1 4"))
		}},
		some("nice", 5, func(r rnd, w *world, j *job) {
			if r.chance(30) {
				j.more["nice"] = r.text("50 500 -100")
			}
			if r.chance(10) {
				w.order(j, r, "nice", r.text("0 200 1000"))
			}
		}),

		// Preemption.
		{name: "preempt-qos", of: anySite, odds: 20, needs: "qos", not: "preempt-tiers", add: func(r rnd, w *world) {
			w.site.qos[0] += r.one("", " preemptmode="+r.text("requeue requeue cancel off")) + r.one("", "", " gracetime=60")
			w.site.qos[2] += " preempt=low" + r.one("", ",std")
			w.site.say("PreemptType=preempt/qos")
			w.site.preempts(r)
		}},
		{name: "preempt-tiers", of: anySite, odds: 16, needs: "tiers", add: func(r rnd, w *world) {
			w.site.say("PreemptType=preempt/partition_prio")
			w.site.preempts(r)
		}},

		// The loops.
		{name: "scheduler", of: anySite, odds: 15, add: func(r rnd, w *world) {
			for _, text := range []string{
				"bf_interval=10", "bf_resolution=1", "bf_window=60", "bf_max_job_test=5", "default_queue_depth=2", "bf_max_job_user=2", "bf_max_job_part=2", "bf_max_job_assoc=2",
				"bf_max_job_user_part=1", "bf_max_job_start=1", "sched_min_interval=3000000", "sched_interval=30", "batch_sched_delay=10", "bf_min_age_reserve=300", "sched_max_job_start=1",
				"partition_job_depth=3", "bf_continue", "defer", "bf_one_resv_per_job", "pack_serial_at_end", "bf_busy_nodes", "bf_node_space_size=6", "bf_min_prio_reserve=100",
			} {
				if r.chance(12) {
					w.site.sched = append(w.site.sched, text)
				}
			}
		}},
		{name: "complete-wait", of: anySite, odds: 3, add: func(r rnd, w *world) { w.site.say("CompleteWait=%s", r.text("4 20")) }},
		{name: "over-time-limit", of: anySite, odds: 3, add: func(r rnd, w *world) { w.site.say("OverTimeLimit=%s", r.text("1 2 UNLIMITED")) }},
		{name: "kill-wait", of: anySite, odds: 5, add: func(r rnd, w *world) {
			w.site.say("KillWait=%s", r.text("0 5 120"))
			w.site.say("MessageTimeout=%s", r.text("1 60"))
		}},
		{name: "records", of: anySite, odds: 5, add: func(r rnd, w *world) { w.site.say("MinJobAge=%s", r.text("2 60 600")) }},
		{name: "phase", of: anySite, odds: 8, add: func(r rnd, w *world) {
			w.policies = append(w.policies, "slurm:phase="+r.number(1, 3599), "slurm:phase=seed")
		}},
		{name: "plain", of: site, odds: 6, add: func(_ rnd, w *world) { w.site.plain = true }},
		{name: "phases", of: anySite, odds: 4, add: func(r rnd, w *world) { w.after = append(w.after, phasesArePolicies) }},
		{name: "overrides", of: anySite, odds: 5, add: func(r rnd, w *world) { w.after = append(w.after, overridesAreTheFile) }},

		// Jobs, users and operators.
		{name: "twins", of: anySite, odds: 12, add: func(_ rnd, w *world) {
			for i := 1; i < len(w.jobs); i++ {
				if j, before := w.jobs[i], w.jobs[i-1]; stream(w.seed, fmt.Sprintf("twin %d", i)).chance(50) {
					j.user, j.procs, j.runtime, j.estimate, j.more = before.user, before.procs, before.runtime, before.estimate, maps.Clone(before.more)
				}
			}
		}},
		some("exclusive", 5, func(r rnd, _ *world, j *job) {
			if r.chance(25) {
				j.more["exclusive"] = "1"
			}
		}),
		some("node-lists", 5, func(r rnd, w *world, j *job) {
			switch n := r.among(1, w.site.count()); r.IntN(5) {
			case 0:
				j.more["nodelist"] = hostsOf(n, r.among(n, w.site.count()))
			case 1:
				j.more["exclude"] = hostsOf(n, n)
			}
		}),
		some("conditions", 10, func(r rnd, w *world, j *job) {
			at := slices.Index(w.jobs, j)
			if r.chance(20) {
				j.more["rc"] = "1"
			}
			if r.chance(15) {
				j.more["name"] = r.text("solo1 solo2")
			}
			if at == 0 || r.chance(60) {
				return
			}
			other := func() string { return w.jobs[r.IntN(at)].key() }
			switch r.IntN(6) {
			case 0, 1:
				j.more["dependency"] = "afterok:" + other()
			case 2:
				j.more["dependency"] = "afterany:" + other()
			case 3:
				j.more["dependency"] = r.text("after: afternotok:") + other()
			case 4:
				j.more["dependency"] = "afterany:" + other() + r.text(", ?") + "afterok:" + other()
			default:
				j.more["dependency"], j.more["name"] = "singleton", r.text("solo1 solo2")
			}
		}),
		{name: "kill-invalid", of: site, odds: 3, needs: "conditions", add: func(_ rnd, w *world) { w.site.say("DependencyParameters=kill_invalid_depend") }},
		some("begin", 6, func(r rnd, _ *world, j *job) {
			if r.chance(30) {
				j.more["begin"] = strconv.Itoa(j.submit + r.among(1, 600))
			}
		}),
		some("holds", 6, func(r rnd, w *world, j *job) {
			if !r.chance(25) {
				return
			}
			if r.chance(50) {
				j.more["hold"] = "1"
			} else {
				w.order(j, r, "hold", "")
			}
			if r.chance(80) {
				w.order(j, r, "release", "")
			}
		}),
		some("cancel", 6, func(r rnd, w *world, j *job) {
			if r.chance(20) {
				w.order(j, r, "cancel", "")
			}
		}),
		some("limit-orders", 4, func(r rnd, w *world, j *job) {
			if r.chance(20) {
				w.order(j, r, "limit", r.number(1, 20))
			}
		}),
		some("no-requeue", 3, func(r rnd, _ *world, j *job) {
			if r.chance(30) {
				j.more["requeue"] = "0"
			}
		}),
		{name: "failing-nodes", of: site, odds: 8, add: func(r rnd, w *world) {
			for range r.among(1, 3) {
				node, from := r.among(1, w.site.count()), r.among(0, w.lastSubmit()+100)
				w.site.orders = append(w.site.orders, siteOrder{at: from, do: r.text("down down drain"), node: hostsOf(node, node)})
				if r.chance(80) {
					up := siteOrder{at: from + r.among(1, 600), do: "up", node: hostsOf(node, node)}
					w.site.orders = append(w.site.orders, up)
					if r.chance(20) { // before it has registered
						w.site.orders = append(w.site.orders, siteOrder{at: up.at, do: r.text("down down drain"), node: up.node})
					}
				}
			}
		}},
		{name: "return-to-service", of: anySite, odds: 4, add: func(r rnd, w *world) { w.site.say("ReturnToService=%s", r.text("1 2 2 2")) }},
		{name: "site-outages", of: anySite, odds: 5, not: "failing-nodes", add: func(r rnd, w *world) {
			w.set("outages", fmt.Sprintf("%s:mtbf=%s:repair=%s:until=3000", r.text("exponential weibull:shape=0.7"), r.text("300 2000"), r.text("40 200")))
		}},
		{name: "site-outage-log", of: anySite, odds: 5, not: "site-outages", add: func(r rnd, w *world) {
			w.set("outages", "lost.csv")
			w.files["lost.csv"] = "from,to,node,known\n"
			for at := r.among(0, 100); r.chance(70); at += r.among(0, 600) {
				node := r.among(1, w.site.count())
				w.files["lost.csv"] += fmt.Sprintf("%d,%d,%s,%s\n", at, at+r.among(1, 500), hostsOf(node, node), r.one("", strconv.Itoa(max(0, at-60))))
			}
			if !strings.Contains(w.files["lost.csv"], "n1") {
				w.files["lost.csv"] += "700,800,n1,\n"
			}
		}},
		{name: "bookings", of: anySite, odds: 8, add: func(r rnd, w *world) {
			for i := range r.among(1, 3) {
				created := r.among(0, w.lastSubmit()/2+1)
				b := &siteBooking{created: created, start: created + r.among(30, 1500), minutes: r.among(1, 60), first: r.among(1, w.site.count()), users: w.userName(1) + "," + w.userName(3)}
				b.last = r.among(b.first, w.site.count())
				switch r.IntN(4) {
				case 0:
					b.users, b.maintenance = "root", true
				case 1:
					b.last = b.last - b.first + 1
					b.first = 0
				}
				w.booked(b)
				w.each(fmt.Sprintf("booking %d", i), func(r rnd, j *job) {
					if !b.maintenance && j.user%2 == 1 && j.submit > created && j.submit < b.start+60*b.minutes && r.chance(40) {
						j.more["reservation"] = fmt.Sprintf("res%d", i)
					}
				})
			}
		}},
	}
}

// enrol gives the site accounts and users, if it has none.
func (w *world) enrol(r rnd) {
	if w.site.database {
		return
	}
	w.site.database = true
	for _, name := range []string{"a", "b"} {
		w.site.accounts[name] = " fairshare=" + r.text("10 20 50")
	}
	for i := range siteUsers {
		w.site.users[w.userName(i+1)] = " fairshare=" + r.text("1 1 3")
	}
	if w.kind == siteLog {
		w.set("accounts", siteFolder+"/sacctmgr.txt")
	}
	if kinds := w.countedKinds(); len(kinds) > 0 {
		w.site.say("AccountingStorageTRES=%s", strings.Join(kinds, ","))
	}
}

// countedKinds are the kinds of AccountingStorageTRES, of which the first has number 1001.
func (w *world) countedKinds() (kinds []string) {
	if w.has("gpus") {
		kinds = append(kinds, "gres/gpu")
	}
	if w.has("gpu-types") {
		kinds = append(kinds, "gres/gpu:a100")
	}
	if w.has("licences") {
		kinds = append(kinds, "license/matlab", "license/abaqus")
	}
	return kinds
}

// amountLimit is a limit on a kind of TRES by one of the options.
func (w *world) amountLimit(r rnd, options ...string) string {
	kinds := append(w.countedKinds(), "mem", "billing", "node", "energy")
	kind, option := r.one(append(kinds, w.countedKinds()...)...), r.one(options...)
	most := r.among(0, 3)
	switch {
	case option == "mintresperjob": // else nobody would start
		kind, most = "cpu", r.among(1, 2)
	case kind == "mem":
		most = r.among(1, 8) * 1000
	case kind == "billing":
		most = r.among(2, 12)
	}
	if strings.HasSuffix(option, "mins") {
		most *= 30
	}
	return fmt.Sprintf(" %s=%s=%d", option, kind, most)
}

// order has an operator do something to a job some time after it has come.
func (w *world) order(j *job, r rnd, do, value string) {
	w.site.orders = append(w.site.orders, siteOrder{at: j.submit + r.among(1, 900), do: do, job: j.key(), value: value})
}

// exemptTime is the key in slurm.conf for the time that a job has to run before others preempt it.
const exemptTime = "PreemptExemptTime="

// exempt returns PreemptExemptTime in seconds; 0 if slurm.conf does not have the key.
func (s *slurmSite) exempt() int {
	if slices.Contains(s.conf, exemptTime+"00:10:00") {
		return 600
	}
	return 0
}

// preempts is what slurm.conf says of preemption.
func (s *slurmSite) preempts(r rnd) {
	s.say("PreemptMode=%s", r.text("REQUEUE REQUEUE CANCEL"))
	if r.chance(60) {
		s.say(exemptTime + "00:10:00")
	}
	if r.chance(20) {
		s.sched = append(s.sched, "preempt_youngest_first")
	}
	if r.chance(20) {
		s.sched = append(s.sched, "preempt_reorder_count=2")
	}
}
