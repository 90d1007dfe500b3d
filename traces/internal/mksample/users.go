package main

import (
	"math/rand/v2"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

const (
	users  = 40
	groups = 6
	// A session goes on where somebody submits a job at most pause after the end of
	// their last one: the traditional limit, by Zakay and Feitelson, "On identifying
	// user session boundaries in parallel workload logs", JSSPP 2012.
	pause = 20 * des.Minute
	stays = 0.8 // the chance that the next job comes from somebody in a session

	shortQueue, longQueue = 0, 1 // by the estimate
	shortest              = des.Hour
)

// people submit the jobs. last is by user, from 1.
type people struct {
	random *rand.Rand
	last   [users + 1]last
}

// last is the job before of a user. It ends where it would end without a wait. job is 0 if there
// is none yet.
type last struct {
	job int64
	end des.Time
}

// sign says whose job rec is, and which job of theirs it follows.
func (p *people) sign(rec *workload.Record) {
	user := p.next(rec.Submit)
	rec.User, rec.Group = int64(user), int64(1+user%groups)
	rec.Queue = longQueue
	if rec.Estimate <= shortest {
		rec.Queue = shortQueue
	}
	if before := p.last[user]; p.inSession(user, rec.Submit) {
		rec.Preceding, rec.ThinkTime = before.job, rec.Submit-before.end
	}
	p.last[user] = last{rec.Job, rec.Submit + rec.Runtime}
}

// next returns the user who submits a job now: most often a user whose session goes on, and
// otherwise user u with a chance proportional to 1/u.
func (p *people) next(now des.Time) int {
	var present []int
	for u := 1; u <= users; u++ {
		if p.inSession(u, now) {
			present = append(present, u)
		}
	}
	if len(present) > 0 && p.random.Float64() < stays {
		return present[p.random.IntN(len(present))]
	}
	// Zipf's law: the chance of user u is (1/u) / (1 + 1/2 + ... + 1/users).
	sum := 0.0
	for u := 1; u <= users; u++ {
		sum += 1 / float64(u)
	}
	left := float64(p.random.Float64() * sum)
	for u := 1; u < users; u++ {
		if left -= 1 / float64(u); left < 0 {
			return u
		}
	}
	return users
}

// inSession reports whether a user's last job has ended, and not long ago.
func (p *people) inSession(user int, now des.Time) bool {
	before := p.last[user]
	return before.job > 0 && before.end <= now && now-before.end <= pause
}
