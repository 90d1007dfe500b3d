package flow

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/gridslot/gridslot/entity"
)

// Links say which jobs of a workload other jobs wait for, and how far behind stand the jobs
// that wait. They are found by reading the workload once, ahead of the simulation, and serve
// any number of simulations side by side.
type Links struct {
	// Feedback is as in Survey.
	Feedback bool

	awaited []link // by job
}

// link is a job that others wait for.
type link struct {
	job  int64
	last int // position in the workload of the last one that waits for it
}

// Survey reads a workload once and finds its links. A job that waits for a job which is not
// there is an error, and so are jobs that wait for each other.
//
// With feedback the jobs come from a log whose fields 17 and 18 hold. A job that waits then
// comes by the ends of the other jobs alone, whatever its own Submit, and a job that waits
// for a job which is not there waits for nothing.
func Survey(jobs iter.Seq[*entity.Job], feedback bool) (*Links, error) {
	var s survey
	for j := range jobs {
		for _, d := range j.After {
			s.waits = append(s.waits, wait{by: len(s.ids), on: d.Job})
		}
		s.ids = append(s.ids, j.ID)
	}
	l := &Links{Feedback: feedback}
	if len(s.waits) == 0 {
		return l, nil
	}
	s.sort()
	forward := false
	for _, w := range s.waits {
		at, there := s.position(w.on)
		if there {
			l.awaited = append(l.awaited, link{w.on, w.by})
			forward = forward || at >= w.by
		} else if !feedback {
			return nil, fmt.Errorf("job %d is to run after job %d, and there is no job %d", s.ids[w.by], w.on, w.on)
		}
	}
	if forward {
		if err := s.cycle(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.awaited, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(b.last, a.last))
	})
	l.awaited = slices.Clip(slices.CompactFunc(l.awaited, func(a, b link) bool { return a.job == b.job }))
	return l, nil
}

// Any reports whether any job waits for another.
func (l *Links) Any() bool { return len(l.awaited) > 0 }

// last returns the position of the last job that waits for this one, or false where
// none does.
func (l *Links) last(job int64) (int, bool) {
	i, found := slices.BinarySearchFunc(l.awaited, job, func(k link, job int64) int { return cmp.Compare(k.job, job) })
	if !found {
		return 0, false
	}
	return l.awaited[i].last, true
}

// survey holds the jobs that have been read, by their position in the workload.
type survey struct {
	ids   []int64
	byID  []int  // positions by ID; of jobs with one ID the first comes first
	waits []wait // in order of by
}

// wait is a job that waits for another.
type wait struct {
	by int   // its position
	on int64 // the ID of the other
}

func (s *survey) sort() {
	s.byID = make([]int, len(s.ids))
	for i := range s.byID {
		s.byID[i] = i
	}
	slices.SortFunc(s.byID, func(a, b int) int { return cmp.Or(cmp.Compare(s.ids[a], s.ids[b]), cmp.Compare(a, b)) })
}

// position returns the position of the first job with the ID.
func (s *survey) position(id int64) (int, bool) {
	i, found := slices.BinarySearchFunc(s.byID, id, func(at int, id int64) int { return cmp.Compare(s.ids[at], id) })
	if !found {
		return 0, false
	}
	return s.byID[i], true
}

// of returns the waits of the job at a position.
func (s *survey) of(at int) []wait {
	from := sort.Search(len(s.waits), func(i int) bool { return s.waits[i].by >= at })
	to := from
	for to < len(s.waits) && s.waits[to].by == at {
		to++
	}
	return s.waits[from:to]
}

// cycle returns an error that names jobs which wait for each other, or nil. It goes from
// each job to the jobs that it waits for; if it meets a job that is under way, there is a
// cycle.
func (s *survey) cycle() error {
	const (
		underWay = iota + 1
		done
	)
	type step struct {
		at   int
		left []wait
	}
	marks := map[int]uint8{}
	for _, first := range s.waits {
		if marks[first.by] != 0 {
			continue
		}
		marks[first.by] = underWay
		path := []step{{first.by, s.of(first.by)}}
		for len(path) > 0 {
			top := &path[len(path)-1]
			if len(top.left) == 0 {
				marks[top.at] = done
				path = path[:len(path)-1]
				continue
			}
			next, there := s.position(top.left[0].on)
			top.left = top.left[1:]
			switch {
			case !there || marks[next] == done:
			case marks[next] == underWay:
				from := slices.IndexFunc(path, func(p step) bool { return p.at == next })
				var names []string
				for _, p := range path[from:] {
					names = append(names, fmt.Sprint(s.ids[p.at]))
				}
				names = append(names, fmt.Sprint(s.ids[next]))
				return fmt.Errorf("jobs wait for each other, and none of them could ever come: %s", strings.Join(names, " after "))
			default:
				marks[next] = underWay
				path = append(path, step{next, s.of(next)})
			}
		}
	}
	return nil
}
