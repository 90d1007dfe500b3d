package policy

// Users' criteria by their names, as job files state them.

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
)

// Criteria returns a function that makes criteria from their names: the searches for windows
// of the table, with their parameters. A criterion is named by the text that asked for it:
// "square-dep", although the search calls itself "dep".
func Criteria(finders Table[plan.Finder]) func(name string) (entity.Criterion, error) {
	return func(name string) (entity.Criterion, error) {
		c, err := finders.Parse(name)
		if err != nil {
			return nil, err
		}
		if c.Value.Name() == name {
			return c.Value, nil
		}
		return &criterion{c.Value, name}, nil
	}
}

// criterion is a search under the name by which a job file asked for it.
type criterion struct {
	plan.Finder
	name string
}

func (c *criterion) Name() string { return c.name }

// Unwrap returns the search itself; see plan.TraitsOf.
func (c *criterion) Unwrap() plan.Finder { return c.Finder }
