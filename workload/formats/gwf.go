package formats

import (
	"bytes"
	"io"
	"strings"

	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/table"
)

// GWF is the Grid Workload Format of the Grid Workloads Archive
// (Iosup et al., The Grid Workloads Archive, Future Generation Computer Systems 24, 2008): 29
// fields a line, separated by blanks or tabs, -1 where nothing is known, and comments
// that begin with a #. Fields 1 to 16 are those of SWF, but users, groups,
// executables, queues and partitions are text. What SWF does not have becomes columns.
//
// Files need not be sorted by submission. Submissions count from the start of the log
// or from 1970; those of 1990 and later are taken for the latter.
type GWF struct{}

// gwfShared is the number of fields that GWF shares with SWF, from the first field on. Fields 17
// and 18 of SWF, the preceding job and the think time, have no place in it.
const gwfShared = 16

// gwfMore are fields 17 to 29; those that are numbers have the unit that the archive states.
var gwfMore = []table.Field{
	{Name: "submission_site", Is: table.Word},
	{Name: "run_site", Is: table.Word},
	{Name: "structure", Is: table.Word}, // UNITARY, BoT
	{Name: "structure_params", Is: table.Word},
	{Name: "used_network", Is: table.Figure, Unit: "kB/s"},
	{Name: "used_disk", Is: table.Figure, Unit: "MB"},
	{Name: "used_resources", Is: table.Word},
	{Name: "platform", Is: table.Word},
	{Name: "network", Is: table.Figure, Unit: "kB/s"},
	{Name: "disk", Is: table.Figure, Unit: "MB"},
	{Name: "resources", Is: table.Word},
	{Name: "vo", Is: table.Word},
	{Name: "project", Is: table.Word},
}

// gwfLayout has the 29 fields in their order. A line with fewer is read if it has at least the fields
// that GWF shares with SWF.
func gwfLayout() *table.Columns {
	l := &table.Columns{Form: &table.Form{Separator: ' ', Unknown: "-1", Least: gwfShared}}
	for i, name := range workload.FieldNames[:gwfShared] {
		l.Fields = append(l.Fields, table.Field{Name: name, SWF: i + 1, Is: table.Loose})
	}
	l.Fields = append(l.Fields, gwfMore...)
	return l
}

// Name is "gwf".
func (GWF) Name() string { return "gwf" }

// Endings returns ".gwf", the ending in the Grid Workloads Archive.
func (GWF) Endings() []string { return []string{".gwf"} }

// Is knows a first line of 29 fields of which the first 11, up to the status, are numbers. A line of
// SWF has 18.
func (GWF) Is(in *workload.Input) bool {
	for line := range bytes.Lines(in.Head()) {
		if line[0] == '#' || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		fields := bytes.Fields(line)
		for _, text := range fields[:min(len(fields), 11)] {
			if _, fault := number.Float(text); fault != number.Sound {
				return false
			}
		}
		return len(fields) == len(gwfLayout().Fields)
	}
	return false
}

// Survey reads the comments, and all lines for names and the earliest submission.
func (GWF) Survey(in *workload.Input) (*workload.Header, error) {
	return gwfLayout().SurveyText(in)
}

// Read begins a reading.
func (GWF) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return gwfLayout().ReadText(in, h)
}

// gwfComment names the fields, as the archive's files do.
var gwfComment = "#! fields " + strings.Join([]string{
	"JobID", "SubmitTime", "WaitTime", "RunTime", "NProcs", "AverageCPUTimeUsed", "UsedMemory", "ReqNProcs", "ReqTime", "ReqMemory",
	"Status", "UserID", "GroupID", "ExecutableID", "QueueID", "PartitionID", "OrigSiteID", "LastRunSiteID", "JobStructure", "JobStructureParams",
	"UsedNetwork", "UsedLocalDiskSpace", "UsedResources", "ReqPlatform", "ReqNetwork", "ReqLocalDiskSpace", "ReqResources", "VOID", "ProjectID",
}, " ") + "\n"

// Write begins a log.
func (GWF) Write(w io.Writer, h *workload.Header) (workload.RecordWriter, error) {
	return gwfLayout().Write(w, h, gwfComment, table.Lines)
}
