package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
)

// Do carries out a unit of work. It must be a pure function of the case, since its result is stored
// under the key of the case and never computed a second time. If ctx ends, it returns with any
// error.
type Do func(ctx context.Context, c Case) (Row, error)

// Run carries out the missing units of a study and returns all results, failed units included. The
// error is about the study, its folder, its engine or ctx; results that are done by then are kept.
func Run(ctx context.Context, s Study, do Do) (*Results, error) {
	p, err := s.Plan()
	if err != nil {
		return nil, err
	}
	if s.Tell == nil {
		s.Tell = func(string, ...any) {}
	}
	if s.Engine == nil {
		s.Engine = InProcess{}
	}
	c := &call{study: &s, results: newResults(p)}
	m := s.manifest(p)
	if s.Dir != "" {
		leave, err := c.enter(ctx, p)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	// What is missing, of this shard; the units of others count as done in what Progress is told.
	c.results.columns = s.Columns
	missing := slices.DeleteFunc(c.results.Missing(), func(u Unit) bool { return !s.Shard.Has(u) })
	c.done = len(p.Units) - len(missing)
	c.progress()
	if len(missing) > 0 {
		err = s.Engine.Run(ctx, &Work{
			Study: &s, Units: missing, Store: c.store,
			Do: func(ctx context.Context, u Unit) Outcome { return carryOut(ctx, u, do, &s) },
		})
	}
	// An engine may return nil when ctx ends, and ctx may end after the last unit: the error is
	// there where something is missing, and only then.
	if ctx.Err() != nil {
		if c.results.Status().Missing == 0 {
			err = nil
		} else if err == nil {
			err = context.Cause(ctx)
		}
	}
	// A shard writes no table: whoever puts all parts together does.
	if c.folder == nil || s.Shard.IsPart() {
		return c.results, err
	}
	stopped := ""
	if err != nil {
		stopped = err.Error()
	}
	return c.results, errors.Join(err, c.folder.conclude(c.results, m, stopped))
}

// call is one call of Run: its method store may be called from several goroutines.
type call struct {
	study *Study
	// Nil where results are kept in memory only.
	folder *Folder

	mu      sync.Mutex // of what follows
	results *Results
	// How many units of the plan are not to be done by this call, or no more.
	done int
}

// enter takes the folder of the study, writes into it what is asked for, and reads the results that
// it has already. leave lets go of the folder, and of the lock of the shard.
func (c *call) enter(ctx context.Context, p *Plan) (leave func(), err error) {
	s := c.study
	if c.folder, err = openFor(s.Dir, s.Shard.IsPart()); err != nil {
		return nil, err
	}
	var lock *outdir.Dir // of the shard; nil, which Close lets be, of a whole study
	letGo := func() {
		lock.Close()
		c.folder.Close()
	}
	err = c.folder.begin(s, p)
	if err == nil && s.Shard.IsPart() {
		lock, err = s.Shard.lock(ctx, s.Dir, s.Tell)
	}
	if err == nil {
		c.results, err = c.found(p)
	}
	if err != nil {
		letGo()
		return nil, err
	}
	return letGo, nil
}

// found returns what the folder has, without failures that are to be tried again (Study.Retry), and
// without rows of units whose files are not as they left them (Study.Keeps). Each shard reads the
// files of its own units only.
func (c *call) found(p *Plan) (*Results, error) {
	r, err := c.folder.resultsOf(p)
	if err != nil {
		return nil, err
	}
	for i, u := range p.Units {
		switch {
		case r.Failures[i] != nil && c.study.Retry:
			// Also the row that a Damaged unit may have kept, or the next row would be compared
			// with it.
			if err := c.folder.removeAll(failure(u.Key), unit(u.Key)); err != nil {
				return nil, err
			}
			delete(r.Failures, i)
		case r.Rows[i] != nil && c.study.Keeps && c.study.Shard.Has(u) && !c.folder.hasKept(u.Key):
			r.Rows[i] = nil
		}
	}
	return r, nil
}

// store takes an outcome down, in the folder first, so that what Progress counts is on disk. It is
// Work.Store: its error ends the study.
func (c *call) store(u Unit, o Outcome) error {
	if o.Disk != "" {
		return errors.New(o.Disk)
	}
	// An interrupted unit stays missing.
	if o.Row == nil && o.Failure == nil {
		return nil
	}
	if o.Row != nil {
		if err := checkRow(u, o.Row, c.study.Check); err != nil {
			o.Row, o.Failure = nil, &Failure{Kind: Failed, Message: err.Error(), Tries: 1}
		}
	}
	if c.folder != nil {
		var err error
		if o, err = c.folder.store(u, o); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results.take(u, o)
	c.done++
	c.progress()
	return nil
}

// progress tells the caller; mu is held, or nothing is under way yet.
func (c *call) progress() {
	if c.study.Progress != nil {
		c.study.Progress(c.done, len(c.results.Plan.Units))
	}
}

// checkRow refuses rows that have no place in the table: a column without a name, of the name of a
// parameter or of seed, or twice; and those that check, which may be nil, refuses.
func checkRow(u Unit, row Row, check func(Row) error) error {
	for i, cell := range row {
		switch {
		case cell.Name == "" || !utf8.ValidString(cell.Name) || !utf8.ValidString(cell.Value):
			return fmt.Errorf("the column %q with %q in the row of %v is no text in UTF-8 with a name", cell.Name, cell.Value, u)
		case cell.Name == "seed" || slices.ContainsFunc(u.Params, func(p Param) bool { return p.Name == cell.Name }):
			return fmt.Errorf("the row has a column %q, and a parameter is called that", cell.Name)
		case slices.ContainsFunc(row[:i], func(c Cell) bool { return c.Name == cell.Name }):
			return fmt.Errorf("the row has two columns %q", cell.Name)
		}
	}
	if check != nil {
		return check(row)
	}
	return nil
}
