package policy

// Orders of a queue by arithmetic over what is known of a job:
//
//	-(wait/estimate)^3 * procs             WFP3: what has waited long, is short and wide
//	sqrt(estimate)*procs + 25600*log10(submit)
//	wait > 86400 ? -1e9 : estimate*procs   who has waited for a day goes first
//	column.gpus > 0 ? 0 : submit           a column of the log beyond what a job holds
//
// The language is that of package expression.

import (
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/expression"
)

// formulas is the language of formulas: which fields of a job they may name. Times are in seconds. A field
// without Known is known of every job; a formula of a field that is not known is no number.
var formulas = expression.Language[*entity.Run]{
	Noun: "formula", Example: "wait > 3600",
	Fields: []expression.Field[*entity.Run]{
		{Name: "submit", Number: func(r *entity.Run, _ des.Time) float64 { return r.Submit.Seconds() }},
		{Name: "wait", Number: func(r *entity.Run, now des.Time) float64 { return (now - r.Submit).Seconds() }},
		{Name: "now", Number: func(_ *entity.Run, now des.Time) float64 { return now.Seconds() }},
		{Name: "estimate", Number: func(r *entity.Run, _ des.Time) float64 { return r.Request.Length.Seconds() }},
		{Name: "request", Number: func(r *entity.Run, _ des.Time) float64 { return r.Job.Request.Length.Seconds() }},
		{Name: "procs", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.Request.Nodes) }},
		{Name: "id", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.ID) }},
		{Name: "user", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.User) }, Known: func(r *entity.Run, _ des.Time) bool { return r.User >= 0 }},
		{Name: "group", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.Group) }, Known: func(r *entity.Run, _ des.Time) bool { return r.Group >= 0 }},
		{Name: "queue", Number: func(r *entity.Run, _ des.Time) float64 { return float64(r.Queue) }, Known: func(r *entity.Run, _ des.Time) bool { return r.Queue >= 0 }},
		{Name: "budget", Number: func(r *entity.Run, _ des.Time) float64 { return r.Request.BudgetLimit() }, Known: func(r *entity.Run, _ des.Time) bool { return !math.IsInf(r.Request.BudgetLimit(), 1) }},
	},
	Column: logColumn,
}

// logColumn returns the field column.NAME: a value that the workload tells of a job beyond what a job holds, as a
// number, a text, or neither. Which columns there are is known only when jobs come, so that any name is a
// field.
func logColumn(name string) (expression.Field[*entity.Run], bool) {
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

// movingFields are the fields that change while a job waits: an order by them is sorted anew in each round.
var movingFields = []string{"wait", "now"}

// Formula returns the order of a queue by a formula, which is the order's name. The job of the
// lowest value goes first; ties, as everywhere, in order of submission. Numbers are float64
// and times seconds. A value that is no number, such as 0/0, puts its job last; infinities,
// such as log(0), stand before and behind all else. The order is Dynamic if the formula
// speaks of the wait or of the present instant. An error tells the column in the text.
func Formula(text string) (entity.Order, error) {
	key, uses, err := formulas.Number(text)
	if err != nil {
		return entity.Order{}, err
	}
	dynamic := slices.ContainsFunc(uses, func(name string) bool { return slices.Contains(movingFields, name) })
	return entity.Order{Name: text, Key: key, Dynamic: dynamic}, nil
}
