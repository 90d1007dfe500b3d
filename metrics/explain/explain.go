package explain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/internal/printed"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Log holds the jobs, attempts and decisions of one run, from which stories are made.
type Log struct {
	// policy is the policy as it was asked for.
	policy string
	// jobs, attempts and decisions are sorted by job; rows of one job are in the order of the
	// file.
	jobs      []rows.Job
	attempts  []rows.Attempt
	decisions []rows.Decision
	// site is the name of a site of a grid, "" of a run as a whole; sites are those of a grid,
	// where the jobs of the run were held in parts.
	site  string
	sites []*Log
	// zero is the date of time 0, the zero Time if the log does not tell; see
	// results.Folder.Origin.
	zero time.Time
}

// NoLogError reports a run that has written no log of decisions.
type NoLogError struct{ policy string }

func (e *NoLogError) Error() string {
	return fmt.Sprintf("the run of %s has written no log of decisions: simulate again with --decisions", e.policy)
}

// NoJobError reports a job that is not in a run.
type NoJobError struct {
	policy string
	job    int64
}

func (e *NoJobError) Error() string {
	return fmt.Sprintf("there is no job %d in the run of %s", e.job, e.policy)
}

// Read reads the files of a run. On a grid, where decisions are made at the sites, it reads those
// of all sites as well. Its error is a *NoLogError if the run has not written down its decisions.
func Read(run *results.Run) (*Log, error) {
	l := &Log{policy: run.Policy, site: run.Site, zero: run.Origin()}
	for _, s := range run.Sites {
		site, err := Read(s)
		if err != nil {
			return nil, err
		}
		l.sites = append(l.sites, site)
	}
	if len(l.sites) == 0 && !run.Has("decisions") {
		return nil, &NoLogError{run.Policy}
	}
	var err error
	if l.decisions, err = run.Decisions(); err != nil {
		return nil, err
	}
	if l.jobs, err = run.Jobs(); err != nil {
		return nil, err
	}
	if l.attempts, err = run.Attempts(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.decisions, func(a, b rows.Decision) int { return cmp.Compare(a.Job, b.Job) })
	slices.SortStableFunc(l.attempts, func(a, b rows.Attempt) int { return cmp.Compare(a.Job, b.Job) })
	slices.SortStableFunc(l.jobs, func(a, b rows.Job) int { return cmp.Compare(a.ID, b.ID) })
	return l, nil
}

// line says one thing that happened, or held, from the instant At on.
type line struct {
	At   des.Time
	Text string
}

func (l line) String() string { return fmt.Sprintf("%12v s  %s", l.At, l.Text) }

// dated returns the line with its date, if the date of time 0 is known.
func (l line) dated(zero time.Time) string {
	if zero.IsZero() {
		return l.String()
	}
	return fmt.Sprintf("%s  %v", date(l.At, zero), l)
}

// date returns the date of an instant, if zero is the date of time 0.
func date(at des.Time, zero time.Time) string {
	return zero.Add(time.Duration(at) * time.Microsecond).Format(time.DateTime)
}

// instant returns an instant in a sentence, with its date if zero is known.
func instant(at des.Time, zero time.Time) string {
	if zero.IsZero() {
		return fmt.Sprintf("%v s", at)
	}
	return fmt.Sprintf("%v s (%s)", at, date(at, zero))
}

// at is instant with the log's own zero.
func (l *Log) at(t des.Time) string   { return instant(t, l.zero) }
func (s *Story) at(t des.Time) string { return instant(t, s.zero) }

// Story says what became of one job, and why.
type Story struct {
	job   rows.Job
	title string
	// Lines are in order of time.
	Lines []line
	// zero is the date of time 0; the zero Time if nobody knows.
	zero time.Time
}

func (s Story) String() string {
	var b strings.Builder
	b.WriteString(s.title)
	for _, l := range s.Lines {
		b.WriteString("\n")
		b.WriteString(l.dated(s.zero))
	}
	return b.String()
}

// Job tells the story of a job: of each job that has the number, if a log uses it twice. On a grid
// the stories of its parts follow, site by site; a site's own job of that number is among them.
// Its error is a *NoJobError.
func (l *Log) Job(id int64) ([]Story, error) {
	jobs := of(l.jobs, id, func(j *rows.Job) int64 { return j.ID })
	if len(jobs) == 0 {
		return nil, &NoJobError{l.policy, id}
	}
	all := of(l.decisions, id, func(d *rows.Decision) int64 { return d.Job })
	attempts := of(l.attempts, id, func(a *rows.Attempt) int64 { return a.Job })
	var stories []Story
	for i := range jobs {
		stories = append(stories, l.tell(jobs[i], all, attempts))
	}
	for _, s := range l.sites {
		parts, err := s.Job(id)
		if none := (*NoJobError)(nil); err != nil && !errors.As(err, &none) {
			return nil, err
		}
		stories = append(stories, parts...)
	}
	return stories, nil
}

// of returns the rows of one job among rows that are sorted by job, in O(log n).
func of[T any](rows []T, id int64, job func(*T) int64) []T {
	from, _ := slices.BinarySearchFunc(rows, id, func(r T, id int64) int { return cmp.Compare(job(&r), id) })
	to := from
	for to < len(rows) && job(&rows[to]) == id {
		to++
	}
	return rows[from:to]
}

// tell tells the story of j, given the decisions and attempts of all jobs with its number: it
// takes those that lie within the life of j.
func (l *Log) tell(j rows.Job, decisions []rows.Decision, attempts []rows.Attempt) Story {
	// Phase 1: who it is, and how it came.
	at := ""
	if l.site != "" {
		at = " at " + l.site
	}
	s := Story{job: j, zero: l.zero, title: fmt.Sprintf("job %d under %s%s: %d %s for %s at most", j.ID, l.policy, at, j.Processors, plural(j.Processors, "processor or node", "processors or nodes"), span(j.Estimate))}
	if j.User >= 0 {
		s.title += fmt.Sprintf(", user %d", j.User)
	}
	s.add(j.Submit, "submitted")
	if j.After != "" {
		s.Lines[0].Text = "submitted, as it had to wait for other jobs: " + j.After
	}
	if j.Prediction != rows.None {
		s.Lines[0].Text += ", and planned by a prediction of " + span(j.Prediction)
	}
	// Phase 2: attempts before the last one.
	for _, a := range attempts {
		if a.Start < j.Submit || j.Start != rows.None && a.Start >= j.Start {
			continue
		}
		s.add(a.Start, "started, and was stopped at "+l.at(a.Finish))
	}
	// Phase 3: what held it until its last start, or until it was rejected.
	held := 0
	last := j.Start
	if last == rows.None {
		last = j.Finish
	}
	var mine []rows.Decision
	for _, d := range decisions {
		if d.From >= j.Submit && (last == rows.None || d.To <= last) {
			mine = append(mine, d)
		}
	}
	// A long run of rows about backfilling becomes one sentence: it may have hundreds.
	for len(mine) > 0 {
		n := backfillRun(mine)
		if n > mergeAbove {
			s.add(mine[0].From, l.merged(mine[:n]))
		} else {
			n = 1
			s.add(mine[0].From, l.sentence(&mine[0])+l.blocked(&mine[0]))
		}
		held += n
		mine = mine[n:]
	}
	// Phase 4: the end of the wait and of the job. Lines of one instant stay in the order of the
	// phases.
	s.end(held, len(l.sites) > 0)
	slices.SortStableFunc(s.Lines, func(a, b line) int { return cmp.Compare(a.At, b.At) })
	return s
}

// add adds a line. Texts from files are made harmless for a terminal.
func (s *Story) add(at des.Time, text string) {
	s.Lines = append(s.Lines, line{at, printed.Text(text)})
}

// end tells how the waiting came to its end. held is the number of things that held the job. On a
// grid the stories of the parts tell these.
func (s *Story) end(held int, onGrid bool) {
	j := &s.job
	if held == 0 && !onGrid && j.State != rows.Rejected && j.Wait() != 0 {
		s.add(j.Submit, "the policy has not said what held it")
	}
	switch {
	case j.State == rows.Rejected && held == 0:
		s.add(j.Finish, "rejected: "+cmp.Or(j.Reason, "no reason was given"))
	case j.State == rows.Rejected: // the log has told
	case j.Start == rows.None:
		at := j.Submit
		for _, l := range s.Lines {
			at = max(at, l.At)
		}
		s.add(at, "it was still waiting when the run ended")
	default:
		s.started()
	}
}

// started tells of the last start, and what became of the job.
func (s *Story) started() {
	j := &s.job
	text := "started at once"
	if wait := j.Wait(); wait > 0 {
		text = "started, after waiting for " + span(wait)
	}
	if j.Backfilled {
		text += "; it was backfilled, before a job that stood ahead of it"
	}
	switch p := j.Promised; {
	case p == rows.None:
	case p == j.Start:
		text += "; that was the start first promised"
	case p > j.Start:
		text += fmt.Sprintf("; first promised was %s, %s later", s.at(p), span(p-j.Start))
	default:
		text += fmt.Sprintf("; first promised was %s, %s earlier", s.at(p), span(j.Start-p))
	}
	s.add(j.Start, text)
	switch j.State {
	case rows.Finished:
		s.add(j.Finish, "finished"+corrected(j))
	case rows.Walltime:
		s.add(j.Finish, "cut off at its estimate"+corrected(j))
	case rows.Killed:
		s.add(j.Finish, "killed: "+cmp.Or(j.Reason, "no reason was given")+corrected(j))
	}
}

// corrected tells what became of the prediction of a job that has ended; "" if there is nothing to
// tell.
func corrected(j *rows.Job) string {
	switch n := j.Corrections; {
	case j.Prediction == rows.None:
		return ""
	case n > 0:
		return fmt.Sprintf("; it had outlived its prediction, which was corrected %d %s, in the end to %s", n, plural(n, "time", "times"), span(j.Predicted))
	case j.Predicted != j.Prediction:
		return "; its prediction was changed while it waited, to " + span(j.Predicted)
	}
	return ""
}

// mergeAbove is the number of rows about jobs ahead up to which each row has a sentence of its own;
// more rows are merged.
const mergeAbove = 6

// backfillRun returns how many of the first rows are about room beside jobs ahead, and about
// nothing else.
func backfillRun(all []rows.Decision) int {
	n := 0
	for n < len(all) && !ofMachine(&all[n]) && (all[n].What == entity.NoRoomBeside.String() || all[n].What == entity.WouldDelay.String()) {
		n++
	}
	return n
}

// merged makes one sentence of a long wait behind jobs ahead, in rows of backfillRun.
func (l *Log) merged(all []rows.Decision) string {
	var ahead []int64
	// fitted is the number of decisions that found room for the job. least and most bound the delay
	// of the head that the job would have caused then.
	fitted, least, most := 0, des.Forever, des.Time(0)
	for _, d := range all {
		if d.Other >= 0 && !slices.Contains(ahead, d.Other) {
			ahead = append(ahead, d.Other)
		}
		if d.What == entity.WouldDelay.String() {
			fitted++
			least, most = min(least, d.Delay), max(most, d.Delay)
		}
	}
	text := fmt.Sprintf("until %s there was no room beside what ran and what was held for the head of the queue, among others %s", l.at(all[len(all)-1].To), jobList(ahead))
	if fitted > 0 {
		text += fmt.Sprintf("; for %d of these heads there came a decision at which it would have fitted, and would have delayed that job by %s", fitted, between(least, most))
	}
	return text
}

// between returns a range of times; des.Forever means that the head could not have started at all.
func between(least, most des.Time) string {
	switch {
	case least == most:
		return span(least)
	case most == des.Forever:
		return span(least) + " or more"
	}
	return span(least) + " to " + span(most)
}

// jobList names the first five jobs, and how many more there are.
func jobList(ids []int64) string {
	const shown = 5
	var words []string
	for _, id := range ids[:min(len(ids), shown)] {
		words = append(words, fmt.Sprint(id))
	}
	if len(ids) > shown {
		words = append(words, fmt.Sprintf("%d more", len(ids)-shown))
	}
	return plural(len(ids), "job ", "jobs ") + strings.Join(words, ", ")
}

// sentence says what one row of the log says. The words of entity.Obstacle have a sentence each;
// others are events.
func (l *Log) sentence(d *rows.Decision) string {
	what, err := entity.ParseObstacle(d.What)
	if err != nil {
		return happening(d)
	}
	other := "another job"
	if d.Other >= 0 {
		other = fmt.Sprintf("job %d", d.Other)
	}
	switch what {
	case entity.BehindOthers:
		return fmt.Sprintf("jobs ahead of it had to start first, the first of them %s", other)
	case entity.TooFewFree:
		return "too few processors or nodes were free " + l.before(d)
	case entity.NoRoomBeside:
		if d.Other < 0 {
			return "no room beside what ran"
		}
		return fmt.Sprintf("no room beside what ran and what was held for %s, the head of the queue%s", other, l.heldFrom(d))
	case entity.WouldDelay:
		if d.Delay == des.Forever {
			return fmt.Sprintf("would have fitted, and would have kept %s from starting at all%s", other, l.heldFrom(d))
		}
		return fmt.Sprintf("would have fitted, and would have delayed %s by %s%s", other, span(d.Delay), l.heldFrom(d))
	case entity.ReservedAhead:
		if d.Text != "" {
			return "a window was planned for it " + l.moved("at", d) + words(d)
		}
		return "waited for its reservation, which began " + l.moved("at", d)
	case entity.NoWindow:
		return "there was no window for it" + words(d)
	case entity.OverBudget:
		text := fmt.Sprintf("a window was found, and cost %.6g more than its budget", d.Short)
		if known(d.Start) {
			text += fmt.Sprintf(" (it would have begun at %s)", l.at(d.Start))
		}
		return text
	case entity.TimeLimitLow:
		return fmt.Sprintf("postponed: the limit T* on the time of its batch was too low by %.6g time units%s", d.Short, words(d))
	case entity.BudgetLimitLow:
		return fmt.Sprintf("postponed: the limit B* on the cost of its batch was too low by %.6g%s", d.Short, words(d))
	case entity.UntilCycle:
		return "waited for the next cycle"
	}
	text := cmp.Or(d.Text, "the policy left it waiting")
	if known(d.Start) {
		text += "; its start was planned " + l.moved("for", d)
	}
	return text
}

// happening says what a row tells that is no obstacle: an event, or a word that this program does
// not know.
func happening(d *rows.Decision) string {
	switch d.What {
	case rows.DecisionRejected:
		return "rejected: " + cmp.Or(d.Text, "no reason was given")
	case rows.DecisionWithdrawn:
		return "lost its reservation, and waited again"
	case rows.DecisionPreempted:
		return "was stopped, and waited again"
	}
	return d.What + words(d)
}

// words returns the policy's own words behind a colon, if there are any.
func words(d *rows.Decision) string {
	if d.Text == "" {
		return ""
	}
	return ": " + d.Text
}

// known reports whether t is an instant that comes.
func known(t des.Time) bool { return t != rows.None && t < des.Forever }

// before returns "before 120 s", and what became of that later; "at any time" if there is no
// start.
func (l *Log) before(d *rows.Decision) string {
	if !known(d.Start) {
		return "at any time"
	}
	return l.moved("before", d)
}

// moved returns the first start that was said, behind a word, and the last one if it is another.
func (l *Log) moved(word string, d *rows.Decision) string {
	if d.Times > 1 && d.LastStart != d.Start && known(d.LastStart) {
		return fmt.Sprintf("%s %s; that changed to %s by %s", word, l.at(d.Start), l.at(d.LastStart), l.at(d.To))
	}
	return word + " " + l.at(d.Start)
}

// heldFrom returns when the head was to start, if that is known.
func (l *Log) heldFrom(d *rows.Decision) string {
	if !known(d.Start) {
		return ""
	}
	return ", which was to start at " + l.at(d.Start)
}

// span returns a time for people: exact, and roughly in larger units.
func span(t des.Time) string {
	if t == rows.None || t == des.Forever {
		return "an unknown time"
	}
	s := t.Seconds()
	switch text := fmt.Sprintf("%v s", t); {
	case s < 120:
		return text
	case s < 7200:
		return fmt.Sprintf("%s (%.0f min)", text, s/60)
	case s < 2*86400:
		return fmt.Sprintf("%s (%.1f h)", text, s/3600)
	default:
		return fmt.Sprintf("%s (%.1f days)", text, math.Round(s/8640)/10)
	}
}

// plural returns one for 1 and many for all other numbers.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
