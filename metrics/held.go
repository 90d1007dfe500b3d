package metrics

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// leaving tells how many processors or nodes a job gives back when its attempt ends. On named
// nodes these are the nodes of the tasks that have not been told of as ended. Of the tasks that
// end at the very instant of the attempt, some have been told of and some have not: a job may be
// killed between two of them.
type leaving struct {
	now des.Time
	// told counts the tasks that were told of at the instant now, on named nodes.
	told []toldTasks
}

// toldTasks is a run and how many of its tasks were told of.
type toldTasks struct {
	run   *entity.Run
	tasks int
}

// taskEnded takes in what entity.TaskObserver is told. It reports whether a node is given back: if
// an observer that was told before has stopped the job, all its nodes have been given back.
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

// left returns how many processors or nodes an attempt of r, which began with the given number and
// ends now, still has; ends are the ends of its tasks, nil on counted processors.
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
