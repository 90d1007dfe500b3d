package sacct

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file knows the columns: which heading is which, how rows are cut, and which
// columns beyond SWF's fields they give a record.

// role is what a column is for.
type role uint8

const (
	roleText   role = iota // text, kept under a name of its own
	roleNumber             // a number of that kind
	roleJobID
	roleJobIDRaw
	roleUser
	roleUID
	roleGroup
	roleGID
	rolePartition
	roleSubmit
	roleEligible
	roleStart
	roleEnd
	roleElapsed
	roleElapsedRaw
	roleTimelimit
	roleTimelimitRaw
	roleAllocCPUs
	roleReqCPUs
	roleReqMem
	roleMaxRSS
	roleAveCPU
	roleTotalCPU
	roleAllocTRES
	roleReqTRES
	roleEnergy
	roleEnergyRaw
	roleState
	roleExitCode
	numRoles
)

// meaning is the role of a heading and, where it is simply a column of records, that
// column's name.
type meaning struct {
	role role
	name string
}

// meanings are by headings in lower case. Other documented headings are columns of text.
var meanings = map[string]meaning{
	"jobid": {role: roleJobID}, "jobidraw": {role: roleJobIDRaw},
	"user": {role: roleUser}, "uid": {role: roleUID}, "group": {role: roleGroup}, "gid": {role: roleGID}, "partition": {role: rolePartition},
	"submit": {role: roleSubmit}, "eligible": {role: roleEligible}, "start": {role: roleStart}, "end": {role: roleEnd},
	"elapsed": {role: roleElapsed}, "elapsedraw": {role: roleElapsedRaw}, "timelimit": {role: roleTimelimit}, "timelimitraw": {role: roleTimelimitRaw},
	"ncpus": {role: roleAllocCPUs}, "alloccpus": {role: roleAllocCPUs}, "reqcpus": {role: roleReqCPUs},
	"nnodes": {roleNumber, "nodes"}, "allocnodes": {roleNumber, "nodes"}, "reqnodes": {roleNumber, "req_nodes"}, "ntasks": {roleNumber, "tasks"},
	"reqmem": {role: roleReqMem}, "maxrss": {role: roleMaxRSS}, "avecpu": {role: roleAveCPU}, "totalcpu": {role: roleTotalCPU},
	"alloctres": {role: roleAllocTRES}, "reqtres": {role: roleReqTRES},
	"consumedenergy": {role: roleEnergy}, "consumedenergyraw": {role: roleEnergyRaw},
	"state": {role: roleState}, "exitcode": {role: roleExitCode},
	"priority": {roleNumber, "priority"}, "restarts": {roleNumber, "restarts"}, "cputimeraw": {roleNumber, "cputimeraw"},
	"jobname": {roleText, "name"}, "nodelist": {roleText, "node_list"}, "dependency": {roleText, "after"}, "workdir": {roleText, "work_dir"},
}

// documented are the headings that sacct(1) knows, for those that are kept as text.
var documented = documentedHeadings(`
Account AdminComment AllocCPUS AllocNodes AllocTRES AssocID AveCPU AveCPUFreq AveDiskRead AveDiskWrite AvePages AveRSS
AveVMSize BlockID Cluster Comment Constraints ConsumedEnergy ConsumedEnergyRaw Container CPUTime CPUTimeRAW DBIndex
DerivedExitCode Elapsed ElapsedRaw Eligible End ExitCode Extra FailedNode Flags GID Group JobID JobIDRaw JobName Layout
Licenses MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages MaxPagesNode
MaxPagesTask MaxRSS MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel MinCPU MinCPUNode MinCPUTask
NCPUS NNodes NodeList NTasks Partition Planned PlannedCPU PlannedCPURAW Priority QOS QOSRAW QOSREQ Reason ReqCPUFreq
ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin ReqCPUS ReqMem ReqNodes ReqTRES ReqReservation Reservation ReservationId Reserved
ResvCPU ResvCPURAW Restarts SegmentSize SLUID Start State StdErr StdIn StdOut Submit SubmitLine Suspended SystemComment SystemCPU
Timelimit TimelimitRaw TotalCPU TRESUsageInAve TRESUsageInMax TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin
TRESUsageInMinNode TRESUsageInMinTask TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask
TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot UID User UserCPU WCKey WCKeyID WorkDir`)

func documentedHeadings(list string) map[string]string {
	byLower := map[string]string{}
	for _, name := range strings.Fields(list) {
		byLower[strings.ToLower(name)] = name
	}
	return byLower
}

// heading is the first line of a log.
type heading struct {
	line      string // as it stands there
	separator []byte
	trailing  bool // rows end with a separator, too
	quoted    bool // fields may be in quotes, as in CSV
	names     []string
	at        [numRoles]int // of the column of a role, from 0, or -1
	plain     []plainColumn
}

// plainColumn is a column that is one of records as it is.
type plainColumn struct {
	field  int // of rows
	column workload.Column
}

// byteOrderMark is what some editors put before UTF-8 text.
const byteOrderMark = "\xEF\xBB\xBF"

// maxColumns is more than Slurm knows.
const maxColumns = 1000

var errJSON = errors.New("it is what sacct --json prints, which differs from one version of Slurm to the next: have it print a table with --parsable2")

var errNoHeading = errors.New("its first line must be the heading that sacct prints, with JobID or JobIDRaw, as in JobID|Submit|Start")

// readHeading understands a first line. The separator is what stands between its names.
func readHeading(line []byte) (*heading, error) {
	line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte{'{'}) {
		return nil, errJSON
	}
	h := &heading{line: string(line)}
	quote := len(line) > 0 && line[0] == '"'
	rest := line
	if quote {
		rest = line[1:]
	}
	end := wordEnd(rest)
	if end == 0 {
		return nil, errNoHeading
	}
	if quote && bytes.HasPrefix(rest[end:], []byte{'"'}) {
		end++
	}
	sep := rest[end:]
	i := 0
	for i < len(sep) && wordEnd(sep[i:]) == 0 && !(quote && sep[i] == '"') {
		i++
	}
	h.separator = bytes.Clone(sep[:i])
	switch {
	case i == 0:
		h.separator = []byte{'|'} // a single column
	case len(bytes.TrimLeft(h.separator, " ")) == 0:
		return nil, errors.New("its columns stand side by side with blanks between them, which cuts what is too long: have sacct print them with --parsable2")
	}
	h.quoted = len(h.separator) == 1 && bytes.ContainsAny(h.separator, ",;\t")
	if h.trailing = bytes.HasSuffix(line, h.separator); h.trailing {
		line = line[:len(line)-len(h.separator)]
	}
	var fields rowFields
	if fields.cut(h, line); len(fields.of) > maxColumns {
		return nil, fmt.Errorf("it has %d columns; Slurm knows no more than %d", len(fields.of), maxColumns)
	}
	return h, h.understand(fields.of)
}

// understand finds the roles of columns.
func (h *heading) understand(names [][]byte) error {
	for r := range h.at {
		h.at[r] = -1
	}
	seen := map[string]bool{}
	for i, field := range names {
		name := strings.ToLower(string(bytes.TrimSpace(field)))
		if seen[name] || name == "" {
			return fmt.Errorf("its heading has no name for column %d, or the name of another one: %q", i+1, clip(field))
		}
		seen[name] = true
		h.names = append(h.names, name)
		m, known := meanings[name]
		switch {
		case !known:
			h.addPlain(i, workload.Column{Name: name, Text: true})
		case m.role == roleText, m.role == roleNumber:
			h.addPlain(i, workload.Column{Name: m.name, Text: m.role == roleText})
		case h.at[m.role] >= 0: // NCPUS and AllocCPUS
			h.addPlain(i, workload.Column{Name: name, Text: true})
		default:
			h.at[m.role] = i
		}
	}
	for _, twice := range [][2]role{{roleUID, roleUser}, {roleGID, roleGroup}} {
		if i := h.at[twice[0]]; i >= 0 && h.at[twice[1]] >= 0 {
			h.addPlain(i, workload.Column{Name: h.names[i]})
			h.at[twice[0]] = -1
		}
	}
	switch {
	case h.at[roleJobID] < 0 && h.at[roleJobIDRaw] < 0:
		return errNoHeading
	case h.at[roleSubmit] < 0:
		return fmt.Errorf("it has no column Submit, without which nobody knows when jobs came; its columns are %s; if it is not Slurm's accounting, say which column is what (--from csv:submit=COLUMN:...)", clip([]byte(strings.Join(h.names, ", "))))
	}
	return nil
}

// addPlain adds a column, under its heading where the name is another's already.
func (h *heading) addPlain(field int, c workload.Column) {
	taken := func(name string) bool {
		return derived[name] || slices.ContainsFunc(h.plain, func(p plainColumn) bool { return p.column.Name == name })
	}
	if taken(c.Name) {
		c.Name = h.names[field]
	}
	for taken(c.Name) {
		c.Name += "_column"
	}
	h.plain = append(h.plain, plainColumn{field, c})
}

func (h *heading) has(r role) bool { return h.at[r] >= 0 }

// derived are the names of columns that are made of what other columns say.
var derived = map[string]bool{
	"state": true, "cancelled_by": true, "exit_code": true, "signal": true, "array": true, "array_index": true, "array_tasks": true,
	"het_job": true, "het_offset": true, "eligible": true, "end": true, "elapsed": true, "time_limit": true, "memory": true, "max_rss": true,
	"ave_cpu": true, "total_cpu": true, "energy": true, "gpus": true, "tres": true, "req_tres": true,
}

// columns are those that records of such a log may have. Those of optional names are
// only of interest where a record has something there.
func (h *heading) columns() (all []workload.Column, optional map[string]bool) {
	number := func(name, unit string) { all = append(all, workload.Column{Name: name, Unit: unit}) }
	text := func(name string) { all = append(all, workload.Column{Name: name, Text: true}) }
	if h.has(roleState) {
		text("state")
		number("cancelled_by", "")
	}
	if h.has(roleExitCode) {
		number("exit_code", "")
		number("signal", "")
	}
	if h.has(roleJobID) {
		text("array")
		number("array_index", "")
		text("array_tasks")
		text("het_job")
		number("het_offset", "")
	}
	if h.has(roleEligible) {
		number("eligible", workload.InstantUnit)
	}
	number("end", workload.InstantUnit)
	number("elapsed", "s")
	text("time_limit")
	if h.has(roleReqMem) || h.has(roleReqTRES) {
		number("memory", "kB")
	}
	if h.has(roleMaxRSS) {
		number("max_rss", "kB")
	}
	if h.has(roleAveCPU) {
		number("ave_cpu", "s")
	}
	if h.has(roleTotalCPU) {
		number("total_cpu", "s")
	}
	if h.has(roleEnergy) || h.has(roleEnergyRaw) || h.has(roleAllocTRES) {
		number("energy", "J")
	}
	if h.has(roleAllocTRES) || h.has(roleReqTRES) {
		number("gpus", "")
	}
	if h.has(roleAllocTRES) {
		text("tres")
	}
	if h.has(roleReqTRES) {
		text("req_tres")
	}
	for _, p := range h.plain {
		all = append(all, p.column)
	}
	optional = map[string]bool{}
	for _, name := range []string{"cancelled_by", "array", "array_index", "array_tasks", "het_job", "het_offset", "end", "elapsed", "time_limit"} {
		optional[name] = true
	}
	optional["energy"] = !h.has(roleEnergy) && !h.has(roleEnergyRaw) // AllocTRES seldom tells it
	return all, optional
}

// wordEnd is how long the name is that text begins with.
func wordEnd(text []byte) int {
	i := 0
	for i < len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			break
		}
		i++
	}
	return i
}

func clip(text []byte) string { return string(text[:min(len(text), 80)]) }

// rowFields are the fields of a row, valid as long as its line.
type rowFields struct {
	of       [][]byte
	unquoted []byte
}

// cut cuts a row at its separators. It reports false where quotes do not end.
func (f *rowFields) cut(h *heading, line []byte) (sound bool) {
	sep := h.separator
	switch {
	case h.quoted:
		f.of, sound = scan.CutQuoted(f.of[:0], line, sep[0], &f.unquoted)
		return sound
	case len(sep) == 1:
		f.of = scan.Cut(f.of[:0], line, sep[0])
		return true
	}
	f.of = f.of[:0]
	for cell := range bytes.SplitSeq(line, sep) {
		f.of = append(f.of, cell)
	}
	return true
}
