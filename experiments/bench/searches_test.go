package bench_test

import (
	"context"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/vo"
)

// searches are searches for one window in slot lists that were drawn beforehand: those
// for rough windows in META's environment, for square ones in DEP18's.
type searches struct {
	Finder string
	Square bool
	Nodes  int
	Units  int    // of the scheduling interval
	Shape  string // of the slots; see adversarial_test.go
}

const lists = 10 // that are searched

func init() { works[nameOf(&searches{})] = &searches{} }

func (s *searches) begin() (func() (counts, error), error) {
	env, request := vo.META61(), vo.META61Request()
	if s.Square {
		env, request = vo.DEP18(), vo.DEP18Request()
	}
	env.Nodes.Count, env.Units = s.Nodes, s.Units
	f, err := policy.Finders().Parse(s.Finder)
	if err != nil {
		return nil, err
	}
	var all []plan.SlotList
	var requests []entity.Request
	slots := 0
	for seed := range uint64(lists) {
		asked := request
		list, err := drawSlots(s.Shape, env, seed, &asked)
		if err != nil {
			return nil, err
		}
		all, requests = append(all, list), append(requests, asked)
		slots += len(all[seed].Slots)
	}
	return func() (counts, error) {
		var work plan.Work
		for i, list := range all {
			found, err := f.Value.Find(context.Background(), requests[i], list, list.To)
			if err != nil {
				return nil, err
			}
			work.Add(found.Work)
		}
		return counts{"slots": float64(slots) / lists, "looked-at": float64(work.Slots) / lists, "branches": float64(work.Branches) / lists}, nil
	}, nil
}
