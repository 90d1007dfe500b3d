package bench_test

// The yardstick: EASY backfilling as one writes it in an afternoon, without a
// kernel, a plan, metrics or files. What the framework adds must not make it
// slower than this.

import (
	"bufio"
	"compress/gzip"
	"container/heap"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// naiveJob is a job of the naive simulator, in whole seconds.
type naiveJob struct {
	id, submit, run, size, estimate int64
	index                           int // in the order of submission
	start                           int64
}

// end is when the scheduler believes that the job will end.
func (j *naiveJob) end() int64 { return j.start + j.estimate }

// naiveRead reads the jobs and the size of the machine from an SWF file packed
// by gzip, with the standard library, line by line.
func naiveRead(path string) (jobs []*naiveJob, procs int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, err
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		line := lines.Text()
		if value, ok := strings.CutPrefix(line, "; MaxProcs:"); ok {
			if procs, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				return nil, 0, err
			}
		}
		if line == "" || line[0] == ';' {
			continue
		}
		fields := strings.Fields(line)
		var n [9]int64
		for i := range n {
			if n[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				return nil, 0, err
			}
		}
		j := &naiveJob{id: n[0], submit: n[1], run: n[3], size: n[7], estimate: n[8], index: len(jobs)}
		if j.size <= 0 {
			j.size = n[4]
		}
		if j.size > 0 && j.run >= 0 && j.estimate > 0 {
			j.run = min(j.run, j.estimate)
			jobs = append(jobs, j)
		}
	}
	return jobs, procs, lines.Err()
}

// naiveEvent is an arrival, or the end of a job.
type naiveEvent struct {
	at      int64
	arrival bool
	job     *naiveJob
}

// naiveEvents is the event queue: at one instant ends before arrivals, and
// arrivals in order.
type naiveEvents []naiveEvent

func (h naiveEvents) Len() int      { return len(h) }
func (h naiveEvents) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h naiveEvents) Less(a, b int) bool {
	switch {
	case h[a].at != h[b].at:
		return h[a].at < h[b].at
	case h[a].arrival != h[b].arrival:
		return h[b].arrival
	}
	return h[a].job.index < h[b].job.index
}
func (h *naiveEvents) Push(x any) { *h = append(*h, x.(naiveEvent)) }
func (h *naiveEvents) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// naive is the state of the simulation: what is to come, what waits in order of
// submission, and what runs in order of the estimated ends.
type naive struct {
	now, free int64
	events    naiveEvents
	queue     []*naiveJob
	running   []*naiveJob
}

// naiveEASY sets the start of every job. All events lie in one heap; or, with
// lean, arrivals are taken from the sorted jobs instead, and only ends lie in
// the heap.
func naiveEASY(jobs []*naiveJob, procs int64, lean bool) {
	s := naive{free: procs}
	if !lean {
		for _, j := range jobs {
			heap.Push(&s.events, naiveEvent{j.submit, true, j})
		}
		jobs = nil
	}
	for len(jobs) > 0 || len(s.events) > 0 {
		s.now = math.MaxInt64
		if len(s.events) > 0 {
			s.now = s.events[0].at
		}
		if len(jobs) > 0 {
			s.now = min(s.now, jobs[0].submit)
		}
		for len(s.events) > 0 && s.events[0].at == s.now {
			if e := heap.Pop(&s.events).(naiveEvent); e.arrival {
				s.queue = append(s.queue, e.job)
			} else {
				s.end(e.job)
			}
		}
		for len(jobs) > 0 && jobs[0].submit == s.now {
			s.queue = append(s.queue, jobs[0])
			jobs = jobs[1:]
		}
		s.schedule()
	}
}

func (s *naive) start(j *naiveJob) {
	j.start = s.now
	s.free -= j.size
	heap.Push(&s.events, naiveEvent{s.now + j.run, false, j})
	s.running = slices.Insert(s.running, s.firstEnding(j.end()), j)
}

func (s *naive) end(j *naiveJob) {
	s.free += j.size
	i := s.firstEnding(j.end())
	for s.running[i] != j {
		i++
	}
	s.running = slices.Delete(s.running, i, i+1)
}

// firstEnding is the place of the first running job that is to end at the
// instant end or later.
func (s *naive) firstEnding(end int64) int {
	i, _ := slices.BinarySearchFunc(s.running, end, func(j *naiveJob, end int64) int { return int(j.end() - end) })
	return i
}

// schedule is one round: heads while they fit, then backfilling beside the
// shadow time of the first that does not.
func (s *naive) schedule() {
	for len(s.queue) > 0 && s.queue[0].size <= s.free {
		s.start(s.queue[0])
		s.queue = s.queue[1:]
	}
	if len(s.queue) == 0 || s.free == 0 {
		return
	}
	head := s.queue[0]
	shadow, extra := int64(0), s.free
	for i, j := range s.running {
		extra += j.size
		shadow = j.end()
		if extra >= head.size && (i+1 == len(s.running) || s.running[i+1].end() > shadow) {
			break
		}
	}
	extra -= head.size
	kept := s.queue[:1]
	for _, j := range s.queue[1:] {
		if j.size <= s.free && (s.now+j.estimate <= shadow || j.size <= extra) {
			if s.now+j.estimate > shadow {
				extra -= j.size
			}
			s.start(j)
			continue
		}
		kept = append(kept, j)
	}
	s.queue = kept
}
