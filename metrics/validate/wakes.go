package validate

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// decided returns the latest instant by which a policy that sleeps in between has decided on what
// was possible at the instant t: the first one from t on at which it is awake, if its round before
// that was at t or earlier. Promises bind by that instant:
//
//   - the head of the queue starts when the policy is awake, and so by decided(shadow time);
//   - a job is promised a start, or started, by decided(its submission).
//
// A start that is reserved ahead needs no round: it binds as it is. Without wakes decided returns
// t.
func decided(w entity.Wakes, t des.Time) des.Time {
	// No multiples: a round at t itself sets the next one off by Apart.
	switch {
	case w.Every <= 0:
		return t.Add(w.Apart)
	case t < w.Offset:
		return w.Offset
	}
	// A round at the last multiple up to t may have just missed it. The next round is Apart later,
	// at a multiple.
	before := t - (t-w.Offset)%w.Every // the last time to be awake up to t
	at := max(t, before.Add(w.Apart))
	if late := (at - w.Offset) % w.Every; late > 0 {
		return at.Add(w.Every - late)
	}
	return at
}
