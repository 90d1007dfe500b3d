package policy

// The tables of predictors of runtimes, and of what corrects their predictions.

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/predict"
)

// Predictors returns the table of predictors. Most keep state: parse a spec anew for each
// run, and for each site of a grid.
func Predictors() Table[entity.Predictor] {
	return Table[entity.Predictor]{
		Row("request", "what the user asks for, or a multiple of it", func(s *Settings) entity.Predictor {
			var p predict.Request
			s.Above(&p.Factor, "factor", "F", "times the request (1); for a multiple of the runtime see estimates")
			return p
		}),
		Row("true", "the runtime itself: what predictions could reach", func(*Settings) entity.Predictor { return entity.Exact{} }),
		Row("recent", "by the latest jobs of the user that have ended", func(s *Settings) entity.Predictor {
			var p predict.Recent
			s.Count(&p.K, "k", "how many of them (2)")
			Choice(s, &p.Of, "of", "mean|median", "what is taken of their runtimes (mean)", predict.ParseOf)
			return &p
		}),
		Row("similar", "by jobs that were similar (Smith, Taylor and Foster 1998), of the category that is surest", func(s *Settings) entity.Predictor {
			var p predict.Similar
			s.Above(&p.Q, "q", "SHARE", "the quantile of their runtimes that is taken, above 0 up to 1 (the mean)")
			s.Count(&p.Last, "last", "how many of the latest a category keeps, 2 to 32 (20)")
			by, given := s.Given("by", "NAMES", "in what jobs are similar, as in user+size+request/user: user, group, queue, application, size, request (eleven such templates)")
			if given {
				var err error
				p.Templates, err = predict.ParseTemplates(by)
				s.Check(err)
			}
			s.Check(p.Check())
			return &p
		}),
		Row("typical", "by a part of the typical runtime of the user's latest jobs, the more the more they are like it", func(s *Settings) entity.Predictor {
			var p predict.Typical
			s.Above(&p.Part, "part", "SHARE", "of their weighted mean (0.5)")
			s.Above(&p.Recency, "recency", "SHARE", "what the second latest weighs against the latest, up to 1 (0.9)")
			s.Above(&p.Prior, "prior", "JOBS", "what all users' use of such requests weighs, against a job that is the same (0.5)")
			s.Check(p.Check())
			return &p
		}),
		Row("regression", "by online linear regression on what is known of job and user (Gaussier et al. 2015)", func(s *Settings) entity.Predictor {
			p := predict.Regression{Under: predict.Absolute}
			Choice(s, &p.Over, "over", "squared|absolute", "the loss of predictions above the runtime (squared)", predict.ParseLoss)
			Choice(s, &p.Under, "under", "squared|absolute", "the loss of predictions below it (absolute)", predict.ParseLoss)
			Choice(s, &p.Weight, "weight", "large|small|narrow|wide|none", "which jobs weigh more (large)", predict.ParseWeight)
			s.Above(&p.Rate, "rate", "ETA", "of the steps of learning (5000)")
			s.Above(&p.Ridge, "ridge", "LAMBDA", "what large coefficients cost (4e9)")
			return &p
		}),
	}
}

// Correctors returns the table of correctors, which replace predictions that jobs have
// outlived.
func Correctors() Table[entity.Corrector] {
	return Table[entity.Corrector]{
		Row("request", "to the request at once", func(*Settings) entity.Corrector { return predict.ToRequest{} }),
		Row("tsafrir", "by a minute, then by more and more, up to 100 hours", func(*Settings) entity.Corrector { return predict.Tsafrir{} }),
		Row("doubling", "to twice as much", func(s *Settings) entity.Corrector {
			var c predict.Doubling
			s.OnOff(&c.Capped, "capped", "at most to the request (off)")
			return c
		}),
		Row("own", "as the predictor itself corrects, or to the request where it does not", func(*Settings) entity.Corrector { return predict.Own{} }),
	}
}
