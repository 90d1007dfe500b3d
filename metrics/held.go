package metrics

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// leaving tells how many processors or nodes a job gives back when its attempt ends:
// on named nodes those of the tasks that have not been told of as ended. Of tasks
// that end at the instant of the attempt some have been, and some have not: a job is
// killed between two of them.
type leaving struct {
	now  des.Time
	told []toldTasks // at the present instant, on named nodes
}

type toldTasks struct {
	run   *entity.Run
	tasks int
}

// taskEnded takes in what entity.TaskObserver is told. It reports whether a node is
// given back: an observer that was told before may have stopped the job, whose
// tasks have all been given back then.
func (l *leaving) taskEnded(r *entity.Run, i int) bool {
	if r.State != entity.Running {
		return false
	}
	if at := r.Ends()[i]; at != l.now {
		l.now, l.told = at, l.told[:0]
	}
	if n := len(l.told); n == 0 || l.told[n-1].run != r {
		l.told = append(l.told, toldTasks{run: r})
	}
	l.told[len(l.told)-1].tasks++
	return true
}

// left is how many processors or nodes an attempt of r on so many, which ends now,
// still has; ends are those of its tasks, if they have any.
func (l *leaving) left(r *entity.Run, nodes int, ends []des.Time, now des.Time) int64 {
	if ends == nil {
		return int64(nodes)
	}
	var n int64
	for _, end := range ends {
		if end >= now {
			n++
		}
	}
	if l.now == now {
		for i := range l.told {
			if t := &l.told[i]; t.run == r {
				n -= int64(t.tasks)
				t.tasks = 0 // it may begin again, and end, at this instant
			}
		}
	}
	return n
}
