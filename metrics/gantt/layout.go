package gantt

// Who stands in which row from when to when: pieces, rectangles of rows and time.
//
//	rows   lane "north"   0 |aaaa  bb      a job on three processors is a piece of three
//	                      1 |aaaa##bb      rows, where they lie beside each other; # is
//	                      2 |aaaa##        an outage
//	       lane "south"   3 |   cccc
//	                        +-----------> time
//
// Files say who had what in two ways: tasks name the nodes of a domain, attempts and jobs name
// ranges of processors. At a site that has tasks these say all.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Kind is what a piece is; page/gantt.js of package report has the same numbers.
type Kind uint8

const (
	JobPiece     Kind = iota
	EarlierPiece      // an attempt that was stopped, after which another one came
	OwnerPiece        // an owner's own job
	BookingPiece
	OutagePiece
)

// Piece is some rows beside each other for a span of time.
type Piece struct {
	Job       int64 // its number; -1 where the piece is no job's
	Row, Rows int
	From, To  des.Time
	Kind      Kind
	Attempt   int
	Overhead  des.Time
	Cost      float64 // 0 where none is known
	Label     string
}

// Lane is a machine, or a site of a grid: rows beside each other.
type Lane struct {
	Site  string        `json:"-"` // "" where there is one
	First int           `json:"first"`
	Rows  int           `json:"rows"`
	Nodes []rows.Node   `json:"-"` // nil for processors, which have numbers
	row   map[int64]int // of nodes, by id
	// open says that no file states how many processors there are, so that Rows grows by those
	// that jobs name. Invariant: an open lane is the only one, so that no other lane's First
	// depends on its Rows.
	open bool
}

// RowOf is the row of a processor or node, -1 for one that is not there.
func (l *Lane) RowOf(number int64) int {
	if l.Nodes != nil {
		if row, ok := l.row[number]; ok {
			return l.First + row
		}
		return -1
	}
	if number < 0 || number >= int64(l.Rows) {
		return -1
	}
	return l.First + int(number)
}

// Lanes are the rows of the machine: named nodes where nodes.csv has them, and
// processors.
func Lanes(f *results.Folder) ([]*Lane, error) {
	nodes, err := f.Nodes()
	if err != nil {
		return nil, err
	}
	var all []*Lane
	of := func(site string) *Lane {
		for _, l := range all {
			if l.Site == site {
				return l
			}
		}
		all = append(all, &Lane{Site: site})
		return all[len(all)-1]
	}
	for _, n := range nodes {
		l := of(n.Site)
		if l.row == nil {
			l.row = map[int64]int{}
		}
		l.row[n.ID] = l.Rows
		l.Rows++
		l.Nodes = append(l.Nodes, n)
	}
	if name := clustersOf(f.Runs[0]); name != "" {
		clusters, err := f.Table(name)
		if err != nil {
			return nil, err
		}
		for i := range clusters.Rows {
			if l := of(clusters.Text(i, "cluster")); l.Nodes == nil {
				l.Rows = count(clusters.Text(i, "processors"))
			}
		}
	}
	if len(all) == 0 { // a log's header may state the processors, which the manifest does not have
		of("").Rows, of("").open = count(f.Manifest.Settings["procs"]), true
	}
	first := 0
	for _, l := range all {
		l.First = first
		first += l.Rows
	}
	return all, nil
}

// clustersOf is the file of a grid's clusters, "" where the run has none.
func clustersOf(r *results.Run) string {
	i := slices.IndexFunc(r.Files, func(name string) bool { return strings.HasPrefix(name, "clusters-") })
	if i < 0 {
		return ""
	}
	return r.Files[i]
}

func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Layout is where the jobs of a run stand, its owners' jobs and its outages, in the order of
// the files.
type Layout struct {
	Pieces []Piece
	// Placed says that it is known who had which processors; otherwise Pieces are not whole.
	Placed bool

	unplaced int64    // a job of which it is not known
	until    des.Time // what has no end is drawn until then
}

// Place finds out who had which rows of the lanes: from tasks, where nodes have names;
// otherwise from attempts, where there are any, and jobs, by site where there are several.
// The lane of a single cluster grows by the processors that jobs name. The jobs are those of the run.
func Place(run *results.Run, jobs []rows.Job, lanes []*Lane, until des.Time) (*Layout, error) {
	l := &Layout{Placed: true, until: until}
	attempts, err := run.Attempts()
	if err != nil {
		return nil, err
	}
	tasks, err := run.Tasks()
	if err != nil {
		return nil, err
	}
	outages, err := run.Outages()
	if err != nil {
		return nil, err
	}
	byTasks := map[string]bool{} // sites of which tasks tell all
	for i := range tasks {
		byTasks[tasks[i].Site] = true
	}
	l.placeTasks(tasks, attempts, lanes)
	for _, lane := range lanes {
		if byTasks[lane.Site] {
			continue
		}
		if err := l.placeSite(run, jobs, attempts, lane); err != nil {
			return nil, err
		}
		l.placeOutages(outages, lane)
	}
	return l, nil
}

// placeSite draws what a site of the run had, whose files are its own where it is one of several.
func (l *Layout) placeSite(run *results.Run, jobs []rows.Job, attempts []rows.Attempt, lane *Lane) error {
	if len(run.Sites) == 0 {
		return l.placeJobs(run, jobs, attempts, lane)
	}
	site := run.AtSite(lane.Site)
	if site == nil { // the site wrote no file of its jobs
		return nil
	}
	jobs, err := site.Jobs()
	if err != nil {
		return err
	}
	if attempts, err = site.Attempts(); err != nil {
		return err
	}
	return l.placeJobs(site, jobs, attempts, lane)
}

// placeJobs draws the processors of attempts and jobs.
func (l *Layout) placeJobs(r *results.Run, jobs []rows.Job, attempts []rows.Attempt, lane *Lane) error {
	// Where no file of attempts says how the last attempt of a job ended, as without such a file
	// or of a job that was running when the run was stopped, the job itself tells that attempt.
	over := map[int64]bool{} // jobs whose last attempt is over
	for i := range attempts {
		a := &attempts[i]
		p := Piece{Job: a.Job, From: a.Start, To: a.Finish, Attempt: a.Number, Overhead: max(a.Overhead, 0)}
		switch a.End {
		case entity.EndRequeued:
			p.Kind = EarlierPiece
		case entity.EndResized:
		default:
			over[a.Job] = true
		}
		if err := l.addRanges(p, a.Allocated, a.Processors, lane); err != nil {
			return fmt.Errorf("attempts of %s: job %d, attempt %d: %w", r.Policy, a.Job, a.Number, err)
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Start == rows.None || j.State == rows.Rejected || over[j.ID] {
			continue
		}
		p := Piece{Job: j.ID, From: j.Start, To: j.Finish, Attempt: j.Restarts + 1, Overhead: max(j.Overhead, 0)}
		if p.To == rows.None {
			p.To = l.until // it was running when the run was stopped
		}
		if err := l.addRanges(p, j.Allocated, j.Processors, lane); err != nil {
			return fmt.Errorf("jobs of %s: job %d: %w", r.Policy, j.ID, err)
		}
	}
	return nil
}

// addRanges adds a piece for each range of processors. A text that does not name as
// many as the job has is a count of them, or nothing.
func (l *Layout) addRanges(p Piece, allocated string, processors int, lane *Lane) error {
	if !l.Placed || p.From == rows.None || p.To == rows.None {
		return nil
	}
	ranges, err := procset.Parse(allocated)
	if err != nil {
		return err
	}
	if len(ranges) == 0 && p.To > p.From || len(ranges) == 1 && procset.Count(ranges) == 1 && processors > 1 {
		l.Placed, l.unplaced = false, p.Job
		return nil
	}
	for _, r := range ranges {
		if lane.Nodes == nil {
			if lane.open {
				lane.Rows = max(lane.Rows, int(r.Last)+1)
			}
			if int64(r.Last) >= int64(lane.Rows) {
				return fmt.Errorf("processor %d of cluster %s, which has %d: the files are damaged, or of different runs", r.Last, lane.Site, lane.Rows)
			}
			p.Row, p.Rows = lane.First+int(r.First), int(r.Last-r.First)+1
			l.Pieces = append(l.Pieces, p)
			continue
		}
		l.addEach(p, []procset.Range{r}, lane)
	}
	return nil
}

// addEach adds a piece of one row for each processor or node that is there.
func (l *Layout) addEach(p Piece, ranges []procset.Range, lane *Lane) {
	for _, r := range ranges {
		for n := r.First; n <= r.Last; n++ {
			l.addRow(p, lane.RowOf(int64(n)))
		}
	}
}

// addRow adds a piece of one row.
func (l *Layout) addRow(p Piece, row int) {
	if row >= 0 && p.To >= p.From {
		p.Row, p.Rows = row, 1
		l.Pieces = append(l.Pieces, p)
	}
}

// placeTasks draws pieces of nodes' time.
func (l *Layout) placeTasks(tasks []rows.Task, attempts []rows.Attempt, lanes []*Lane) {
	type try struct {
		job    int64
		number int
	}
	ended := map[try]*rows.Attempt{}
	for i := range attempts {
		ended[try{attempts[i].Job, attempts[i].Number}] = &attempts[i]
	}
	for i := range tasks {
		t := &tasks[i]
		at := slices.IndexFunc(lanes, func(l *Lane) bool { return l.Site == t.Site })
		if at < 0 {
			continue
		}
		p := Piece{Job: t.Job, From: t.Start, To: min(t.End, l.until), Attempt: t.Attempt, Label: t.Owner}
		if !math.IsNaN(t.Cost) {
			p.Cost = t.Cost
		}
		if t.End == rows.None {
			p.To = l.until
		}
		switch t.Kind {
		case "owner":
			p.Job, p.Kind = -1, OwnerPiece
			if t.Job >= 0 && p.Label != "" {
				p.Label += ", job " + strconv.FormatInt(t.Job, 10)
			}
		case "outage":
			p.Job, p.Kind = -1, OutagePiece
		default:
			if a := ended[try{t.Job, t.Attempt}]; a != nil {
				p.Overhead = max(a.Overhead, 0)
				if a.End == entity.EndRequeued {
					p.Kind = EarlierPiece
				}
			}
			if t.Kind == "booking" {
				p.Kind = BookingPiece
				if t.Job >= 0 {
					p.Label = "job " + strconv.FormatInt(t.Job, 10)
				}
			}
		}
		l.addRow(p, lanes[at].RowOf(t.Node))
	}
}

// placeOutages draws what was out of service. Of outages that do not say which
// processors it were nothing can be drawn.
func (l *Layout) placeOutages(outages []rows.Outage, lane *Lane) {
	for _, o := range outages {
		if ranges, err := procset.Parse(o.Node); err == nil && o.Site == lane.Site {
			l.addEach(Piece{Job: -1, From: o.From, To: min(o.To, l.until), Kind: OutagePiece}, ranges, lane)
		}
	}
}
