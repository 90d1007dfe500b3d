package replay

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Kinds of events beside the orders of operators, which have the words of Order.Do.
const (
	KindSubmit      = "submit" // Detail: why Slurm refuses the job, or nothing
	KindStart       = "start"
	KindEnd         = "end"     // by itself; Detail: COMPLETED or FAILED
	KindStop        = "stop"    // by the controller; Detail: a slurm.Stop
	KindRefused     = "refused" // Detail: why the order in the event before it is refused
	KindReservation = "resv"    // Key: its name; Detail: why Slurm refuses it, or nothing
	KindLeft        = "left"    // Detail: the state and the reason of a job that has not ended
)

// Event is something that has happened: a row of slurm-events.csv. A field that does not apply is 0 or empty.
type Event struct {
	Key         string   // of the job; of KindReservation the name
	Job         int      // the ID of the job; 0: it has none
	Kind        string   // one of the kinds above, or Order.Do
	Time        des.Time // of the log
	Priority    uint32   // of KindStart and KindLeft
	HasPriority bool     // Priority is told
	CPUs        int      // of KindStart, as are the fields down to Cores; orders have Nodes, too
	Nodes       string   // a host list
	Partition   string   // in which the job has started
	QOS         string
	By          string // main or backfill: the loop that has started the job
	Cores       string // NODE:CORES/CPUS of each node, with /MB behind it if memory is consumed
	Detail      string // see the kinds; of KindStart what the job has, as slurmctld numbers TRES
}

// startOf is the event of a job that has just been launched. Its time is the start, which was Launch ago.
func (m *Machine) startOf(j *job) Event {
	conf, own := m.in.Config, j.job
	e := Event{Key: j.Key, Job: own.ID, Kind: KindStart, Time: own.Start, Priority: own.Priority, HasPriority: true,
		Partition: conf.Partitions[own.StartedIn].Name, QOS: m.c.QOSOf(own), By: "main", Detail: m.tresOf(own)}
	if own.ByBackfill {
		e.By = "backfill"
	}
	var names, cores []string
	for _, p := range own.Placed {
		name := conf.Nodes[p.Node].Name
		names = append(names, name)
		text := fmt.Sprintf("%s:%s/%d", name, ranges(p.Cores), p.CPUs)
		if conf.Select.Memory {
			text += fmt.Sprintf("/%d", p.Mem)
		}
		cores = append(cores, text)
		e.CPUs += p.CPUs
	}
	e.Nodes, e.Cores = slurm.HostList(names), strings.Join(cores, " ")
	return e
}

// ranges is a list of cores, as 0-3+6.
func ranges(cores []int) string {
	var b []byte
	for i := 0; i < len(cores); {
		k := i
		for k+1 < len(cores) && cores[k+1] == cores[k]+1 {
			k++
		}
		if i > 0 {
			b = append(b, '+')
		}
		b = strconv.AppendInt(b, int64(cores[i]), 10)
		if k > i {
			b = strconv.AppendInt(append(b, '-'), int64(cores[k]), 10)
		}
		i = k + 1
	}
	return string(b)
}

// Slurm's numbers of kinds of TRES. Devices are numbered from the first one on, in the order of
// AccountingStorageTRES. What is not known of a kind, as the energy of a job that has just
// started, is noAmount.
const (
	tresCPU     = 1
	tresMem     = 2
	tresEnergy  = 3
	tresNode    = 4
	tresBilling = 5
	tresFirst   = 1001
	noAmount    = math.MaxUint64 - 1
)

// tresOf returns the TRES of a job as slurmctld writes them: 1=4,2=2000,3=18446744073709551614,4=1,5=4.
func (m *Machine) tresOf(own *slurm.Job) string {
	conf := m.in.Config
	cpus, mem := 0, 0
	for _, p := range own.Placed {
		cpus += p.CPUs
		mem += p.Mem
	}
	text := fmt.Sprintf("%d=%d", tresCPU, cpus)
	if mem > 0 {
		text += fmt.Sprintf(",%d=%d", tresMem, mem)
	}
	text += fmt.Sprintf(",%d=%d,%d=%d,%d=%d", tresEnergy, uint64(noAmount), tresNode, len(own.Placed), tresBilling, int64(own.Billing()))
	for _, kind := range slices.Sorted(slices.Values(conf.TrackedTRES)) {
		if n := m.c.Has(own, kind); n > 0 {
			text += fmt.Sprintf(",%d=%d", tresFirst+slices.Index(conf.TrackedTRES, kind), n)
		}
	}
	return text
}

// EventColumns are the columns of slurm-events.csv, and PlainColumns its columns in a plain recording.
var (
	EventColumns = []string{"key", "job", "event", "time", "priority", "cpus", "nodes", "partition", "qos", "by", "cores", "detail"}
	PlainColumns = []string{"name", "job", "event", "time", "priority", "cpus", "nodes"}
)

// EventWriter writes slurm-events.csv.
type EventWriter struct {
	out   *csv.Writer
	plain bool
}

// NewEventWriter returns a writer of all events and columns or, if plain is set, of the columns
// of plain recordings.
func NewEventWriter(w io.Writer, plain bool) *EventWriter {
	e := &EventWriter{csv.NewWriter(w), plain}
	if plain {
		_ = e.out.Write(PlainColumns) // Close has what went wrong
	} else {
		_ = e.out.Write(EventColumns)
	}
	return e
}

// Tell writes the row of an event.
func (w *EventWriter) Tell(e Event) {
	if w.plain && e.Kind != KindStart && e.Kind != KindEnd {
		return
	}
	var priority, cpus string
	if e.HasPriority {
		priority = strconv.FormatUint(uint64(e.Priority), 10)
	}
	if e.CPUs > 0 {
		cpus = strconv.Itoa(e.CPUs)
	}
	row := []string{e.Key, strconv.Itoa(e.Job), e.Kind, strconv.FormatInt(int64(e.Time/des.Second), 10), priority, cpus, e.Nodes,
		e.Partition, e.QOS, e.By, e.Cores, e.Detail}
	if w.plain {
		row = row[:len(PlainColumns)]
	}
	_ = w.out.Write(row)
}

// Close writes what is left, and tells what went wrong.
func (w *EventWriter) Close() error {
	w.out.Flush()
	return w.out.Error()
}
