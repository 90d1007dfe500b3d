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

// role is the meaning of a column. No two columns of a log have the same role, apart from roleText
// and roleNumber.
type role uint8

const (
	roleText   role = iota // text, kept in a column as it is
	roleNumber             // a number, kept in a column as it is
	// The others are read by functions of reader.go, and have the names of their headings.
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

// documentedHeadings has the headings of a list, as sacct(1) spells them, by their lower case.
func documentedHeadings(list string) map[string]string {
	byLower := map[string]string{}
	for _, name := range strings.Fields(list) {
		byLower[strings.ToLower(name)] = name
	}
	return byLower
}

// heading is the first line of a log, and what it tells of the rows.
type heading struct {
	line      string        // as it stands there; files that are put together repeat it
	separator []byte        // of one byte or more, as --delimiter may be
	trailing  bool          // rows end with a separator, too, as --parsable prints them
	quoted    bool          // fields may be in quotes, as in CSV
	names     []string      // of all columns, in lower case; no two are equal
	at        [numRoles]int // by role: the place of its column, from 0, or -1
	plain     []plainColumn // the columns that are taken as they are
}

// plainColumn is a column that is one of records as it is.
type plainColumn struct {
	field  int // of rows
	column workload.Column
}

// byteOrderMark is the byte order mark in UTF-8, which some editors write at the beginning of a
// text.
const byteOrderMark = "\xEF\xBB\xBF"

// maxColumns is more than Slurm knows.
const maxColumns = 1000

var errJSON = errors.New("it is what sacct --json prints, which differs from one version of Slurm to the next: have it print a table with --parsable2")

var errNoHeading = errors.New("its first line must be the heading that sacct prints, with JobID or JobIDRaw, as in JobID|Submit|Start")

// readHeading understands a first line. The separator is what stands between its names: the letters
// behind the first name, up to the second one.
func readHeading(line []byte) (*heading, error) {
	line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte{'{'}) {
		return nil, errJSON
	}
	// The first name, which may stand in quotes.
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
	// The separator. Blanks alone are the columns of a fixed width that sacct prints by default, which
	// cut what is too long for them.
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
	// How rows are cut: quotes have a meaning in what is CSV, but not between the | of sacct.
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

// understand finds the roles of columns. A log needs JobID or JobIDRaw, and Submit.
func (h *heading) understand(names [][]byte) error {
	for r := range h.at {
		h.at[r] = -1
	}
	// Each column has a role, or is taken as it is: one of a heading that sacct(1) does not document, and
	// the second one of a role.
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
	// Beside names, the numbers of users and groups are columns of their own.
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

// addPlain adds a column that is taken as it is; under its heading if another column has its name
// already, and with _column behind it until no other has that.
func (h *heading) addPlain(field int, c workload.Column) {
	taken := func(name string) bool {
		return isDerived(name) || slices.ContainsFunc(h.plain, func(p plainColumn) bool { return p.column.Name == name })
	}
	if taken(c.Name) {
		c.Name = h.names[field]
	}
	for taken(c.Name) {
		c.Name += "_column"
	}
	h.plain = append(h.plain, plainColumn{field, c})
}

// has reports whether the log has a column of a role.
func (h *heading) has(r role) bool { return h.at[r] >= 0 }

// column is one of the columns of records that are made of what several fields say, or of a part of one.
type column uint8

const (
	colState column = iota
	colCancelledBy
	colExitCode
	colSignal
	colArray
	colArrayIndex
	colArrayTasks
	colHetJob
	colHetOffset
	colEligible
	colEnd
	colElapsed
	colTimeLimit
	colMemory
	colMaxRSS
	colAveCPU
	colTotalCPU
	colEnergy
	colGPUs
	colTRES
	colReqTRES
	numDerived
)

// derived are these columns, in the order in which a header has them: what they are, of which of the
// log's columns they are made (any will do; without any there is no such column), and whether they are
// of interest only where a record has something there.
var derived = [numDerived]struct {
	column workload.Column
	of     []role
	rare   bool
}{
	colState:       {texts("state"), []role{roleState}, false},
	colCancelledBy: {numbers("cancelled_by", ""), []role{roleState}, true},
	colExitCode:    {numbers("exit_code", ""), []role{roleExitCode}, false},
	colSignal:      {numbers("signal", ""), []role{roleExitCode}, false},
	colArray:       {texts("array"), []role{roleJobID}, true},
	colArrayIndex:  {numbers("array_index", ""), []role{roleJobID}, true},
	colArrayTasks:  {texts("array_tasks"), []role{roleJobID}, true},
	colHetJob:      {texts("het_job"), []role{roleJobID}, true},
	colHetOffset:   {numbers("het_offset", ""), []role{roleJobID}, true},
	colEligible:    {numbers("eligible", workload.InstantUnit), []role{roleEligible}, false},
	colEnd:         {numbers("end", workload.InstantUnit), []role{roleSubmit}, true},
	colElapsed:     {numbers("elapsed", "s"), []role{roleSubmit}, true},
	colTimeLimit:   {texts("time_limit"), []role{roleSubmit}, true},
	colMemory:      {numbers("memory", "kB"), []role{roleReqMem, roleReqTRES}, false},
	colMaxRSS:      {numbers("max_rss", "kB"), []role{roleMaxRSS}, false},
	colAveCPU:      {numbers("ave_cpu", "s"), []role{roleAveCPU}, false},
	colTotalCPU:    {numbers("total_cpu", "s"), []role{roleTotalCPU}, false},
	colEnergy:      {numbers("energy", "J"), []role{roleEnergy, roleEnergyRaw, roleAllocTRES}, false},
	colGPUs:        {numbers("gpus", ""), []role{roleAllocTRES, roleReqTRES}, false},
	colTRES:        {texts("tres"), []role{roleAllocTRES}, false},
	colReqTRES:     {texts("req_tres"), []role{roleReqTRES}, false},
}

// numbers is a column of numbers, and texts one of text.
func numbers(name, unit string) workload.Column { return workload.Column{Name: name, Unit: unit} }

func texts(name string) workload.Column { return workload.Column{Name: name, Text: true} }

// isDerived reports whether that is the name of a derived column.
func isDerived(name string) bool {
	for _, d := range derived {
		if d.column.Name == name {
			return true
		}
	}
	return false
}

// columns are the columns beyond SWF that records of such a log may have, the derived ones first.
// Those whose names are in rare are only of interest if a record has something there: a survey drops
// the others of them.
func (h *heading) columns() (all []workload.Column, rare map[string]bool) {
	rare = map[string]bool{}
	for c, d := range derived {
		if slices.ContainsFunc(d.of, h.has) {
			all = append(all, d.column)
			rare[d.column.Name] = d.rare || column(c) == colEnergy && !h.has(roleEnergy) && !h.has(roleEnergyRaw) // AllocTRES seldom tells it
		}
	}
	for _, p := range h.plain {
		all = append(all, p.column)
	}
	return all, rare
}

// wordEnd is the length of the name that a text begins with: letters, digits and _.
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

// clip is the beginning of a text, for messages.
func clip(text []byte) string { return string(text[:min(len(text), 80)]) }

// rowFields are the fields of a row, valid as long as its line.
type rowFields struct {
	of       [][]byte
	unquoted []byte
}

// cut cuts a row at its separators. It reports false if quotes do not end where a field does.
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
