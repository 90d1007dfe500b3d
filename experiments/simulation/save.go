package simulation

// Runs that stop at an instant, are looked at, and go on later from a file.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/workload"
)

// Saved is a scenario that was stopped at an instant, as a file holds it: the settings, the
// checksums of the files that the scenario reads, and how far each policy has come.
//
// A saved run holds no state. Whoever resumes it repeats the run up to the point, which takes
// as long as it took before, and compares the fingerprint of all events there. So a saved run
// is small, holds for every policy and every flow, also for those of a program, and can never
// go on from a state that the settings would not have led to.
type Saved struct {
	// Until is the instant up to which all events have run, those of the instant included.
	Until des.Time
	// Manifest holds the settings and the checksums. It tells of no results.
	Manifest metrics.Manifest
	// Points has one Point for each policy, in the order in which the scenario names the policies.
	// Invariant: it is never empty.
	Points []Point
}

// Point is a place in the run of a policy.
type Point struct {
	Policy string `json:"policy"`
	Events uint64 `json:"events"` // number of events that have run
	// Fingerprint is the fingerprint of these events, in hexadecimal; see des.Simulator.
	Fingerprint string `json:"fingerprint"`
}

// Look describes the run of a policy at an instant, as people and programs see it.
type Look struct {
	Point
	Time    float64 `json:"time"` // of the instant, in seconds
	Running int     `json:"running"`
	// Busy is the number of processors or nodes of the running jobs, Queued the number for which
	// the waiting jobs ask.
	Busy    int      `json:"busy_processors"`
	Waiting int      `json:"waiting"` // a reservation ahead may be theirs
	Queued  int      `json:"queued_processors"`
	Jobs    []JobNow `json:"jobs"` // those that run, in order of start, those that wait, and advance reservations, in order of submission
}

// JobNow is a job at an instant. Times are in seconds.
type JobNow struct {
	ID         int64   `json:"job_id"`
	Site       string  `json:"site,omitempty"` // on a grid
	State      string  `json:"state"`          // running, waiting or reserved
	Submission float64 `json:"submission_time"`
	Processors int     `json:"requested_number_of_resources"`
	// Start is when a running job has started, or the reservation ahead begins, and Until when
	// what the job holds ends at the latest. Both are nil of a job that holds nothing.
	Start *float64 `json:"starting_time,omitempty"`
	Until *float64 `json:"until,omitempty"`
}

// pausedError ends a run at a point. It is no failure: simulateOne keeps its look as the outcome.
type pausedError struct{ look Look }

func (p *pausedError) Error() string { return "the run has stopped at " + fmt.Sprint(p.look.Time) }

// runTo lets the clock run up to and including an instant of the log. The clock stays at the latest event
// before it, not at the instant, so that nothing in the run can tell that it stopped.
func (x *session) runTo(ctx context.Context, until des.Time) error {
	until = until.Add(x.lead)
	x.sim.StopWhen(func() bool { return x.sim.NextTime() > until })
	// StopWhen is asked between two events, so that all events of the instant itself have run.
	defer x.sim.StopWhen(nil)
	return x.sim.RunUntil(ctx, until)
}

// point returns how far the run has come: the number of events and their fingerprint.
func (x *session) point() Point {
	return Point{Policy: x.settings.Name, Events: x.sim.Executed(), Fingerprint: fmt.Sprintf("%016x", x.sim.Fingerprint())}
}

// pass repeats a saved run up to its point, and fails if the events were not the same.
func (x *session) pass(ctx context.Context, until des.Time, saved Point) error {
	if err := x.runTo(ctx, until); err != nil {
		return err
	}
	if now := x.point(); now != saved {
		return fmt.Errorf("policy %s: at %v the run that is repeated is another one than the run that was saved (%d events with the fingerprint %s, and %d with %s): the program has changed since, or what a policy asks outside of it",
			x.settings.Name, until, now.Events, now.Fingerprint, saved.Events, saved.Fingerprint)
	}
	return nil
}

// look describes the run at an instant up to which it has come: first the jobs that run, site by
// site in order of start, then those that wait, in order of submission, then advance reservations that lie ahead.
func (x *session) look(until des.Time) Look {
	l := Look{Point: x.point(), Time: until.Seconds(), Jobs: []JobNow{}}
	runs := func(site string, r *entity.Run) {
		l.Running++
		l.Busy += r.Reservation.Window.Nodes
		l.Jobs = append(l.Jobs, jobNow(site, r))
	}
	waits := func(site string, r *entity.Run) {
		l.Waiting++
		l.Queued += r.Request.Nodes
		l.Jobs = append(l.Jobs, jobNow(site, r))
	}
	if x.slurm != nil {
		running := x.slurm.Running()
		slices.SortStableFunc(running, func(a, b *entity.Run) int { return cmp.Compare(a.Start, b.Start) })
		for _, r := range running {
			runs("", r)
		}
		for _, r := range x.slurm.Waiting() {
			waits("", r)
		}
		return l
	}
	for _, s := range x.sites {
		for r := range s.Scheduler.RunningJobs() {
			runs(s.Name, r)
		}
	}
	for _, s := range x.sites {
		for r := range s.Scheduler.Queue().By(entity.Submission, x.sim.Now()).All() {
			waits(s.Name, r)
		}
	}
	for _, r := range x.booked {
		if r.State == entity.Reserved {
			waits("", r)
		}
	}
	return l
}

// bookedRuns are the advance reservations of a run, by submission: what is ahead is in no queue.
type bookedRuns []*entity.Run

// Observe implements entity.Observer.
func (b *bookedRuns) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted && e.Run.Booked {
		*b = append(*b, e.Run)
	}
}

// jobNow describes a job at a site. Reservation.Active is true of a job that runs, and of one that waits with
// a reservation ahead; where Slurm decides it is not set.
func jobNow(site string, r *entity.Run) JobNow {
	j := JobNow{ID: r.ID, Site: site, State: r.State.String(), Submission: r.Submit.Seconds(), Processors: r.Request.Nodes}
	if r.Reservation.Active || r.State == entity.Running {
		start, until := r.Reservation.Window.Start.Seconds(), r.Reservation.Window.End.Seconds()
		j.Start, j.Until = &start, &until
	}
	return j
}

// RunUntil carries a scenario out up to and including an instant, without results. It returns
// what a file needs for the run to be resumed, and what the run of each policy looks like.
// Options.Dir must be empty. With Options.Resume a saved run goes on up to a later instant.
func RunUntil(ctx context.Context, sc *Scenario, until des.Time, o Options) (*Saved, []Look, error) {
	switch {
	case until < 0 || until == des.Forever:
		return nil, nil, fmt.Errorf("a run cannot stop at %v: want an instant from 0 on", until)
	case o.Dir != "":
		return nil, nil, errors.New("a run that stops at an instant has no results yet: it needs no folder")
	case o.Resume != nil && o.Resume.Until > until:
		return nil, nil, fmt.Errorf("a run that was saved at %v cannot stop at %v, which is before that", o.Resume.Until, until)
	}
	c := newCall(sc, o)
	c.until = &until
	if err := c.begin(ctx); err != nil {
		return nil, nil, err
	}
	c.looks = make([]Look, len(c.all))
	if err := c.simulate(ctx); err != nil {
		return nil, nil, c.explain(err)
	}
	saved := &Saved{Until: until}
	for _, l := range c.looks {
		saved.Points = append(saved.Points, l.Point)
	}
	var err error
	if saved.Manifest, err = c.manifest(); err != nil {
		return nil, nil, err
	}
	saved.Manifest.End = time.Now()
	return saved, c.looks, nil
}

// checkResume returns an error if the policies are not those of the run that is resumed, in the
// same order: points belong to policies by their place.
func (c *call) checkResume() error {
	saved := c.options.Resume
	if saved == nil {
		return nil
	}
	same := len(saved.Points) == len(c.all)
	for i := 0; same && i < len(c.all); i++ {
		same = saved.Points[i].Policy == c.all[i].spec
	}
	if !same {
		return errors.New("the policies are not those of the run that was saved")
	}
	return nil
}

// Scenario returns the scenario of a saved run. Files that it names are looked for where they were,
// relative to the working directory. A program that has made the jobs itself makes them again, and
// gives Run its own scenario instead.
func (s *Saved) Scenario(t *Tables) (*Scenario, error) {
	sc, err := FromManifest(&s.Manifest, "", t)
	if err == nil && sc.Workload.Trace == workload.StandardInput {
		err = errStandardInput
	}
	return sc, err
}

// savedFormat is the text by which the file of a saved run names its format. savedLayout is the
// number of the present layout of such files.
const (
	savedFormat = "gridslot saved simulation"
	savedLayout = 1
)

// savedFile is the layout of the file of a saved run.
type savedFile struct {
	Format string          `json:"format"`
	Layout int             `json:"layout"`
	SHA256 string          `json:"sha256"` // of Run, without blanks
	Run    json.RawMessage `json:"run"`
}

// savedRun is the part of a savedFile of which SHA256 is the checksum.
type savedRun struct {
	Until    string           `json:"until"` // in seconds, exactly
	Points   []Point          `json:"points"`
	Manifest metrics.Manifest `json:"manifest"`
}

// sum returns the checksum of JSON without its blanks, so that an indented file has the same one.
func sum(text []byte) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return "", err
	}
	all := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(all[:]), nil
}

// write writes a saved run as JSON.
func (s *Saved) write(w io.Writer) error {
	run, err := json.Marshal(savedRun{string(s.Until.Append(nil)), s.Points, s.Manifest})
	if err != nil {
		return fmt.Errorf("writing a saved run: %w", err)
	}
	file := savedFile{Format: savedFormat, Layout: savedLayout, Run: run}
	if file.SHA256, err = sum(run); err != nil {
		return fmt.Errorf("writing a saved run: %w", err)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(file)
}

// WriteFile writes a saved run to a file, which is there whole or not at all.
func (s *Saved) WriteFile(path string) error { return atomicfile.WriteNamed(path, s.write) }

// errStandardInput refuses to save a run whose log cannot be read again.
var errStandardInput = errors.New("a run whose log comes from standard input cannot be saved: the log is not there when the run is resumed; give it as a file")

// Savable reports why a run of the scenario cannot be saved to a file, or nil: the file must
// replace none that the run reads, and all of these must be there again when the run is resumed.
func (sc *Scenario) Savable(path string, t *Tables) error {
	if sc.Workload.Trace == workload.StandardInput {
		return errStandardInput
	}
	for _, input := range sc.Files(t) {
		if info, err := os.Stat(input); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return fmt.Errorf("a run that reads %s, which is no regular file, cannot be saved: it could not read that again", input)
		}
		if atomicfile.Same(path, input) {
			return fmt.Errorf("the run reads %s, which saving it would replace: choose another file", input)
		}
	}
	return nil
}

// ReadSaved reads the file of a saved run. A file that is none, that was written by a later
// gridslot in another layout, or that is not as it was written is an error.
func ReadSaved(path string) (*Saved, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: want one that simulate --save has written", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a saved run: %w", err)
	}
	s, err := parseSaved(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Clean(path), err)
	}
	return s, nil
}

func parseSaved(text []byte) (*Saved, error) {
	var file savedFile
	if err := jsontext.Decode(text, &file); err != nil {
		return nil, fmt.Errorf("this is no saved run: %w", err)
	}
	switch {
	case file.Format != savedFormat:
		return nil, fmt.Errorf("this is no saved run: want a file that simulate --save has written, in which \"format\" is %q", savedFormat)
	case file.Layout != savedLayout:
		return nil, fmt.Errorf("the saved run has the layout %d, and this gridslot reads layout %d: resume it with the version that saved it", file.Layout, savedLayout)
	}
	if found, err := sum(file.Run); err != nil || found != file.SHA256 {
		return nil, errors.New("the saved run is damaged, or somebody has changed it: its checksum is another one")
	}
	var run savedRun
	if err := jsontext.Decode(file.Run, &run); err != nil {
		return nil, fmt.Errorf("the saved run is damaged: %w", err)
	}
	// The checksum proves that the file is as it was written. What follows refuses files that
	// another program has written with a good checksum.
	until, fault := number.Time(run.Until, des.Forever-1)
	if fault != number.Sound || until < 0 {
		return nil, fmt.Errorf("the saved run is damaged: until: want a time of 0 or more, not %q", run.Until)
	}
	if len(run.Points) == 0 {
		return nil, errors.New("the saved run is damaged: points: want one for each policy, and there is none")
	}
	if kept := run.Manifest.Settings["policy"]; kept == "" {
		return nil, fmt.Errorf("the saved run is damaged: its settings name no policy, where points are of %s", strings.TrimSpace(run.Points[0].Policy))
	}
	return &Saved{Until: until, Points: run.Points, Manifest: run.Manifest}, nil
}
