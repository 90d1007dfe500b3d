package bench_test

// The yardstick: EASY backfilling as one writes it in an afternoon, without a
// kernel, a plan, metrics or files. What the framework adds must not make it
// slower than this.

import (
	"bufio"
	"compress/gzip"
	"container/heap"
	"os"
	"slices"
	"strconv"
	"strings"
)

// naiveJob is a job of the naive simulator, in whole seconds.
type naiveJob struct {
	id, submit, run, size, estimate int64
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
		j := &naiveJob{id: n[0], submit: n[1], run: n[3], size: n[7], estimate: n[8]}
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

// naiveEnds is a heap of running jobs by their real ends.
type naiveEnds []*naiveJob

func (h naiveEnds) Len() int           { return len(h) }
func (h naiveEnds) Less(a, b int) bool { return h[a].start+h[a].run < h[b].start+h[b].run }
func (h naiveEnds) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *naiveEnds) Push(x any)        { *h = append(*h, x.(*naiveJob)) }
func (h *naiveEnds) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	*h = (*h)[:last]
	return j
}

// naive is the state of the simulation: what waits in order of submission,
// what runs in order of the estimated ends, and the real ends to come.
type naive struct {
	now, free int64
	queue     []*naiveJob
	running   []*naiveJob
	ends      naiveEnds
}

// naiveEASY sets the start of every job.
func naiveEASY(jobs []*naiveJob, procs int64) {
	s := naive{free: procs}
	for len(jobs) > 0 || len(s.ends) > 0 {
		s.now = 1 << 62
		if len(s.ends) > 0 {
			s.now = s.ends[0].start + s.ends[0].run
		}
		if len(jobs) > 0 {
			s.now = min(s.now, jobs[0].submit)
		}
		for len(s.ends) > 0 && s.ends[0].start+s.ends[0].run == s.now {
			j := heap.Pop(&s.ends).(*naiveJob)
			s.free += j.size
			i, _ := slices.BinarySearchFunc(s.running, j.end(), func(r *naiveJob, end int64) int { return int(r.end() - end) })
			for s.running[i] != j {
				i++
			}
			s.running = slices.Delete(s.running, i, i+1)
		}
		for len(jobs) > 0 && jobs[0].submit == s.now {
			s.queue = append(s.queue, jobs[0])
			jobs = jobs[1:]
		}
		s.schedule()
	}
}

func (s *naive) startJob(j *naiveJob) {
	j.start = s.now
	s.free -= j.size
	heap.Push(&s.ends, j)
	i, _ := slices.BinarySearchFunc(s.running, j.end(), func(r *naiveJob, end int64) int { return int(r.end() - end) })
	s.running = slices.Insert(s.running, i, j)
}

// schedule is one round: heads while they fit, then backfilling beside the
// shadow time of the first that does not.
func (s *naive) schedule() {
	for len(s.queue) > 0 && s.queue[0].size <= s.free {
		s.startJob(s.queue[0])
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
			s.startJob(j)
			continue
		}
		kept = append(kept, j)
	}
	s.queue = kept
}
