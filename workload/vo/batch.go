// META's batches.

package vo

import (
	"cmp"
	"errors"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Batch generates the jobs of one cycle, in order of priority, IDs from 1, all
// submitted at 0.
type Batch struct {
	// Jobs is the number of jobs; 0 means 20.
	Jobs int `yaml:"jobs"`
	// Nodes is the range of n, whole numbers; the zero value means [2, 5].
	Nodes Range `yaml:"nodes"`
	// Volume is the range of V, the length of a task at performance 1 in time
	// units; the zero value means [100, 500].
	Volume Range `yaml:"volume"`
	// MinPerf is P, the least performance; 0 means 1.
	MinPerf float64 `yaml:"min_performance"`
	// Wealth is the range of x in the budget n V x of a job; the zero value means
	// [1.0, 1.6]. On nodes priced with another factor Q than 1 it is to be
	// scaled by that.
	Wealth Range `yaml:"wealth"`
	// Poorest gives the poorest users the 60% discount of META's text: x down to
	// 0.4 of the least.
	Poorest bool `yaml:"poorest"`
	// Real is the range of what part of its estimate a job really takes, META's
	// coefficient; the zero value means [1, 1]. META's table 3 has [0.2, 1].
	Real Range `yaml:"real"`
}

// discount is the factor by which the least x of Wealth is multiplied for the poorest users.
const discount = 0.4

// WithDefaults is b with everything filled in that is 0 and whose default is another.
func (b Batch) WithDefaults() Batch {
	b.Jobs, b.MinPerf = cmp.Or(b.Jobs, 20), cmp.Or(b.MinPerf, 1)
	b.Nodes, b.Volume, b.Wealth, b.Real = b.nodes(), b.volume(), b.Wealth.or(Range{1.0, 1.6}), b.real()
	return b
}

// The ranges in force: META's in place of zero values.

func (b Batch) nodes() Range  { return b.Nodes.or(Range{2, 5}) }
func (b Batch) volume() Range { return b.Volume.or(Range{100, 500}) }
func (b Batch) real() Range   { return b.Real.or(Range{1, 1}) }

func (b Batch) wealth() Range {
	w := b.Wealth.or(Range{1.0, 1.6})
	if b.Poorest {
		w.Min *= discount
	}
	return w
}

// Check reports settings that make no sense, or nil.
func (b Batch) Check() error {
	if b.Jobs < 0 {
		return errors.New("batch: the number of jobs must not be negative")
	}
	if !(b.MinPerf >= 0) {
		return errors.New("batch: the least performance must be a number of 0 or more (0 = 1)")
	}
	if b.real().Max > 1 {
		return errors.New("batch: a job cannot really take more than its estimate")
	}
	return errors.Join(
		b.nodes().check("batch: nodes", 1),
		b.volume().check("batch: volume", 0),
		b.wealth().check("batch: wealth", 0),
		b.real().check("batch: real part of the estimate", 0),
	)
}

// Generate draws the batch of one replication.
func (b Batch) Generate(seed, replication uint64) ([]*entity.Job, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	sizes := des.NewStream(seed, replication, "vo.nodes")
	volumes := des.NewStream(seed, replication, "vo.volume")
	budgets := des.NewStream(seed, replication, "vo.budget")
	reals := des.NewStream(seed, replication, "vo.real")

	jobs := make([]*entity.Job, cmp.Or(b.Jobs, 20))
	for i := range jobs {
		n := b.nodes().whole(sizes)
		length := des.Seconds(b.volume().real(volumes))
		jobs[i] = &entity.Job{
			ID: int64(i + 1), User: -1, Group: -1, Queue: -1,
			Runtime: des.Time(float64(length) * b.real().real(reals)),
			Request: entity.Request{
				Nodes: n, Length: length, MinPerf: cmp.Or(b.MinPerf, 1),
				Budget: float64(n) * length.Seconds() * b.wealth().real(budgets),
			},
		}
	}
	return jobs, nil
}

// Batches are the jobs of many cycles: a Batch at the beginning of each, drawn
// anew.
type Batches struct {
	Batch `yaml:",inline"`
	// Cycles is the number of cycles, and Cycle the length of each.
	Cycles int      `yaml:"cycles"`
	Cycle  des.Time `yaml:"-"`
	// Users is the number of users: jobs belong to user 0, 1 and so on in turn. 0 means 1.
	Users int `yaml:"users"`
	// Criteria are the criteria that users may have: one is drawn for each job. Without any, the
	// policy chooses.
	Criteria []entity.Criterion `yaml:"-"`
}

// Generate yields the jobs in order of submission, with IDs from 1. An error ends
// them.
func (b Batches) Generate(seed uint64) iter.Seq2[*entity.Job, error] {
	return func(yield func(*entity.Job, error) bool) {
		n := 0
		for c := range b.Cycles {
			jobs, err := b.Batch.Generate(seed, uint64(c))
			if err != nil {
				yield(nil, err)
				return
			}
			wishes := des.NewStream(seed, uint64(c), "vo.criterion")
			for _, j := range jobs {
				j.Submit = des.Time(c) * b.Cycle
				j.User = int32(n % max(b.Users, 1))
				if len(b.Criteria) > 0 {
					j.Request.Criterion = b.Criteria[wishes.IntN(len(b.Criteria))]
				}
				n++
				j.ID = int64(n)
				if !yield(j, nil) {
					return
				}
			}
		}
	}
}
