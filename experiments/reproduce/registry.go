package reproduce

// All lists the experiments in the order in which they are run.
func All() []Experiment {
	return []Experiment{
		NewALPAMP(),
		AEPFigure5(),
		AEPTime(),
		Preferences(),
		Slicing(),
		OwnerPrice(),
		SliceFilling(),
		Quirks(),
		NewEstimates(),
		MaxQ(),
		Placement(),
		WindowTime(),
		NewDependability(),
		NewJobFlow(),
	}
}

// Field lists the experiments that repeat what others have published of the same jobs,
// in the order in which they are run. Where their data are not at hand, their error is
// a *MissingError.
func Field() []Experiment {
	return []Experiment{
		NewSC15(),
		NewPredictors(),
		NewCirrus(),
		NewGrid5000(),
		NewSC20(),
	}
}

// ByName returns the experiment of that name.
func ByName(name string) (Experiment, bool) {
	for _, e := range append(All(), Field()...) {
		if e.Name() == name {
			return e, true
		}
	}
	return nil, false
}
