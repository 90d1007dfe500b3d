package formula

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/expression"
)

// Error is what is wrong with a formula.
type Error struct {
	Formula string
	Column  int // from 1, in characters
	Problem string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the formula %q, column %d: %s", e.Formula, e.Column, e.Problem)
}

var language = expression.Language[*entity.Run]{
	Noun: "formula", Example: "wait > 3600",
	Fields: []expression.Field[*entity.Run]{
		{Name: "submit", Number: func(r *entity.Run, _ des.Time) float64 { return r.Submit.Seconds() }},
		{Name: "wait", Number: func(r *entity.Run, now des.Time) float64 { return (now - r.Submit).Seconds() }},
		{Name: "now", Number: func(_ *entity.Run, now des.Time) float64 { return now.Seconds() }},
		{Name: "estimate", Number: func(r *entity.Run, _ des.Time) float64 { return r.Request.Length.Seconds() }},
		{Name: "request", Number: func(r *entity.Run, _ des.Time) float64 { return r.Submitted().Request.Length.Seconds() }},
		{Name: "procs", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.Request.Nodes) }},
		{Name: "id", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.ID) }},
		{Name: "user", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.User) }, Known: func(r *entity.Run, _ des.Time) bool { return r.User >= 0 }},
		{Name: "group", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.Group) }, Known: func(r *entity.Run, _ des.Time) bool { return r.Group >= 0 }},
		{Name: "queue", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.Queue) }, Known: func(r *entity.Run, _ des.Time) bool { return r.Queue >= 0 }},
		{Name: "budget", Number: func(r *entity.Run, _ des.Time) float64 { return r.Request.BudgetLimit() }, Known: func(r *entity.Run, _ des.Time) bool { return !math.IsInf(r.Request.BudgetLimit(), 1) }},
	},
	Column: column,
}

// column is a value that the workload tells of a job beyond what a job holds. Which there are is
// known only when jobs come, so each name is one.
func column(name string) (expression.Field[*entity.Run], bool) {
	value := func(r *entity.Run) (float64, string) {
		if c, ok := r.Extra.(entity.Columns); ok {
			return c.Column(name)
		}
		return math.NaN(), ""
	}
	return expression.Field[*entity.Run]{
		Name:   "column." + name,
		Number: func(r *entity.Run, _ des.Time) float64 { n, _ := value(r); return n },
		Text:   func(r *entity.Run, _ des.Time) string { _, s := value(r); return s },
		Known:  func(r *entity.Run, _ des.Time) bool { n, s := value(r); return !math.IsNaN(n) || s != "" },
	}, true
}

// moving are the fields that change while a job waits.
var moving = []string{"wait", "now"}

// Order is the order by the formula, which is its name. It is Dynamic where the formula
// speaks of the wait or of the present instant. What is wrong with a formula is an
// *Error.
func Order(text string) (entity.Order, error) {
	key, uses, err := language.Number(text)
	if err != nil {
		var wrong *expression.Error
		if errors.As(err, &wrong) {
			err = &Error{wrong.Text, wrong.Column, wrong.Problem}
		}
		return entity.Order{}, err
	}
	dynamic := slices.ContainsFunc(uses, func(name string) bool { return slices.Contains(moving, name) })
	return entity.Order{Name: text, Key: key, Dynamic: dynamic}, nil
}
