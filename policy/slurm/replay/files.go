package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Files of a folder.
const (
	ConfigFile       = "slurm.conf"
	AccountsFile     = "sacctmgr.txt"
	JobsFile         = "jobs.csv"
	ReservationsFile = "reservations.csv"
	OrdersFile       = "actions.csv"
	EventsFile       = "slurm-events.csv"      // what a run writes
	AllEventsFile    = "controller-events.csv" // what it writes as well if EventsFile is plain, and tells only a part
)

// ReadFolder reads a folder: slurm.conf and jobs.csv, and, where they are there, sacctmgr.txt,
// reservations.csv and actions.csv. Overrides stand in place of what slurm.conf says.
func ReadFolder(dir string, overrides ...slurm.Override) (*Input, error) {
	in, err := ReadSite(filepath.Join(dir, ConfigFile), optional(filepath.Join(dir, AccountsFile)), overrides...)
	if err != nil {
		return nil, err
	}
	if err := in.ReadJobs(filepath.Join(dir, JobsFile)); err != nil {
		return nil, err
	}
	if path := optional(filepath.Join(dir, ReservationsFile)); path != "" {
		if err := in.ReadReservations(path, nil); err != nil {
			return nil, err
		}
	}
	if path := optional(filepath.Join(dir, OrdersFile)); path != "" {
		return in, in.readOrders(path)
	}
	return in, nil
}

// FilesOf returns the paths of the files of a folder that ReadFolder reads: slurm.conf,
// jobs.csv, and the other files that exist.
func FilesOf(dir string) []string {
	paths := []string{filepath.Join(dir, ConfigFile), filepath.Join(dir, JobsFile)}
	for _, name := range []string{AccountsFile, ReservationsFile, OrdersFile} {
		if path := optional(filepath.Join(dir, name)); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// optional is the path of a file that is there, or "".
func optional(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

// ReadSite reads slurm.conf, in place of which overrides stand, and the accounts where their path is
// not empty.
func ReadSite(conf, accounts string, overrides ...slurm.Override) (*Input, error) {
	f, err := os.Open(conf)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := &Input{Accounts: func() (*slurm.Accounts, error) { return slurm.NewAccounts(), nil }}
	var unknown []slurm.Unknown
	if in.Config, unknown, err = slurm.ReadConfig(conf, f, overrides...); err != nil {
		return nil, err
	}
	in.miss(conf, unknown)
	if accounts == "" {
		return in, nil
	}
	text, err := os.ReadFile(accounts)
	if err != nil {
		return nil, err
	}
	in.Accounts = func() (*slurm.Accounts, error) {
		a, _, err := slurm.ReadAccounts(accounts, strings.NewReader(string(text)))
		return a, err
	}
	all, unknown, err := slurm.ReadAccounts(accounts, strings.NewReader(string(text)))
	if err != nil {
		return in, err
	}
	in.miss(accounts, unknown)
	in.miss(accounts, all.Uncounted(in.Config))
	return in, nil
}

// miss notes what is not simulated of a file.
func (in *Input) miss(file string, all []slurm.Unknown) {
	for _, u := range all {
		in.Unknown = append(in.Unknown, Unknown{file, u})
	}
}

// Columns that are read of the tables of a folder.
const (
	jobColumns = "key submit uid account partition qos nodes tasks tpn cpt mem mempercpu gres licenses exclusive feature nodelist exclude " +
		"reservation dependency begin nice hold requeue limit_min runtime rc name"
	reservationColumns = "created name start minutes nodelist nodecnt partition users accounts maint"
	orderColumns       = "time do job node value"
)

// readTable reads the rows of a file. Columns that are not among the known ones are told: what they ask for is not simulated.
func (in *Input) readTable(path, known string, each func(*csvtable.Row) error, wanted ...string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := csvtable.Read(f, wanted...)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	columns := strings.Fields(known)
	for _, column := range t.Header {
		if !slices.Contains(columns, column) {
			in.miss(path, []slurm.Unknown{{Key: fmt.Sprintf("column %q", column), Line: 1}})
		}
	}
	for row := range t.Rows() {
		if err := each(row); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// count is a whole number of 0 or more; 0 where the field is empty.
func count(r *csvtable.Row, column string) int {
	if !r.Has(column) {
		return 0
	}
	n := r.Int(column)
	if n < 0 {
		r.Wrong(column, "a whole number of 0 or more")
	}
	return n
}

// firstUser is the number (uid) of the user u1 in recordings.
const firstUser = 5001

// userOf is the name of the user of a number, as recordings have them: u1 is 5001.
func userOf(uid int) string {
	if uid < firstUser {
		return ""
	}
	return "u" + strconv.Itoa(uid-firstUser+1)
}

// ReadJobs reads jobs.csv, whose rows must be in order of submission. A dependency names jobs of rows above. An
// error names the file, the line and the column.
func (in *Input) ReadJobs(path string) error {
	lines := map[string]int{}
	last := des.Time(0)
	in.Plain, in.Recorded, in.JobsFile = true, true, path
	return in.readTable(path, jobColumns, func(r *csvtable.Row) error {
		s, err := in.readJob(r)
		if err != nil {
			return err
		}
		if r.Has("key") {
			in.Plain = false
		}
		if was := lines[s.Key]; was > 0 {
			return r.At(fmt.Errorf("there is a job %q in line %d already", s.Key, was))
		}
		if s.At < last {
			return r.At(fmt.Errorf("submit: %v is before %v of the line above: want rows in order of submission", s.At, last))
		}
		for _, d := range s.After {
			if d.Key != "" && lines[d.Key] == 0 {
				return r.At(fmt.Errorf("dependency: no line above has a job %q", d.Key))
			}
		}
		lines[s.Key], last = r.Line, s.At
		in.Jobs = append(in.Jobs, s)
		return nil
	}, "submit", "limit_min", "runtime")
}

// readJob reads a row of jobs.csv.
func (in *Input) readJob(r *csvtable.Row) (Submission, error) {
	s := Submission{Key: r.Text("key"), At: r.Time("submit"), Line: r.Line}
	if s.Key == "" {
		s.Key = r.Text("name")
	}
	if s.Key == "" {
		return s, r.At(errors.New("want a name of the job in the column key, or name"))
	}
	s.Job = &slurm.Job{Nodes: count(r, "nodes"), Tasks: count(r, "tasks"), CPUsPerTask: count(r, "cpt"), TasksPerNode: count(r, "tpn"),
		Memory: count(r, "mem"), MemoryPerCPU: count(r, "mempercpu"), Exclusive: r.Text("exclusive") == "1",
		Limit: des.Time(count(r, "limit_min")) * des.Minute, Length: r.Time("runtime"), Account: r.Text("account"), User: userOf(count(r, "uid")),
		QOS: r.Text("qos"), Reservation: r.Text("reservation"), Name: r.Text("name"), Begin: r.TimeOr("begin", 0),
		Nice: int(r.NumberOr("nice", 0)), Held: r.Text("hold") == "1", Requeue: r.Text("requeue") != "0", ExitCode: count(r, "rc")}
	if s.Job.Limit == 0 {
		r.Wrong("limit_min", "a limit of 1 minute or more")
	}
	if feature := r.Text("feature"); strings.ContainsAny(feature, "|*[](){}!") {
		r.Wrong("feature", "features with & between them, as other ways to combine them are not simulated")
	} else if feature != "" {
		s.Job.Features = strings.FieldsFunc(feature, func(c rune) bool { return c == '&' || c == ',' })
	}
	if strings.Contains(s.Job.Reservation, ",") {
		r.Wrong("reservation", "the name of one reservation, as lists of them are not simulated")
	}
	var err error
	if s.Job.GRES, err = slurm.ParseDevices(r.Text("gres")); err != nil {
		return s, r.At(fmt.Errorf("gres: %w", err))
	}
	if s.Job.Licenses, err = slurm.ParseAmounts(r.Text("licenses")); err != nil {
		return s, r.At(fmt.Errorf("licenses: %w", err))
	}
	in.SetPartitions(&s, r.Text("partition"))
	for _, list := range []struct {
		column string
		to     *[]int
	}{{"nodelist", &s.Job.Required}, {"exclude", &s.Job.Excluded}} {
		names, err := slurm.Hosts(r.Text(list.column))
		if err != nil {
			return s, r.At(fmt.Errorf("%s: %w", list.column, err))
		}
		for _, name := range names {
			at := in.nodeAt(name)
			if at < 0 {
				s.Refused, s.Unknown = slurm.ErrNode, name
				continue
			}
			*list.to = append(*list.to, at)
		}
	}
	if err := s.depend(r.Text("dependency")); err != nil {
		return s, r.At(fmt.Errorf("dependency: %w", err))
	}
	uid := int32(-1)
	if r.Has("uid") {
		uid = int32(count(r, "uid"))
	}
	s.As = s.Observed(&entity.Job{ID: int64(len(in.Jobs) + 1), Runtime: s.Job.Length, User: uid, Group: -1})
	return s, r.Err()
}

// Observed returns the job as observers hear of it: its CPUs, its limit as estimate, its first
// partition as queue, its number, runtime, owners and predecessors.
func (s *Submission) Observed(of *entity.Job) *entity.Job {
	j := &entity.Job{ID: of.ID, Submit: SecondOf(s.At), Runtime: of.Runtime, User: of.User, Group: of.Group, Queue: -1, After: of.After}
	if len(s.Job.Partitions) > 0 {
		j.Queue = int32(s.Job.Partitions[0] + 1)
	}
	j.Request.Nodes, j.Request.Length = s.Job.CPUs(), s.Job.Limit
	return j
}

// partition is the position of the partition of that name, or of the default one where the name is
// empty; -1 if there is none.
func (in *Input) partition(name string) int {
	return slices.IndexFunc(in.Config.Partitions, func(p slurm.Partition) bool { return p.Name == name || name == "" && p.Default })
}

// SetPartitions sets the partitions of a job by their names with commas between them; the default
// one where there is no name.
func (in *Input) SetPartitions(s *Submission, names string) {
	for name := range strings.SplitSeq(names, ",") {
		at := in.partition(name)
		if at < 0 {
			s.Refused, s.Unknown = slurm.ErrPartition, name
			continue
		}
		if !slices.Contains(s.Job.Partitions, at) { // Slurm takes a name that comes twice once
			s.Job.Partitions = append(s.Job.Partitions, at)
		}
	}
}

// nodeAt is the position of a node, or -1.
func (in *Input) nodeAt(name string) int {
	return slices.IndexFunc(in.Config.Nodes, func(n slurm.Node) bool { return n.Name == name })
}

// nodes are the positions of the nodes of a host list.
func (in *Input) nodes(list string) ([]int, error) {
	names, err := slurm.Hosts(list)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, name := range names {
		at := in.nodeAt(name)
		if at < 0 {
			return nil, fmt.Errorf("%q is no node of %s", name, ConfigFile)
		}
		all = append(all, at)
	}
	return all, nil
}

// NodesAt returns the positions of the nodes that have the given CPUs, numbered as by Watch,
// or, if cpus is nil, of the nodes of a host list. Nodes are down as a whole: an error tells of
// a node of which not all CPUs are named.
func (in *Input) NodesAt(cpus []procset.Range, hosts string) ([]int, error) {
	if cpus == nil {
		return in.nodes(hosts)
	}
	var all []int
	first, named := firstCPUs(in.Config.Nodes), procset.Count(cpus)
	for i := range in.Config.Nodes {
		n := &in.Config.Nodes[i]
		common := 0
		for cpu := first[i]; cpu < first[i+1]; cpu++ {
			if procset.Has(cpus, cpu) {
				common++
			}
		}
		switch common {
		case 0:
		case n.CPUs():
			all = append(all, i)
			named -= common
		default:
			return nil, fmt.Errorf("%d of the %d CPUs of %s are named: want all of them, or its name, as nodes of Slurm are down as a whole", common, n.CPUs(), n.Name)
		}
	}
	if named > 0 {
		return nil, fmt.Errorf("want CPUs of 0-%d, or names of nodes of %s", first[len(first)-1]-1, ConfigFile)
	}
	return all, nil
}

// firstCPUs numbers the CPUs of all nodes through, in the order of the nodes: it returns the first
// CPU of each node, and at the end how many CPUs there are.
func firstCPUs(nodes []slurm.Node) []int32 {
	first := make([]int32, len(nodes)+1)
	for i := range nodes {
		first[i+1] = first[i] + int32(nodes[i].CPUs())
	}
	return first
}

// Sizes returns how many CPUs each node has, in the order of Config.Nodes.
func (in *Input) Sizes() (all []int) {
	for i := range in.Config.Nodes {
		all = append(all, in.Config.Nodes[i].CPUs())
	}
	return all
}

// CPUsOf returns the numbers of the CPUs of nodes, which must ascend.
func (in *Input) CPUsOf(nodes []int) (cpus []procset.Range) {
	first := firstCPUs(in.Config.Nodes)
	for i := range in.Config.Nodes {
		if slices.Contains(nodes, i) {
			cpus = append(cpus, procset.Range{First: first[i], Last: first[i+1] - 1})
		}
	}
	return procset.Join(cpus)
}

// dependencyKinds are the conditions that a job can have on others.
var dependencyKinds = []string{"after", "afterany", "afterok", "afternotok", "singleton"}

// depend reads a dependency in sbatch's grammar (-d), with keys for IDs: afterok:j1:j2,singleton, or with ? in
// place of the commas if one condition is enough.
func (s *Submission) depend(text string) error {
	s.Job.AnyAfter = strings.Contains(text, "?")
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '?' }) {
		kind, list, has := strings.Cut(part, ":")
		if !slices.Contains(dependencyKinds, kind) || has == (kind == "singleton") {
			return fmt.Errorf("%q: want one of %s with jobs behind it, as afterok:j1:j2, or singleton", part, strings.Join(dependencyKinds[:len(dependencyKinds)-1], ", "))
		}
		if !has {
			s.After = append(s.After, KeyDependency{Kind: kind})
			continue
		}
		for key := range strings.SplitSeq(list, ":") {
			s.After = append(s.After, KeyDependency{kind, key})
		}
	}
	return nil
}

// ReadReservations reads reservations.csv, or what scontrol -o show res prints. dates turns the dates of the
// latter into instants of the log; if it is nil, they are an error.
func (in *Input) ReadReservations(path string, dates Dates) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.HasPrefix(strings.TrimSpace(string(text)), ofReservations) {
		return in.readShown(path, string(text), dates)
	}
	return in.readTable(path, reservationColumns, func(r *csvtable.Row) error {
		start := r.Time("start")
		b := Booking{At: r.TimeOr("created", 0), Reservation: slurm.Reservation{Name: r.Text("name"), Start: start,
			End: start.Add(des.Time(count(r, "minutes")) * des.Minute), Maintenance: r.Text("maint") == "1"}}
		var err error
		if b.Reservation.Nodes, err = in.nodes(r.Text("nodelist")); err != nil {
			return r.At(fmt.Errorf("nodelist: %w", err))
		}
		if b.Reservation.Count = count(r, "nodecnt"); b.Reservation.Count > 0 {
			if b.Reservation.Partition = in.partition(r.Text("partition")); b.Reservation.Partition < 0 {
				return r.At(fmt.Errorf("partition: there is no partition %q", r.Text("partition")))
			}
		}
		b.Reservation.Users, b.Reservation.Accounts = words(r.Text("users")), words(r.Text("accounts"))
		in.Reservations = append(in.Reservations, b)
		return r.Err()
	}, "name", "start", "minutes")
}

// words returns the words of a list with commas between them.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// readOrders reads actions.csv.
func (in *Input) readOrders(path string) error {
	keys := map[string]bool{}
	for i := range in.Jobs {
		keys[in.Jobs[i].Key] = true
	}
	return in.readTable(path, orderColumns, func(r *csvtable.Row) error {
		o := Order{At: r.Time("time"), Do: r.Text("do"), Key: r.Text("job"), Hosts: r.Text("node"), Value: int(r.NumberOr("value", 0))}
		switch o.Do {
		case "cancel", "hold", "release", "nice", "limit":
			if !keys[o.Key] {
				return r.At(fmt.Errorf("job: there is no job %q", o.Key))
			}
			if o.Do == "limit" && o.Value <= 0 {
				r.Wrong("value", "a limit of 1 minute or more")
			}
		case "down", "drain", "up":
			var err error
			if o.Nodes, err = in.nodes(o.Hosts); err != nil {
				return r.At(fmt.Errorf("node: %w", err))
			}
			o.Key = ""
		default:
			return r.At(fmt.Errorf("do: want cancel, hold, release, nice or limit of a job, or down, drain or up of a node, not %q", o.Do))
		}
		in.Orders = append(in.Orders, o)
		return r.Err()
	}, "time", "do")
}
