package predict

import (
	"cmp"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// recall keeps values by keys, for the limit keys asked for latest and for up to as many older
// ones. A key that is asked for becomes young. When limit keys are young, they become the old ones,
// and the values of the keys that were old until then are forgotten.
type recall[K comparable, V any] struct {
	limit      int      // the number of young keys; 0 means mostUsers
	young, old map[K]*V // no key is in both
}

// mostUsers is the number of young keys that are remembered by default.
const mostUsers = 20_000

// get returns the value that is kept by a key, or nil, and makes the key young.
func (r *recall[K, V]) get(k K) *V {
	v, ok := r.young[k]
	if ok {
		return v
	}
	if v, ok = r.old[k]; ok {
		delete(r.old, k)
		r.put(k, v)
	}
	return v
}

// at returns the value that is kept by a key; without one it keeps a new zero value.
func (r *recall[K, V]) at(k K) *V {
	v := r.get(k)
	if v == nil {
		v = new(V)
		r.put(k, v)
	}
	return v
}

// put keeps v by k among the young. If these are too many, they become the old ones.
func (r *recall[K, V]) put(k K, v *V) {
	if len(r.young) >= cmp.Or(r.limit, mostUsers) {
		r.young, r.old = nil, r.young
	}
	if r.young == nil {
		r.young = map[K]*V{}
	}
	r.young[k] = v
}

// lasted returns the runtime of a job that has ended, and whether it tells how long such jobs run.
// It does for a job that ran to its own end or to its request. A job that was killed before, by an
// outage or by somebody, might have run for any time; a job that was cancelled while it waited has
// not run.
func lasted(j entity.Known) (ran des.Time, ok bool) {
	ran, ok = j.Ran()
	return ran, ok && (j.State() == entity.Finished || ran >= j.Request())
}

// within returns a prediction of t in whole time units, one at least, and at most what j's
// user asks for.
func within(j entity.Known, t des.Time) des.Time {
	return min(max(t-t%des.Second, des.Second), j.Request())
}

// coarse returns x rounded to 2^-20, some six decimals, so that it is the same on all architectures,
// whose logarithms and sines differ in the last digits.
func coarse(x float64) float64 { return math.Round(x*(1<<20)) / (1 << 20) }
