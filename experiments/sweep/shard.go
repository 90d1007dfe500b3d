package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
)

// Shard is a part of a study for one of several machines that share its folder and
// know nothing of each other, such as the tasks of a batch system. It stores the
// results of its units; who runs the study or merges it when all have ended has
// nothing left to do but to put them together.
type Shard struct {
	Index, Of int    // the Index-th of Of parts, from 1; see ShardOf
	Engine    Engine // carries them out
}

// ParseShard reads I/N.
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

// Has reports whether a unit is of this part.
func (s Shard) Has(u Unit) bool { return ShardOf(u, s.Of) == s.Index }

// ShardOf is which of n parts of a plan a unit is in, from 1 on. Of n units that
// follow each other each is in another part; from one n to the next they are dealt
// out anew, or else one part would have all units of the slowest policy where n fits
// the axes.
func ShardOf(u Unit, n int) int {
	round := uint64(u.Index / n)
	// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
	round = (round ^ round>>30) * 0xbf58476d1ce4e5b9
	round = (round ^ round>>27) * 0x94d049bb133111eb
	round ^= round >> 31
	return 1 + int((uint64(u.Index%n)+round%uint64(n))%uint64(n))
}

// SharesFolder implements Sharer.
func (s Shard) SharesFolder() bool { return true }

// Run implements Engine. Where the same part is under way elsewhere, such as on a
// node that the batch system has lost sight of and queued the task again, it waits
// and does what is left then.
func (s Shard) Run(ctx context.Context, w *Work) error {
	part := *w
	if w.Dir != "" {
		lock, err := s.lock(ctx, w)
		if err != nil {
			return err
		}
		defer lock.Close()
		if part.Units, err = w.Look(); err != nil {
			return err
		}
	}
	part.Units = slices.DeleteFunc(slices.Clone(part.Units), func(u Unit) bool { return !s.Has(u) })
	if len(part.Units) == 0 {
		return nil
	}
	return s.Engine.Run(ctx, &part)
}

// shardPrefix begins the names of the folders of shards that are under way.
const shardPrefix = ".shard-"

func (s Shard) lock(ctx context.Context, w *Work) (*outdir.Dir, error) {
	for told := false; ; told = true {
		path, err := outdir.Below(w.Dir, fmt.Sprintf("%s%d-of-%d", shardPrefix, s.Index, s.Of))
		if err != nil {
			return nil, err
		}
		lock, err := outdir.Open(path)
		busy := (*outdir.BusyError)(nil)
		if !errors.As(err, &busy) {
			return lock, err
		}
		if !told {
			w.Tell("the shard %d/%d is under way already: waiting for its end", s.Index, s.Of)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, fmt.Errorf("the shard %d/%d is under way already: %w", s.Index, s.Of, ctx.Err())
		}
	}
}
