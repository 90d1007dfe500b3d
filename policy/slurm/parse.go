package slurm

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// defaultEpoch is the second of the UNIX clock at which a controller begins, unless the caller of ReadConfig
// changes Config.Epoch.
const defaultEpoch = 1_700_000_000

// maxCPUs bounds the cores of all nodes: more than any machine has.
const maxCPUs = 1 << 28

// ConfigError is an error in a line of slurm.conf.
type ConfigError struct {
	File string
	Line int
	Key  string // as the file spells it
	Err  error
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Key, e.Err)
}

func (e *ConfigError) Unwrap() error { return e.Err }

// setting is one KEY=VALUE of a file.
type setting struct {
	key, value string
	line       int
}

// Unknown is a setting that is not simulated.
type Unknown struct {
	Key    string
	Line   int    // where it stands first
	Effect string // what that may change for the schedule; empty where that is not known
	More   int    // how many lines more have it
}

// String says what is not simulated, and what that may change.
func (u Unknown) String() string {
	text := u.Key + " is not simulated"
	if u.More > 0 {
		text += fmt.Sprintf(" (%d lines more have it)", u.More)
	}
	if u.Effect != "" {
		text += ": " + u.Effect
	}
	return text
}

// ReadConfig reads slurm.conf. It returns as well, in the order of the file, the settings that
// may bear on schedules and are not simulated. Settings that bear on none (paths, ports,
// logging, authentication) are passed over in silence. Overrides stand in place of what the file
// says.
func ReadConfig(name string, r io.Reader, overrides ...Override) (*Config, []Unknown, error) {
	file := configFile{name: name, general: map[string]setting{}}
	if err := file.read(r); err != nil {
		return nil, nil, err
	}
	for _, o := range overrides {
		if err := o.Check(); err != nil {
			return nil, nil, err
		}
		if err := file.override(o); err != nil {
			return nil, nil, err
		}
	}
	conf, err := file.config()
	if err := file.blame(err, overrides); err != nil {
		return nil, nil, file.withMisspelt(err)
	}
	return conf, file.unknown, nil
}

// withMisspelt adds to an error the keys of the file that are none of Slurm's that are known here: a
// key that is written wrongly may be what the error comes from.
func (f *configFile) withMisspelt(err error) error {
	var all []string
	for _, u := range f.unknown {
		if _, ofSlurm := knownEffect(u.Key); !ofSlurm && u.Line > 0 {
			all = append(all, fmt.Sprintf("line %d: %v", u.Line, u))
		}
	}
	if len(all) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(all, "; "))
}

// configFile is the text of slurm.conf in parts. take removes each general setting that is understood, so that
// the settings left at the end are not simulated.
type configFile struct {
	name       string
	general    map[string]setting // by key in lower case
	order      []string           // of the keys of general
	nodes      [][]setting        // a row NodeName each
	partitions [][]setting
	unknown    []Unknown
	asked      []string // the keys that take has looked for
	err        error    // the first
}

// read splits the file into settings. A backslash joins a line with the next one.
func (f *configFile) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	joined, first := "", 0
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		// A row of several joined lines goes by the number of its first line.
		if joined == "" {
			first = n
		}
		if before, found := strings.CutSuffix(text, `\`); found {
			joined += before + " "
			continue
		}
		text = joined + text
		joined = ""
		text, _, _ = strings.Cut(text, "#")
		if err := f.row(strings.TrimSpace(text), first); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// row takes one row in.
func (f *configFile) row(text string, line int) error {
	if text == "" {
		return nil
	}
	key, value, found := strings.Cut(text, "=")
	if !found {
		want := "want KEY=VALUE"
		if strings.HasPrefix(strings.ToLower(text), "include ") {
			want = "other files are not read: put what it says here"
		}
		return &ConfigError{f.name, line, text, errors.New(want)}
	}
	switch lower := strings.ToLower(strings.TrimSpace(key)); lower {
	case "nodename", "partitionname":
		var row []setting
		for word := range strings.FieldsSeq(text) {
			key, value, found := strings.Cut(word, "=")
			if !found {
				return &ConfigError{f.name, line, word, fmt.Errorf("want KEY=VALUE")}
			}
			row = append(row, setting{key, value, line})
		}
		if lower == "nodename" {
			f.nodes = append(f.nodes, row)
		} else {
			f.partitions = append(f.partitions, row)
		}
	default:
		// A key that comes twice has its last value.
		if _, twice := f.general[lower]; !twice {
			f.order = append(f.order, lower)
		}
		f.general[lower] = setting{strings.TrimSpace(key), strings.TrimSpace(value), line}
	}
	return nil
}

// take removes and returns a general setting.
func (f *configFile) take(key string) (setting, bool) {
	f.asked = append(f.asked, key)
	lower := strings.ToLower(key)
	s, found := f.general[lower]
	delete(f.general, lower)
	return s, found
}

// fail keeps the first error.
func (f *configFile) fail(s setting, format string, args ...any) {
	if f.err == nil {
		f.err = &ConfigError{f.name, s.line, s.key, fmt.Errorf(format, args...)}
	}
}

// miss notes a setting that is not simulated.
func (f *configFile) miss(s setting) { f.unknown = missed(f.unknown, s.key, s.line) }

// count reads a whole number from low to 2^31 - 1.
func (f *configFile) count(s setting, low int) int { return f.countUpTo(s, low, math.MaxInt32) }

// countUpTo reads a whole number from low to high.
func (f *configFile) countUpTo(s setting, low, high int) int {
	n, err := strconv.Atoi(s.value)
	switch {
	case n > high: // also if the number is too large for an int
		f.fail(s, "%q: want a whole number from %d to %d", s.value, low, high)
	case err != nil, n < low:
		f.fail(s, "%q: want a whole number of %d or more", s.value, low)
	}
	return n
}

// number reads a number of 0 or more.
func (f *configFile) number(s setting) float64 {
	x, err := strconv.ParseFloat(s.value, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		f.fail(s, "%q: want a number of 0 or more", s.value)
	}
	return x
}

// yes reads YES or NO.
func (f *configFile) yes(s setting) bool {
	switch strings.ToLower(s.value) {
	case "yes", "1", "true":
		return true
	case "no", "0", "false":
		return false
	}
	f.fail(s, "%q: want YES or NO", s.value)
	return false
}

// seconds reads a whole number of seconds.
func (f *configFile) seconds(s setting) des.Time { return des.Time(f.count(s, 0)) * des.Second }

// duration reads a time of Slurm; see Duration.
func (f *configFile) duration(s setting) des.Time {
	t, err := Duration(s.value)
	if err != nil {
		f.fail(s, "%v", err)
	}
	return t
}

// minutes reads a time that Slurm keeps in whole minutes, rounded up (time_str2mins).
func (f *configFile) minutes(s setting) des.Time { return upToMinutes(f.duration(s)) }

// upToMinutes rounds a time up to whole minutes.
func upToMinutes(t des.Time) des.Time {
	if t == des.Forever {
		return t
	}
	return (t + des.Minute - des.Tick) / des.Minute * des.Minute
}

// Duration reads a time as Slurm writes it: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS,
// DAYS-HOURS, DAYS-HOURS:MINUTES, DAYS-HOURS:MINUTES:SECONDS, or INFINITE or UNLIMITED, which
// is des.Forever. Any other text is an error.
func Duration(text string) (des.Time, error) {
	switch strings.ToLower(text) {
	case "infinite", "unlimited":
		return des.Forever, nil
	}
	days, rest, dayed := strings.Cut(text, "-")
	if !dayed {
		days, rest = "0", text
	}
	parts := append([]string{days}, strings.Split(rest, ":")...)
	units := []des.Time{24 * des.Hour, des.Hour, des.Minute, des.Second}
	switch {
	case dayed:
	case len(parts) == 2: // minutes
		units = []des.Time{0, des.Minute}
	case len(parts) == 3: // minutes and seconds
		units = []des.Time{0, des.Minute, des.Second}
	}
	sum := des.Time(0)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || len(parts) > len(units) {
			return 0, fmt.Errorf("%q is no time: want MINUTES, [DAYS-]HOURS:MINUTES:SECONDS or INFINITE", text)
		}
		sum = sum.Add(des.Time(n) * units[i])
	}
	return sum, nil
}

// config turns the settings into a Config. A setting that it does not take is noted as not simulated, unless it
// is one of ignored.
func (f *configFile) config() (*Config, error) {
	conf := &Config{Epoch: defaultEpoch, MinJobAge: 300 * des.Second, KillWait: 30 * des.Second, MessageTimeout: 10 * des.Second}
	f.readNodes(conf)
	f.readDevices(conf)
	f.readPartitions(conf)
	f.readSelection(conf)
	scheduler := f.readScheduling(conf)
	f.readPriority(conf)
	f.tellOrderOfSubmission(conf, scheduler)
	f.readAccounting(conf)
	if s, found := f.take("MinJobAge"); found {
		conf.MinJobAge = max(f.seconds(s), 2*des.Second)
	}
	if s, found := f.take("OverTimeLimit"); found {
		conf.OverTimeLimit = f.duration(s)
	}
	if s, found := f.take("ReturnToService"); found {
		conf.ReturnToService = f.count(s, 0)
	}
	if s, found := f.take("KillWait"); found {
		conf.KillWait = f.seconds(s)
	}
	if s, found := f.take("MessageTimeout"); found {
		conf.MessageTimeout = f.seconds(s)
	}
	if s, found := f.take("CompleteWait"); found {
		conf.CompleteWait = f.seconds(s)
	}
	f.readPreemption(conf)
	conf.EnforceLimits = "NO"
	if s, found := f.take("EnforcePartLimits"); found {
		switch conf.EnforceLimits = strings.ToUpper(s.value); conf.EnforceLimits {
		case "NO", "ANY", "ALL":
		case "YES":
			conf.EnforceLimits = "ALL"
		default:
			f.fail(s, "%q: want NO, ANY or ALL", s.value)
		}
	}
	f.readSelectType()
	if s, found := f.take("Licenses"); found {
		conf.Licenses = f.amounts(s)
	}
	// What is left, and what must not lack.
	for _, key := range f.order {
		if s, left := f.general[key]; left && !ignored[key] {
			f.miss(s)
		}
	}
	if f.err == nil && len(conf.Nodes) == 0 {
		f.err = fmt.Errorf("%s: no row NodeName: there is nothing to run on", f.name)
	}
	if f.err == nil && len(conf.Partitions) == 0 {
		f.err = fmt.Errorf("%s: no row PartitionName: jobs need a partition", f.name)
	}
	slices.SortStableFunc(f.unknown, func(a, b Unknown) int { return cmp.Compare(a.Line, b.Line) })
	return conf, f.err
}

// readAccounting reads the settings AccountingStorage*.
func (f *configFile) readAccounting(conf *Config) {
	if s, found := f.take("AccountingStorageType"); found {
		conf.Database = strings.HasSuffix(s.value, "slurmdbd")
	}
	if s, found := f.take("AccountingStorageEnforce"); found {
		for word := range strings.SplitSeq(strings.ToLower(s.value), ",") {
			switch word {
			case "associations":
				conf.Enforce.Associations = true
			case "limits", "safe":
				conf.Enforce.Associations, conf.Enforce.Limits = true, true
				conf.Enforce.Safe = conf.Enforce.Safe || word == "safe"
			case "qos":
				conf.Enforce.Associations, conf.Enforce.QOS = true, true
			case "none", "0", "":
			default:
				f.fail(s, "%q: want some of associations, limits, qos, safe", word)
			}
		}
	}
	if s, found := f.take("AccountingStorageTRES"); found {
		for word := range strings.SplitSeq(s.value, ",") {
			kind := strings.ToLower(strings.TrimSpace(word))
			switch {
			case labelOf(kind) == "":
				f.fail(s, "%q: want kinds such as cpu, gres/gpu and license/NAME", word)
			case !slices.Contains(usualTRES, kind) && !slices.Contains(conf.TrackedTRES, kind):
				conf.TrackedTRES = append(conf.TrackedTRES, kind)
			}
		}
	}
}

// readPreemption reads the settings Preempt*. PreemptMode=OFF turns off what PreemptType says, so it is read after that.
func (f *configFile) readPreemption(conf *Config) {
	if s, found := f.take("PreemptType"); found {
		switch conf.Preempt = strings.TrimPrefix(s.value, "preempt/"); conf.Preempt {
		case "qos", "partition_prio":
		case "none":
			conf.Preempt = ""
		default:
			f.fail(s, "%q: want preempt/none, preempt/qos or preempt/partition_prio", s.value)
		}
	}
	if s, found := f.take("PreemptMode"); found {
		switch mode := strings.ToLower(s.value); mode {
		case "off":
			conf.Preempt = ""
		case preemptRequeue:
		case preemptCancel:
			conf.PreemptCancels = true
		default:
			f.miss(setting{s.key + "=" + strings.ToUpper(mode), "", s.line})
		}
	}
	if s, found := f.take("PreemptExemptTime"); found {
		conf.PreemptExempt = f.duration(s)
	}
}

// ignored are settings that bear on no schedule.
var ignored = set("clustername slurmctldhost slurmctldport slurmduser slurmuser slurmdport authtype authinfo credtype statesavelocation " +
	"slurmdspooldir slurmctldpidfile slurmdpidfile slurmctldlogfile slurmdlogfile slurmctlddebug slurmddebug proctracktype taskplugin " +
	"taskpluginparam switchtype mpidefault mpiparams jobacctgathertype jobacctgatherfrequency jobcomptype jobcomploc jobcomphost " +
	"jobcomppass jobcompport jobcompuser slurmdparameters slurmdtimeout slurmctldtimeout maxjobcount schedulertype " +
	"accountingstoragehost accountingstorageport accountingstorageuser accountingstoragepass accountingstoretype " +
	"prologflags prolog epilog healthcheckprogram healthcheckinterval inactivelimit waittime " +
	"debugflags accountingstorageflags acctgatherenergytype plugstackconfig treewidth mailprog controlmachine slurmctldparameters")

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

// amounts reads KIND:COUNT,KIND:COUNT.
func (f *configFile) amounts(s setting) []Amount {
	amounts, err := ParseAmounts(s.value)
	if err != nil {
		f.fail(s, "%v", err)
	}
	return amounts
}

// ParseAmounts reads KIND:COUNT,KIND:COUNT, where a count that is not said is 1.
func ParseAmounts(text string) ([]Amount, error) {
	var all []Amount
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		kind, count, counted := strings.Cut(part, ":")
		n := uint64(1)
		if counted {
			var err error
			if n, err = strconv.ParseUint(count, 10, 31); err != nil {
				return nil, fmt.Errorf("%q: want KIND:COUNT", part)
			}
		}
		if kind == "" {
			return nil, fmt.Errorf("%q: want KIND:COUNT", part)
		}
		all = append(all, Amount{kind, int(n)})
	}
	return all, nil
}

// devices reads a value as ParseDevices does.
func (f *configFile) devices(s setting) []Amount {
	all, err := ParseDevices(s.value)
	if err != nil {
		f.fail(s, "%v", err)
	}
	return all
}

// ParseDevices reads KIND:TYPE:COUNT,KIND:COUNT and so on, the form of Gres in slurm.conf and of --gres. A type may be left
// out, and so may a count of 1. Devices with the count 0 are left out of the list.
func ParseDevices(text string) ([]Amount, error) {
	var all []Amount
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Split(part, ":")
		n := uint64(1)
		if last := words[len(words)-1]; len(words) > 1 {
			count, err := strconv.ParseUint(last, 10, 31)
			switch {
			case err == nil:
				n, words = count, words[:len(words)-1]
			case len(words) == 3 || last != "" && last[0] >= '0' && last[0] <= '9':
				return nil, fmt.Errorf("%q: want a whole number as the count of KIND:COUNT or KIND:TYPE:COUNT", part)
			}
		}
		if len(words) > 2 || slices.Contains(words, "") {
			return nil, fmt.Errorf("%q: want KIND:COUNT or KIND:TYPE:COUNT", part)
		}
		if len(words) == 2 && strings.EqualFold(words[1], "no_consume") {
			return nil, fmt.Errorf("%q: devices that jobs do not consume are not simulated: leave them out", part)
		}
		if n > 0 {
			all = append(all, Amount{strings.Join(words, ":"), int(n)})
		}
	}
	return all, nil
}

// weights reads KIND=WEIGHT,KIND=WEIGHT; the weight of memory may be of a unit, as 0.25G, and is
// made one of a GB.
func (f *configFile) weights(s setting) []Weight {
	var all []Weight
	for part := range strings.SplitSeq(s.value, ",") {
		kind, value, _ := strings.Cut(part, "=")
		kind = strings.ToLower(kind)
		scale := 1.0
		if kind == "mem" {
			scale = 1024 // MB
			switch {
			case strings.HasSuffix(value, "G"):
				value, scale = value[:len(value)-1], 1
			case strings.HasSuffix(value, "M"):
				value = value[:len(value)-1]
			case strings.HasSuffix(value, "T"):
				value, scale = value[:len(value)-1], 1.0/1024
			}
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			f.fail(s, "%q: want KIND=WEIGHT", part)
			return nil
		}
		all = append(all, Weight{kind, x * scale})
	}
	return all
}

// readNodes reads the rows NodeName.
func (f *configFile) readNodes(conf *Config) {
	var defaults []setting
	cores := 0
	for at, row := range f.nodes {
		if strings.EqualFold(row[0].value, "DEFAULT") {
			defaults = append(defaults, row[1:]...)
			continue
		}
		// A row may name several nodes, which are alike. Its settings come after the defaults, so that they win.
		names, err := Hosts(row[0].value)
		if err != nil {
			f.fail(row[0], "%v", err)
			return
		}
		node := Node{Cores: 1, Memory: 1, Weight: 1, Row: at}
		cpus, threads, boards, perBoard := 0, 1, 1, 0
		for _, s := range append(slices.Clone(defaults), row[1:]...) {
			switch strings.ToLower(s.key) {
			case "cpus", "procs":
				cpus = f.count(s, 1)
			case "sockets":
				node.Sockets = f.count(s, 1)
			case "corespersocket":
				node.Cores = f.count(s, 1)
			case "threadspercore":
				if threads = f.count(s, 1); threads > 1 {
					f.miss(s)
				}
			case "boards":
				if boards = f.count(s, 1); boards > 1 {
					f.miss(s)
				}
			case "socketsperboard":
				perBoard = f.count(s, 1)
			case "realmemory":
				node.Memory = f.count(s, 1)
			case "weight":
				node.Weight = f.count(s, 0)
			case "feature", "features":
				node.Features = strings.Split(s.value, ",")
			case "gres":
				node.GRES = f.devices(s)
			case "nodeaddr", "nodehostname", "port", "tmpdisk", "reason":
			case "state":
				if word := strings.ToUpper(s.value); word != "UNKNOWN" && word != "IDLE" {
					f.miss(setting{nodeKey + " State=" + word, "", s.line})
				}
			default:
				f.miss(s)
			}
		}
		switch perSocket := node.Cores * threads; { // CPUs alone are sockets of one core each
		case perBoard > 0:
			node.Sockets = boards * perBoard
		case node.Sockets > 0:
		case cpus > 0 && cpus%perSocket == 0:
			node.Sockets = cpus / perSocket
		default:
			node.Sockets = boards
		}
		// The second test also finds products so large that the sum of the first one overflows.
		if cores += node.CPUs() * len(names); cores > maxCPUs || node.Sockets > maxCPUs/node.Cores {
			f.fail(row[0], "more than %d CPUs", maxCPUs)
			return
		}
		for _, name := range names {
			node.Name = name
			conf.Nodes = append(conf.Nodes, node)
		}
	}
}

// readDevices reads GresTypes, which names the kinds of devices. Kinds that only nodes name count, too.
func (f *configFile) readDevices(conf *Config) {
	if s, found := f.take("GresTypes"); found {
		conf.Devices = strings.Split(s.value, ",")
	}
	for i := range conf.Nodes {
		for _, g := range conf.Nodes[i].GRES {
			if kind := g.family(); !slices.Contains(conf.Devices, kind) {
				conf.Devices = append(conf.Devices, kind)
			}
		}
	}
}

// readPartitions reads the rows PartitionName.
func (f *configFile) readPartitions(conf *Config) {
	at := map[string]int{}
	for i, node := range conf.Nodes {
		if _, twice := at[node.Name]; twice {
			f.fail(f.nodes[0][0], "node %q is defined twice", node.Name)
		}
		at[node.Name] = i
	}
	var defaults []setting
	for _, row := range f.partitions {
		if strings.EqualFold(row[0].value, "DEFAULT") {
			defaults = append(defaults, row[1:]...)
			continue
		}
		part := Partition{Name: row[0].value, MaxTime: des.Forever, Tier: 1, JobFactor: 1}
		both := -1 // Priority, which Slurm takes for both, also where the row has them
		for _, s := range append(slices.Clone(defaults), row[1:]...) {
			switch strings.ToLower(s.key) {
			case "nodes":
				part.Nodes = f.positions(s, at, len(conf.Nodes))
			case "default":
				part.Default = f.yes(s)
			case "oversubscribe", "shared":
				switch word := strings.ToUpper(s.value); word {
				case "EXCLUSIVE":
					part.Exclusive = true
				case "NO":
				default:
					f.miss(setting{s.key + "=" + word, "", s.line})
				}
			case "maxtime":
				part.MaxTime = f.minutes(s)
			case "maxnodes":
				if !strings.EqualFold(s.value, "UNLIMITED") {
					part.MaxNodes = f.count(s, 1)
				}
			case "prioritytier":
				part.Tier = f.count(s, 0)
			case "priorityjobfactor":
				part.JobFactor = f.count(s, 0)
			case "priority":
				both = f.count(s, 0)
			case "tresbillingweights":
				part.BillingWeights = f.weights(s)
			case "state":
				if !strings.EqualFold(s.value, "UP") {
					f.miss(setting{partitionKey + " State=" + strings.ToUpper(s.value), "", s.line})
				}
			case "reqresv", "rootonly":
				if f.yes(s) {
					f.miss(s)
				}
			case "alternate", "hidden", "disablerootjobs":
			default:
				f.miss(s)
			}
		}
		if both >= 0 {
			part.Tier, part.JobFactor = both, both
		}
		if slices.ContainsFunc(conf.Partitions, func(p Partition) bool { return p.Name == part.Name }) {
			f.fail(row[0], "partition %q is defined twice", part.Name)
		}
		conf.Partitions = append(conf.Partitions, part)
	}
}

// positions reads a host list, or ALL, as positions of nodes.
func (f *configFile) positions(s setting, at map[string]int, nodes int) []int {
	var all []int
	if strings.EqualFold(s.value, "ALL") {
		for i := range nodes {
			all = append(all, i)
		}
		return all
	}
	names, err := Hosts(s.value)
	if err != nil {
		f.fail(s, "%v", err)
		return nil
	}
	for _, name := range names {
		i, found := at[name]
		if !found {
			f.fail(s, "node %q has no row NodeName", name)
			return nil
		}
		all = append(all, i)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// readSelectType reads SelectType, whose only value that is simulated is not Slurm's default. A file that lacks the key is told
// with the line of its first nodes.
func (f *configFile) readSelectType() {
	s, found := f.take("SelectType")
	switch kind := strings.TrimPrefix(s.value, "select/"); {
	case kind == "cons_tres", kind == "cons_res":
	case found:
		f.miss(setting{s.key + "=" + s.value, "", s.line})
	case len(f.nodes) > 0:
		f.miss(setting{"SelectType=select/linear, Slurm's default,", "", f.nodes[0][0].line})
	}
}

// readSelection reads SelectTypeParameters, which is CR_Core_Memory by default, and what belongs to it.
func (f *configFile) readSelection(conf *Config) {
	s, found := f.take("SelectTypeParameters")
	if conf.Select.Memory = !found; found {
		for word := range strings.SplitSeq(strings.ToUpper(s.value), ",") {
			switch word {
			case "CR_CORE", "CR_PACK_NODES":
			case "CR_CORE_MEMORY":
				conf.Select.Memory = true
			case "CR_CPU":
				conf.Select.BestFit = true
			case "CR_CPU_MEMORY":
				conf.Select.BestFit, conf.Select.Memory = true, true
			case "CR_LLN":
				conf.Select.LeastLoaded = true
			default:
				f.miss(setting{s.key + "=" + word, "", s.line})
			}
		}
	}
	if s, found := f.take("DefMemPerCPU"); found {
		conf.Select.DefMemPerCPU = f.count(s, 0)
	}
}

// tellOrderOfSubmission tells of sched/builtin where Slurm has no queue by priority (fifo_sched of _schedule): with
// priority/basic and partitions of one tier. If an override asks for it, it is told with the line of the first
// partition: the key itself is simulated, so that it is not refused.
func (f *configFile) tellOrderOfSubmission(conf *Config, scheduler setting) {
	if conf.Schedule.Backfill || conf.Priority.Multifactor || len(conf.Nodes) == 0 || len(conf.Partitions) == 0 {
		return
	}
	if slices.ContainsFunc(conf.Partitions, func(p Partition) bool { return p.Tier != conf.Partitions[0].Tier }) {
		return
	}
	line := cmp.Or(scheduler.line, f.partitions[0][0].line)
	f.miss(setting{scheduler.key + "=" + scheduler.value + " with PriorityType=priority/basic", "", line})
}

// readScheduling reads SchedulerType, which it returns, and SchedulerParameters.
func (f *configFile) readScheduling(conf *Config) setting {
	conf.Schedule = Scheduling{Interval: 60 * des.Second, BatchDelay: 3 * des.Second, MinInterval: 2 * des.Tick, QueueDepth: 100,
		Backfill: true, BackfillInterval: 30 * des.Second, Resolution: 60 * des.Second, Window: 1440 * des.Minute, MaxTests: 500,
		ReorderVictims: 1}
	p := &conf.Schedule
	scheduler, found := f.take("SchedulerType")
	if found {
		switch strings.TrimPrefix(scheduler.value, "sched/") {
		case "backfill":
		case "builtin":
			p.Backfill = false
		default: // a slip of the pen would turn backfilling off without a word
			f.fail(scheduler, "%q: want sched/backfill or sched/builtin", scheduler.value)
		}
	}
	if s, found := f.take("DependencyParameters"); found {
		p.KillInvalid = strings.Contains(strings.ToLower(s.value), "kill_invalid_depend")
	}
	all, _ := f.take("SchedulerParameters")
	given := map[string]bool{}
	for word := range strings.SplitSeq(all.value, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		if lower := strings.ToLower(key); key == "" || given[lower] { // Slurm takes the first of several values
			continue
		} else {
			given[lower] = true
		}
		f.scheduling(p, setting{key, value, all.line})
	}
	// The main loop sleeps a second, so that 0 has the effect of 1.
	p.Interval = max(p.Interval, des.Second)
	if p.MaxPerAssoc > 0 { // takes precedence
		p.MaxPerUser = 0
	}
	if !p.Backfill { // Slurm ignores bf_licenses with sched/builtin: no run would look at the jobs that a pass leaves
		p.Licenses = false
	}
	if p.TableSize == 0 {
		p.TableSize = p.MaxTests
	}
	return scheduler
}

// parameter is the field of Scheduling that one of SchedulerParameters sets: a flag, a number or a time. Of the
// three pointers one is not nil. Slurm does not take a number below least or above most.
type parameter struct {
	flag  *bool
	count *int
	time  *des.Time
	unit  des.Time // of the time
	least int
	most  int // 0: 2^31 - 1
}

// parameters returns the parameters of SchedulerParameters that are simulated, by name.
func (p *Scheduling) parameters() map[string]parameter {
	flag := func(to *bool) parameter { return parameter{flag: to} }
	count := func(to *int, least, most int) parameter { return parameter{count: to, least: least, most: most} }
	time := func(to *des.Time, unit des.Time, least, most int) parameter {
		return parameter{time: to, unit: unit, least: least, most: most}
	}
	return map[string]parameter{
		"defer": flag(&p.Defer), "assoc_limit_stop": flag(&p.AssocLimitStop), "preempt_youngest_first": flag(&p.PreemptYoungest),
		"bf_licenses": flag(&p.Licenses), "bf_one_resv_per_job": flag(&p.OnePlan), "pack_serial_at_end": flag(&p.PackSerial), "bf_busy_nodes": flag(&p.BusyNodes),
		"default_queue_depth": count(&p.QueueDepth, 0, 0), "partition_job_depth": count(&p.PartitionDepth, 0, 0), "sched_max_job_start": count(&p.MaxStarts, 0, 0),
		"preempt_reorder_count": count(&p.ReorderVictims, 0, 0), "bf_max_job_test": count(&p.MaxTests, 1, 1e6), "bf_node_space_size": count(&p.TableSize, 2, 2e6),
		"bf_max_job_start": count(&p.MaxBackfillStart, 0, 1e4), "bf_max_job_user": count(&p.MaxPerUser, 0, 0), "bf_max_job_part": count(&p.MaxPerPartition, 0, 0),
		"bf_max_job_user_part": count(&p.MaxPerUserPart, 0, 0), "bf_max_job_assoc": count(&p.MaxPerAssoc, 0, 0), "bf_min_prio_reserve": count(&p.MinPrioReserve, 0, min(math.MaxUint32, math.MaxInt)),
		"bf_window_linear": count(&p.WindowLinear, 0, 0),
		"sched_interval":   time(&p.Interval, des.Second, 0, 0), "batch_sched_delay": time(&p.BatchDelay, des.Second, 0, 0),
		"sched_min_interval": time(&p.MinInterval, des.Second/1_000_000, 0, 0), "bf_interval": time(&p.BackfillInterval, des.Second, 1, 3*3600),
		"bf_resolution": time(&p.Resolution, des.Second, 1, 3600), "bf_window": time(&p.Window, des.Minute, 1, 30*24*60), "bf_min_age_reserve": time(&p.MinAgeReserve, des.Second, 0, 30*24*3600),
	}
}

// scheduling reads one of SchedulerParameters.
func (f *configFile) scheduling(p *Scheduling, s setting) {
	key := strings.ToLower(s.key)
	switch to, there := p.parameters()[key]; {
	case !there && !timeless[key]:
		f.miss(s)
	case to.flag != nil:
		*to.flag = true
	case to.count != nil:
		*to.count = f.countUpTo(s, to.least, cmp.Or(to.most, math.MaxInt32))
	case to.time != nil:
		*to.time = des.Time(f.countUpTo(s, to.least, cmp.Or(to.most, math.MaxInt32))) * to.unit
	}
}

// timeless are parameters that act where a pass takes time, and a pass takes none here.
var timeless = set("bf_continue bf_max_time bf_yield_interval bf_yield_sleep max_rpc_cnt max_sched_time")

// readPriority reads the settings Priority*.
func (f *configFile) readPriority(conf *Config) {
	p := &conf.Priority
	*p = PriorityRules{MaxAge: 7 * 24 * des.Hour, HalfLife: 7 * 24 * des.Hour, Period: 5 * des.Minute}
	if s, found := f.take("PriorityType"); found {
		switch strings.TrimPrefix(s.value, "priority/") {
		case "multifactor":
			p.Multifactor = true
		case "basic":
		default:
			f.fail(s, "%q: want priority/basic or priority/multifactor", s.value)
		}
	}
	for _, weight := range []struct {
		key string
		to  *float64
	}{{"Age", &p.Age}, {"Fairshare", &p.FairShare}, {"JobSize", &p.JobSize}, {"Partition", &p.Partition}, {"QOS", &p.QOS}} {
		if s, found := f.take("PriorityWeight" + weight.key); found {
			*weight.to = f.number(s)
		}
	}
	if s, found := f.take("PriorityMaxAge"); found {
		if p.MaxAge = f.minutes(s); p.MaxAge < des.Second {
			f.fail(s, "want a time of a second or more")
		}
	}
	if s, found := f.take("PriorityDecayHalfLife"); found {
		p.HalfLife = f.minutes(s)
	}
	if s, found := f.take("PriorityCalcPeriod"); found {
		if p.Period = f.minutes(s); p.Period < des.Second {
			f.fail(s, "want a time of a second or more")
		}
	}
	if s, found := f.take("PriorityFavorSmall"); found {
		p.FavorSmall = f.yes(s)
	}
	if s, found := f.take("PriorityFlags"); found {
		for word := range strings.SplitSeq(strings.ToUpper(s.value), ",") {
			if word == "MAX_TRES" {
				p.MaxTRES = true
			} else {
				f.miss(setting{s.key + "=" + word, "", s.line})
			}
		}
	}
}
