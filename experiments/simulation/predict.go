package simulation

import (
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/predict"
)

// Jobs that are planned by predictions of their runtimes.

// AddPredictions adds predictors and correctors of a program's own. Of two of one name the
// program's own counts.
func (t *Tables) AddPredictions(predictors policy.Table[entity.Predictor], correctors policy.Table[entity.Corrector]) {
	t.Predictors, t.Correctors = merged(t.Predictors, predictors), merged(t.Correctors, correctors)
}

// predictions returns what the settings predict and correct say, made anew, as they keep state; nil
// if a setting is not given.
func (sc *Scenario) predictions(t *Tables) (entity.Predictor, entity.Corrector, error) {
	predictor, err := parsed(t.Predictors, sc.Settings.Predict)
	if err != nil {
		return nil, nil, &SettingError{"predict", err}
	}
	corrector, err := parsed(t.Correctors, sc.Settings.Correct)
	if err != nil {
		return nil, nil, &SettingError{"correct", err}
	}
	return predictor, corrector, nil
}

// parsed returns that for which a text asks; the zero value if it is empty.
func parsed[T any](t policy.Table[T], spec string) (v T, err error) {
	if spec == "" {
		return v, nil
	}
	chosen, err := t.Parse(spec)
	return chosen.Value, err
}

// tellOfPredictions says if a corrector was asked for and has nothing to correct.
func (c *call) tellOfPredictions() {
	p, k, err := c.predictions(c.tables)
	if err != nil || k == nil {
		return
	}
	nothing := func(what, who string) {
		c.options.Tell("correct: %s has nothing to correct: %s%s", c.Settings.Correct, what, who)
	}
	_, corrects := p.(entity.Corrector)
	_, own := k.(predict.Own)
	// Under one predictor for all policies there may be nothing to correct for a reason that holds
	// for all.
	switch request, is := p.(predict.Request); {
	case is && (request.Factor == 0 || request.Factor >= 1):
		nothing("jobs are killed at their requests, and none is planned to end before", "")
		return
	case p == entity.Predictor(entity.Exact{}):
		nothing("runtimes are known", "")
		return
	case p != nil && own && !corrects:
		c.options.Tell("correct: %s does not correct its predictions itself: jobs that outlive them are planned by their requests", p.Name())
		return
	case p != nil:
		return
	}
	// Without a predictor of the settings it hangs on each policy whether anything is predicted.
	var none []string
	for _, n := range c.all {
		if !slices.ContainsFunc(c.policiesOf(n), func(local entity.Policy) bool {
			p, _ := entity.PredictionsOf(local)
			return p != nil
		}) {
			none = append(none, n.spec)
		}
	}
	if len(none) > 0 {
		nothing("nothing is predicted under ", strings.Join(none, ", ")+"; see predict")
	}
}

// policiesOf returns the policies of queues that run if n was asked for: on a grid those of its
// sites.
func (c *call) policiesOf(n policyName) (all []entity.Policy) {
	g, ok := c.machine().(*Grid)
	if !ok {
		return []entity.Policy{c.policy(c.tables, n.spec)}
	}
	for _, l := range g.WithDefaults().leaves() {
		all = append(all, l.policy(c.tables, c.defaults()))
	}
	return all
}

// policy returns a policy of the queue of a cluster or a domain, by its name, which has been
// checked.
func (sc *Scenario) policy(t *Tables, spec string) entity.Policy {
	_, onNodes := sc.machine().(*Domain)
	return policyNamed(t, spec, onNodes, sc.defaults())
}

// policyNamed returns a policy by its name, which has been checked: of named nodes, or of counted
// processors.
func policyNamed(t *Tables, spec string, onNodes bool, defaults ...string) entity.Policy {
	if onNodes {
		chosen, _ := t.Nodes.Parse(spec, defaults...)
		return chosen.Value.Policy
	}
	chosen, _ := t.Policies.Parse(spec, defaults...)
	return chosen.Value
}
