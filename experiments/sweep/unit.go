package sweep

// A unit under way: within its limits, with a log and a folder of its own.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/indir"
)

// underway has the folder and log of a unit under way. It travels in the context that Do gets,
// where Log and Files find it.
type underway struct {
	root *os.Root // the study's folder, or nil
	dir  string   // for its files, in root
	log  tail
}

type underwayKey struct{}

// Log returns where a unit under way says what may help if it fails: the last lines stand in its
// failure. Outside a unit nothing is kept. The context must be the argument of Do.
func Log(ctx context.Context) io.Writer {
	if s, ok := ctx.Value(underwayKey{}).(*underway); ok {
		return &s.log
	}
	return io.Discard
}

// Files returns the folder for the files of the unit under way: made when it is asked for, and
// moved to its place when the unit is done. It is "" where the study has no folder.
func Files(ctx context.Context) (string, error) {
	s, ok := ctx.Value(underwayKey{}).(*underway)
	if !ok || s.root == nil {
		return "", nil
	}
	return filepath.Join(s.root.Name(), s.dir), indir.Explain(s.root, s.dir, s.root.MkdirAll(s.dir, 0o777))
}

// underWay returns where the files of a unit are that a process carries out, below the study's
// folder. The number of the process keeps two that do the same unit apart; temporary matches the
// name.
func underWay(key string, process int) string {
	return fmt.Sprintf("%s/.%s.%d.tmp", runsName, key, process)
}

// grace is the time that a unit has to end after it was told to, before it is left behind.
const grace = time.Second

// carryOut does a unit within the limits of the study, and is what Work.Do and workers call. It
// does not panic, and returns soon after the limit or ctx ends even where do does not.
func carryOut(ctx context.Context, u Unit, do Do, s *Study) Outcome {
	if ctx.Err() != nil {
		return Outcome{}
	}
	// A context that knows the unit's log and folder, and its time limit.
	state := &underway{}
	if s.Dir != "" {
		root, err := os.OpenRoot(s.Dir)
		if err != nil {
			return failed(err)
		}
		defer root.Close()
		state.root, state.dir = root, underWay(u.Key, os.Getpid())
	}
	own := context.WithValue(ctx, underwayKey{}, state)
	if s.Limit.Time > 0 {
		var cancel context.CancelFunc
		own, cancel = context.WithTimeout(own, s.Limit.Time)
		defer cancel()
	}
	began := time.Now()
	// The work, until it ends or is to end; room for one, so that a unit left behind can end.
	ended := make(chan Outcome, 1)
	go func() { ended <- try(own, u, do) }()
	var o Outcome
	select {
	case o = <-ended:
	case <-own.Done():
		select {
		case o = <-ended:
		case <-time.After(grace):
			s.Tell("%v does not end although it was told to: it is left behind", u)
			o = failed(errors.New("it did not end when it was told to, and was left behind"))
		}
	}
	// Why it failed: by itself, or since its time was over.
	if o.Failure != nil {
		if ctx.Err() != nil {
			o = Outcome{} // it was interrupted
		} else {
			if own.Err() != nil && o.Failure.Kind == Failed {
				o.Failure.Kind, o.Failure.Message = Late, fmt.Sprintf("it took longer than %v: %s", s.Limit.Time, o.Failure.Message)
			}
			o.Failure.Log = state.log.last() + o.Failure.Log
		}
	}
	if err := state.settle(runsName+"/"+u.Key, o.Row != nil); err != nil {
		o = failed(err)
	}
	o.Usage = Usage{Time: time.Since(began), Host: hostname()}
	return o
}

// hostname returns the name of this machine, "" where it has none.
var hostname = sync.OnceValue(func() string {
	name, _ := os.Hostname() // it is for people only
	return name
})

// try calls do; a panic is a failure. A do that returns neither row nor error has a row without
// columns.
func try(ctx context.Context, u Unit, do Do) (o Outcome) {
	defer func() {
		if fault := recover(); fault != nil {
			o = Outcome{Failure: &Failure{Kind: Panics, Message: fmt.Sprintf("panic: %v", fault), Log: string(debug.Stack()), Tries: 1}}
		}
	}()
	row, err := do(ctx, u.Case)
	if err != nil {
		return failed(err)
	}
	if row == nil {
		row = Row{}
	}
	return Outcome{Row: row}
}

// failed returns the outcome of a unit with an error: Disk for a disk that is full or read-only, or
// one's share of it (EDQUOT); a panic for one that package des has caught in a process of the
// simulation.
func failed(err error) Outcome {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) {
		return Outcome{Disk: err.Error()}
	}
	var panicked *des.PanicError
	if errors.As(err, &panicked) {
		return Outcome{Failure: &Failure{Kind: Panics, Message: err.Error(), Log: string(panicked.Stack), Tries: 1}}
	}
	return Outcome{Failure: &Failure{Kind: Failed, Message: err.Error(), Tries: 1}}
}

// settle gives the unit's files their place, with their checksums, or removes them where the unit
// is not done. Whatever another try has left at the place is removed first.
func (s *underway) settle(place string, done bool) error {
	if s.root == nil {
		return nil
	}
	if _, err := s.root.Stat(s.dir); err != nil {
		return nil // it left none
	}
	if !done {
		return s.root.RemoveAll(s.dir)
	}
	if err := writeSums(s.root, s.dir); err != nil {
		return errors.Join(err, s.root.RemoveAll(s.dir))
	}
	if err := s.root.RemoveAll(place); err != nil {
		return err
	}
	return s.root.Rename(s.dir, place)
}
