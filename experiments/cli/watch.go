package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
)

// watched is an observer that keeps what is to be seen of a run while it lasts. Any goroutine may
// look. It counts jobs in the queue and ended, processors or nodes that there are (0 if not known)
// and that are busy, and keeps the clock in ticks.
type watched struct {
	policy                              string
	capacity, clock, queue, busy, ended atomic.Int64
}

// Attach learns how many processors or nodes there are. On a grid nobody calls it: no utilization
// is shown.
func (w *watched) Attach(m *entity.Metascheduler) {
	w.capacity.Store(int64(m.Plan().Size()))
}

// Observe takes one event in.
func (w *watched) Observe(e entity.JobEvent) {
	w.clock.Store(int64(e.Time))
	nodes := int64(e.Run.Request.Nodes)
	// before returns the processors that the run had until this event.
	before := func() int64 {
		a, _, _, _ := entity.Over(e)
		return int64(a.Window.Nodes)
	}
	switch e.Kind {
	case entity.JobSubmitted:
		w.queue.Add(1)
	case entity.JobRejected:
		w.queue.Add(-1)
		w.ended.Add(1)
	case entity.JobStarted:
		w.queue.Add(-1)
		w.busy.Add(nodes)
	case entity.JobFinished, entity.JobKilled:
		w.busy.Add(-nodes)
		w.ended.Add(1)
	case entity.JobRequeued:
		w.queue.Add(1)
		w.busy.Add(-before())
	case entity.JobResized:
		w.busy.Add(nodes - before())
	}
}

// watch is a live view of all runs of a call.
type watch struct {
	mu   sync.Mutex
	runs []*watched // in the order in which they began
}

// observers returns those of one run as a whole; sites of a grid have none of their own.
func (w *watch) observers(policy, site string) []entity.Observer {
	if site != "" {
		return nil
	}
	run := &watched{policy: policy}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, run)
	return []entity.Observer{run}
}

// lines returns what is to be seen: a line for each run under way, and how far the work is.
func (w *watch) lines(p simulation.Progress, elapsed time.Duration) []string {
	running := p.Running()
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	var ended int64
	for _, r := range w.runs {
		ended += r.ended.Load()
		for _, name := range running {
			if name == r.policy {
				lines = append(lines, r.line())
				break
			}
		}
	}
	last := fmt.Sprintf("%.0f jobs/s", float64(ended)/max(elapsed.Seconds(), 1e-3))
	if done := min(p.Done(), p.Total); p.Total > 0 && done > 0 {
		part := float64(done) / float64(p.Total)
		last += fmt.Sprintf(", %.0f%% done, %v left", 100*part, time.Duration(float64(elapsed)*(1/part-1)).Round(time.Second))
	}
	return append(lines, last)
}

// line returns the line of a run: whole seconds of the clock, the queue, and how busy the machine
// is.
func (w *watched) line() string {
	clock := des.Time(w.clock.Load())
	text := fmt.Sprintf("%-16s clock %v s (%s)  queue %d", w.policy, clock/des.Second*des.Second, days(clock), w.queue.Load())
	if all := w.capacity.Load(); all > 0 {
		text += fmt.Sprintf("  utilization %.1f%%", 100*float64(w.busy.Load())/float64(all))
	}
	return text
}

// days returns a time of the simulation for people.
func days(t des.Time) string {
	s := int64(t / des.Second)
	return fmt.Sprintf("%dd %02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}

// show draws the view on out, which is a terminal, until the function that it returns is called,
// which wipes the view out.
func (w *watch) show(out io.Writer, p simulation.Progress) (stop func()) {
	begun, drawn := time.Now(), 0
	return repeatedly(func() {
		lines := w.lines(p, time.Since(begun))
		fmt.Fprint(out, wipe(drawn)+strings.Join(fit(lines, columns(out)), "\n")+"\n")
		drawn = len(lines)
	}, func() { fmt.Fprint(out, wipe(drawn)) })
}

// wipe returns what moves the cursor up by a number of lines and clears all below (ANSI escapes).
func wipe(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", lines)
}

// fit cuts lines that the terminal would break into two: wipe counts lines.
func fit(lines []string, width int) []string {
	for i, line := range lines {
		if r := []rune(line); len(r) >= width {
			lines[i] = string(r[:width-1])
		}
	}
	return lines
}

// columns returns how wide a terminal is; 80 if it does not tell.
func columns(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 1 {
			return width
		}
	}
	return 80
}
