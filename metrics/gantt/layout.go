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

// Kind is the kind of a piece; page/gantt.js of package report has the same numbers.
type Kind uint8

const (
	JobPiece     Kind = iota
	EarlierPiece      // an attempt that was stopped, after which another one came
	OwnerPiece        // an owner's own job
	bookingPiece
	OutagePiece
)

// Piece is some rows beside each other for a span of time [From, To).
type Piece struct {
	// Job is the number of the job; -1 if the piece is no job's.
	Job int64
	// Row is the first row, counted over all lanes; Rows is their number. Invariant: 1 <= Rows.
	Row, Rows int
	From, To  des.Time
	Kind      Kind
	// Attempt is the number of the attempt, from 1; 0 if the piece is no attempt.
	Attempt int
	// Overhead is the part of the time that went into set-up and checkpoints.
	Overhead des.Time
	// Cost is 0 if none is known.
	Cost float64
	// Label names an owner, or the job of a booking; it may be "".
	Label string
}

// Lane is a machine, or a site of a grid: rows beside each other.
type Lane struct {
	// Site is the name of the site; "" if there is only one machine.
	Site string `json:"-"`
	// First is the first row, counted over all lanes.
	First int `json:"first"`
	Rows  int `json:"rows"`
	// Nodes are in the order of the rows; nil for processors, which have numbers instead.
	Nodes []rows.Node `json:"-"`
	// row is the row of each node in the lane, by ID.
	row map[int64]int
	// open says that no file states how many processors there are, so that Rows grows by those
	// that jobs name. Invariant: an open lane is the only one, so that no other lane's First
	// depends on its Rows.
	open bool
}

// RowOf returns the row of a processor or node by its number, -1 if the lane has no such.
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

// Lanes returns the rows of the machine: named nodes, if nodes.csv has them, and processors. Lanes
// are in the order of nodes.csv, then of the file of the grid's clusters.
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
	// Phase 1: named nodes.
	for _, n := range nodes {
		l := of(n.Site)
		if l.row == nil {
			l.row = map[int64]int{}
		}
		l.row[n.ID] = l.Rows
		l.Rows++
		l.Nodes = append(l.Nodes, n)
	}
	// Phase 2: the clusters of a grid.
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
	// Phase 3: a single cluster. The manifest has no number of processors if it comes from a log's
	// header.
	if len(all) == 0 {
		of("").Rows, of("").open = count(f.Manifest.Settings["procs"]), true
	}
	first := 0
	for _, l := range all {
		l.First = first
		first += l.Rows
	}
	return all, nil
}

// clustersOf returns the file of a grid's clusters, "" if the run has none.
func clustersOf(r *results.Run) string {
	i := slices.IndexFunc(r.Files, func(name string) bool { return strings.HasPrefix(name, "clusters-") })
	if i < 0 {
		return ""
	}
	return r.Files[i]
}

// count reads a number of processors, 0 where there is none.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// layout is the position of the jobs of a run, with its owners' jobs and its outages, in the order
// of the files.
type layout struct {
	Pieces []Piece
	// Placed tells that the files say who had which processors; otherwise Pieces are incomplete.
	Placed bool

	// unplaced is a job of which no file says it.
	unplaced int64
	// until is the end of pieces that have no end of their own.
	until des.Time
}

// Place finds out who had which rows of the lanes: from tasks, if nodes have names; otherwise from
// attempts, if there are any, and from jobs, site by site. jobs are those of the run. An open lane
// grows by the processors that jobs name.
func Place(run *results.Run, jobs []rows.Job, lanes []*Lane, until des.Time) (*layout, error) {
	l := &layout{Placed: true, until: until}
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

// placeSite draws what a site of the run had. If it is one of several sites, its files are its
// own.
func (l *layout) placeSite(run *results.Run, jobs []rows.Job, attempts []rows.Attempt, lane *Lane) error {
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
func (l *layout) placeJobs(r *results.Run, jobs []rows.Job, attempts []rows.Attempt, lane *Lane) error {
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

// addRanges adds a piece for each range of processors. If the text does not name as many
// processors as the job has, it is their number, or empty: then the job cannot be placed. An
// attempt of no length needs no place.
func (l *layout) addRanges(p Piece, allocated string, processors int, lane *Lane) error {
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
func (l *layout) addEach(p Piece, ranges []procset.Range, lane *Lane) {
	for _, r := range ranges {
		for n := r.First; n <= r.Last; n++ {
			l.addRow(p, lane.RowOf(int64(n)))
		}
	}
}

// addRow adds a piece of one row, if there is such a row; row is -1 otherwise.
func (l *layout) addRow(p Piece, row int) {
	if row >= 0 && p.To >= p.From {
		p.Row, p.Rows = row, 1
		l.Pieces = append(l.Pieces, p)
	}
}

// placeTasks draws the spans of nodes, each in its row. Overheads are in the file of attempts.
func (l *layout) placeTasks(tasks []rows.Task, attempts []rows.Attempt, lanes []*Lane) {
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
		case rows.TaskOwner:
			p.Job, p.Kind = -1, OwnerPiece
			if t.Job >= 0 && p.Label != "" {
				p.Label += ", job " + strconv.FormatInt(t.Job, 10)
			}
		case rows.TaskOutage:
			p.Job, p.Kind = -1, OutagePiece
		default:
			if a := ended[try{t.Job, t.Attempt}]; a != nil {
				p.Overhead = max(a.Overhead, 0)
				if a.End == entity.EndRequeued {
					p.Kind = EarlierPiece
				}
			}
			if t.Kind == rows.TaskBooking {
				p.Kind = bookingPiece
				if t.Job >= 0 {
					p.Label = "job " + strconv.FormatInt(t.Job, 10)
				}
			}
		}
		l.addRow(p, lanes[at].RowOf(t.Node))
	}
}

// placeOutages draws what was out of service. Nothing can be drawn of an outage that does not say
// which processors it was.
func (l *layout) placeOutages(outages []rows.Outage, lane *Lane) {
	for _, o := range outages {
		if ranges, err := procset.Parse(o.Node); err == nil && o.Site == lane.Site {
			l.addEach(Piece{Job: -1, From: o.From, To: min(o.To, l.until), Kind: OutagePiece}, ranges, lane)
		}
	}
}
