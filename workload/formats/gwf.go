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

// gwfShared is how many fields are SWF's.
const gwfShared = 16

// gwfColumns are fields 17 to 29.
func gwfColumns() []workload.Column {
	return []workload.Column{
		{Name: "submission_site", Text: true},
		{Name: "run_site", Text: true},
		{Name: "structure", Text: true}, // UNITARY, BoT
		{Name: "structure_params", Text: true},
		{Name: "used_network", Unit: "kB/s"},
		{Name: "used_disk", Unit: "MB"},
		{Name: "used_resources", Text: true},
		{Name: "platform", Text: true},
		{Name: "network", Unit: "kB/s"},
		{Name: "disk", Unit: "MB"},
		{Name: "resources", Text: true},
		{Name: "vo", Text: true},
		{Name: "project", Text: true},
	}
}

func gwfLayout() *table.Layout {
	l := &table.Layout{Separator: ' ', Unknown: "-1", Least: gwfShared}
	for i, name := range workload.FieldNames[:gwfShared] {
		l.Cells = append(l.Cells, table.Cell{Name: name, Field: i + 1})
	}
	for i, c := range gwfColumns() {
		l.Cells = append(l.Cells, table.Cell{Name: c.Name, More: i + 1, Text: c.Text})
	}
	return l
}

// Name is "gwf".
func (GWF) Name() string { return "gwf" }

// Endings are those of the archive.
func (GWF) Endings() []string { return []string{".gwf"} }

// Is knows a first line of 29 fields of which 11 are numbers.
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
		return len(fields) == len(gwfLayout().Cells)
	}
	return false
}

// Survey reads the comments, and all lines for names and the earliest submission.
func (GWF) Survey(in *workload.Input) (*workload.Header, error) {
	return gwfLayout().SurveyWith(in, gwfColumns())
}

// Read begins a reading.
func (GWF) Read(in *workload.Input, h *workload.Header) (workload.RecordReader, error) {
	return gwfLayout().Read(in, h)
}

// gwfComment names the fields, as the archive's files do.
var gwfComment = "#! fields " + strings.Join([]string{
	"JobID", "SubmitTime", "WaitTime", "RunTime", "NProcs", "AverageCPUTimeUsed", "UsedMemory", "ReqNProcs", "ReqTime", "ReqMemory",
	"Status", "UserID", "GroupID", "ExecutableID", "QueueID", "PartitionID", "OrigSiteID", "LastRunSiteID", "JobStructure", "JobStructureParams",
	"UsedNetwork", "UsedLocalDiskSpace", "UsedResources", "ReqPlatform", "ReqNetwork", "ReqLocalDiskSpace", "ReqResources", "VOID", "ProjectID",
}, " ") + "\n"

// Write begins a log.
func (GWF) Write(w io.Writer, h *workload.Header) (workload.RecordWriter, error) {
	return gwfLayout().WriteWith(w, h, gwfColumns(), gwfComment, table.Lines)
}
