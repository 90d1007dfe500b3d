package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
)

// Shard is a part of a study for one of several machines that share its folder and
// know nothing of each other, such as the tasks of a batch system. It stores the
// results of its units; who runs the study or merges it when all have ended has
// nothing left to do but to put them together.
type Shard struct {
	Index, Of int    // of every Of units in the order of the plan the Index-th, from 1
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
func (s Shard) Has(u Unit) bool { return u.Index%s.Of == s.Index-1 }

// SharesFolder implements Sharer.
func (s Shard) SharesFolder() bool { return true }

// Run implements Engine.
func (s Shard) Run(ctx context.Context, w *Work) error {
	if w.Dir != "" {
		lock, err := outdir.Open(filepath.Join(w.Dir, fmt.Sprintf(".shard-%d-of-%d", s.Index, s.Of)))
		if busy := (*outdir.BusyError)(nil); errors.As(err, &busy) {
			return fmt.Errorf("the shard %d/%d is under way already: %w", s.Index, s.Of, err)
		} else if err != nil {
			return err
		}
		defer lock.Close()
	}
	part := *w
	part.Units = slices.DeleteFunc(slices.Clone(w.Units), func(u Unit) bool { return !s.Has(u) })
	if len(part.Units) == 0 {
		return nil
	}
	return s.Engine.Run(ctx, &part)
}
