package policy

// The tables of predictors of runtimes, and of what corrects their predictions.

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/predict"
)

// Predictors is the table of predictors. Most keep state: parse a spec anew for each
// run, and for each site of a grid.
func Predictors() Table[entity.Predictor] {
	return Table[entity.Predictor]{
		{
			Name: "request", Text: "what the user asks for, or a multiple of it",
			Params: []Param{{"factor", "F", "times the request (1); for a multiple of the runtime see estimates"}},
			New:    func(a *Args) entity.Predictor { return predict.Request{Factor: a.above("factor")} },
		},
		{
			Name: "true", Text: "the runtime itself: what predictions could reach",
			New: func(*Args) entity.Predictor { return entity.Exact{} },
		},
		{
			Name: "recent", Text: "by the latest jobs of the user that have ended",
			Params: []Param{{"k", "N", "so many of them (2)"}, {"of", "mean|median", "what is taken of their runtimes (mean)"}},
			New: func(a *Args) entity.Predictor {
				return &predict.Recent{K: a.Positive("k"), Of: parsed(a, "of", predict.ParseOf)}
			},
		},
		{
			Name: "similar", Text: "by jobs that were similar (Smith, Taylor and Foster 1998), of the category that is surest",
			Params: []Param{
				{"q", "SHARE", "the quantile of their runtimes that is taken, above 0 up to 1 (the mean)"},
				{"last", "N", "how many of the latest a category keeps, 2 to 32 (20)"},
				{"by", "NAMES", "in what jobs are similar, as in user+size+request/user: user, group, queue, application, size, request (eleven such templates)"},
			},
			New: func(a *Args) entity.Predictor {
				p := &predict.Similar{Q: a.above("q"), Last: a.Positive("last")}
				if text, given := a.Value("by"); given {
					var err error
					p.Templates, err = predict.ParseTemplates(text)
					a.check(err)
				}
				a.check(p.Check())
				return p
			},
		},
		{
			Name: "typical", Text: "by a part of the typical runtime of the user's latest jobs, the more the more they are like it",
			Params: []Param{
				{"part", "SHARE", "of their weighted mean (0.5)"},
				{"recency", "SHARE", "what the second latest weighs against the latest, up to 1 (0.9)"},
				{"prior", "JOBS", "what all users' use of such requests weighs, against a job that is the same (0.5)"},
			},
			New: func(a *Args) entity.Predictor {
				p := &predict.Typical{Part: a.above("part"), Recency: a.above("recency"), Prior: a.above("prior")}
				a.check(p.Check())
				return p
			},
		},
		{
			Name: "regression", Text: "by online linear regression on what is known of job and user (Gaussier et al. 2015)",
			Params: []Param{
				{"over", "squared|absolute", "the loss of predictions above the runtime (squared)"},
				{"under", "squared|absolute", "the loss of predictions below it (absolute)"},
				{"weight", "large|small|narrow|wide|none", "which jobs weigh more (large)"},
				{"rate", "ETA", "of the steps of learning (5000)"},
				{"ridge", "LAMBDA", "what large coefficients cost (4e9)"},
			},
			New: func(a *Args) entity.Predictor {
				under := predict.Absolute
				if _, given := a.Value("under"); given {
					under = parsed(a, "under", predict.ParseLoss)
				}
				return &predict.Regression{
					Over: parsed(a, "over", predict.ParseLoss), Under: under, Weight: parsed(a, "weight", predict.ParseWeight),
					Rate: a.above("rate"), Ridge: a.above("ridge"),
				}
			},
		},
	}
}

// Correctors is the table of what corrects predictions that jobs outlive.
func Correctors() Table[entity.Corrector] {
	return Table[entity.Corrector]{
		{
			Name: "request", Text: "to the request at once",
			New: func(*Args) entity.Corrector { return predict.ToRequest{} },
		},
		{
			Name: "tsafrir", Text: "by a minute, then by more and more, up to 100 hours",
			New: func(*Args) entity.Corrector { return predict.Tsafrir{} },
		},
		{
			Name: "doubling", Text: "to twice as much",
			Params: []Param{{"capped", "on|off", "at most to the request (off)"}},
			New:    func(a *Args) entity.Corrector { return predict.Doubling{Capped: a.OnOff("capped", false)} },
		},
		{
			Name: "own", Text: "as the predictor itself corrects, or to the request where it does not",
			New: func(*Args) entity.Corrector { return predict.Own{} },
		},
	}
}
