package sweep

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
)

// Shard is a part of a study for one of several machines that share its folder and
// know nothing of each other, such as the tasks of a batch system. A call of Run with
// a shard stores the results of its units and no more; whoever runs the study, or
// merges it, when all shards have ended puts them together. The zero value is no part
// but the whole study.
type Shard struct{ Index, Of int } // the Index-th of Of parts, from 1

// ParseShard reads I/N, with 1 <= I <= N.
func ParseShard(text string) (s Shard, err error) {
	i, n, found := strings.Cut(text, "/")
	var errI, errN error
	s.Index, errI = strconv.Atoi(i)
	s.Of, errN = strconv.Atoi(n)
	if !found || errI != nil || errN != nil || s.Index < 1 || s.Index > s.Of {
		return s, fmt.Errorf("want I/N, the I-th of N parts, such as 3/8, not %q", text)
	}
	return s, nil
}

// IsPart reports whether the shard is a part of a study, and not the whole.
func (s Shard) IsPart() bool { return s.Of > 0 }

// Has reports whether a unit is of this part. The units are dealt in rounds of Of: in each round
// each part gets one unit, and which part gets the first unit of a round is drawn by a hash of the
// round's number. Were it the same part in each round, and Of a divisor of an axis's length, one
// part would have all units of the slowest policy.
func (s Shard) Has(u Unit) bool {
	if !s.IsPart() {
		return true
	}
	round := uint64(u.Index / s.Of)
	// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): rounds that follow each
	// other get numbers that have nothing in common. All processes compute the same.
	round = (round ^ round>>30) * 0xbf58476d1ce4e5b9
	round = (round ^ round>>27) * 0x94d049bb133111eb
	round ^= round >> 31
	n := uint64(s.Of)
	return uint64(s.Index) == 1+(uint64(u.Index)%n+round%n)%n
}

// shardPrefix begins the names of the folders of shards that are under way.
const shardPrefix = ".shard-"

// lock keeps the same part from being carried out twice at a time, by a folder of its name with a
// lock in it. Where the part is under way elsewhere, such as on a node that the batch system has
// lost sight of before it queued the task again, lock waits for its end.
func (s Shard) lock(ctx context.Context, dir string, tell func(string, ...any)) (*outdir.Dir, error) {
	for told := false; ; told = true {
		path, err := outdir.Below(dir, fmt.Sprintf("%s%d-of-%d", shardPrefix, s.Index, s.Of))
		if err != nil {
			return nil, err
		}
		lock, err := outdir.Open(path)
		if busy := (*outdir.BusyError)(nil); !errors.As(err, &busy) {
			return lock, err
		}
		if !told {
			tell("the shard %d/%d is under way already: waiting for its end", s.Index, s.Of)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, fmt.Errorf("the shard %d/%d is under way already: %w", s.Index, s.Of, ctx.Err())
		}
	}
}
