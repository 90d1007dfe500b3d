// Speed-ups, and rigid jobs made moldable by them.

package model

import (
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// SpeedUp is the ratio of a job's runtime on one processor to its runtime on n. It does not fall
// with n.
type SpeedUp interface {
	// SpeedUp is the speed-up on n processors of a job that was made for the number made; both are 1
	// or more, and so is the speed-up.
	SpeedUp(made, n int) float64
	// Check says what is wrong with the parameters, or nil.
	Check() error
}

// Linear is the speed-up of work that can be divided at will: n.
type Linear struct{}

// SpeedUp is n.
func (Linear) SpeedUp(_, n int) float64 { return float64(n) }

// Check finds nothing wrong.
func (Linear) Check() error { return nil }

// Amdahl is the speed-up of a job of which a part, of the time that it takes on one
// processor, is serial (Amdahl 1967): 1 / (s + (1-s)/n).
type Amdahl struct {
	Serial float64 // s, from 0 (as Linear) to 1 (no faster on any number)
}

// SpeedUp is Amdahl's law.
func (a Amdahl) SpeedUp(_, n int) float64 {
	return 1 / (a.Serial + (1-a.Serial)/float64(n))
}

// Check refuses a part that is none.
func (a Amdahl) Check() error {
	if !(a.Serial >= 0 && a.Serial <= 1) {
		return fmt.Errorf("the serial part must be from 0 to 1, not %v", a.Serial)
	}
	return nil
}

// DowneySpeedUp is the speed-up of "A model for speedup of parallel programs" (Downey,
// UCB/CSD-97-933, 1997), by the average parallelism A and the variance of
// parallelism sigma:
//
//	sigma <= 1      A n / (A + sigma (n-1)/2)                1 <= n <= A
//	                A n / (sigma (A-1/2) + n (1-sigma/2))    A <= n <= 2A-1
//	                A                                        2A-1 <= n
//	sigma >= 1      n A (sigma+1) / (sigma (n+A-1) + A)      1 <= n <= A + A sigma - sigma
//	                A                                        from there on
//
// Sigma 0 is a job of constant parallelism: linear up to A, and flat from there.
type DowneySpeedUp struct {
	A     float64 // 1 or more; 0 means as many processors as the job was made for
	Sigma float64 // 0 or more
}

// SpeedUp is Downey's formula.
func (d DowneySpeedUp) SpeedUp(made, n int) float64 {
	a, s, p := d.A, d.Sigma, float64(n)
	if a == 0 {
		a = float64(made)
	}
	switch {
	case s <= 1 && p <= a:
		return a * p / (a + float64(s*(p-1))/2)
	case s <= 1 && p <= 2*a-1:
		return a * p / (float64(s*(a-0.5)) + float64(p*(1-s/2)))
	case s > 1 && p <= a+float64(a*s)-s:
		return p * a * (s + 1) / (float64(s*(p+a-1)) + a)
	}
	return a
}

// Check refuses parameters outside the model.
func (d DowneySpeedUp) Check() error {
	if !(d.A == 0 || d.A >= 1) || math.IsInf(d.A, 0) {
		return fmt.Errorf("the average parallelism must be 1 or more, not %v", d.A)
	}
	if !(d.Sigma >= 0) || math.IsInf(d.Sigma, 0) {
		return fmt.Errorf("the variance of parallelism must be 0 or more, not %v", d.Sigma)
	}
	return nil
}

// Moldable gives rigid jobs shapes. A job that asks for n processors gets shapes of
// From*n to To*n, both rounded down, of at least 1: all of them, or Most of them,
// evenly spaced, and n itself. Estimate and runtime go with the speed-up alike,
// rounded to a tick; a shape that is no faster than a smaller one is left out.
type Moldable struct {
	Model SpeedUp
	// From and To are the smallest and the largest shape in parts of the processors that a job asks
	// for: 0 < From <= 1 <= To <= 1e6.
	From, To float64
	// Most is the largest number of shapes of a job, 2 or more; 0 means all.
	Most int
}

// Check reports what makes m meaningless, or nil.
func (m Moldable) Check() error {
	switch {
	case !(m.From > 0 && m.From <= 1):
		return fmt.Errorf("from must be above 0 and at most 1, not %v", m.From)
	case !(m.To >= 1 && m.To <= maxFactor):
		return fmt.Errorf("to must be 1 to %v, not %v", float64(maxFactor), m.To)
	case m.Most < 0 || m.Most == 1:
		return fmt.Errorf("the number of shapes must be 2 or more, not %d", m.Most)
	}
	return m.Model.Check()
}

// maxFactor bounds Moldable.To.
const maxFactor = 1e6

// Shapes are the shapes of j, its own among them, from the smallest up; each is faster than those
// before it. They are nil if From and To leave no other size. The runtime on n processors is the
// runtime on its own number times SpeedUp(own) / SpeedUp(n).
func (m Moldable) Shapes(j *entity.Job) []entity.Shape {
	made := j.Request.Nodes
	least := max(1, int(m.From*float64(made)))
	most := min(int(m.To*float64(made)), math.MaxInt32)
	own := entity.Shape{Nodes: made, Length: j.Request.Length, Runtime: j.Runtime}
	count := most - least + 1
	if m.Most > 0 {
		count = min(count, m.Most)
	}
	if count < 2 {
		return nil
	}
	as := m.Model.SpeedUp(made, made) // of the job as it is
	var shapes []entity.Shape
	fastest := 0.0
	add := func(s entity.Shape, speedup float64) {
		if speedup > fastest {
			shapes, fastest = append(shapes, s), speedup
		}
	}
	// count sizes evenly from least to most. The job's own shape is put in where it belongs, whether
	// or not it is one of these.
	listed := false
	for k := range count {
		n := least + (most-least)*k/(count-1)
		if !listed && n >= made {
			listed = true
			add(own, as)
		}
		if n != made {
			speedup := m.Model.SpeedUp(made, n)
			add(entity.Shape{Nodes: n, Length: max(des.Tick, scaled(own.Length, as/speedup)), Runtime: scaled(own.Runtime, as/speedup)}, speedup)
		}
	}
	return shapes
}

// scaled is t times a factor, to the nearest tick, and a finite time.
func scaled(t des.Time, by float64) des.Time {
	return des.Time(min(math.Round(float64(t)*by), float64(des.Forever/2)))
}
