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
	}
}

// ByName returns the experiment of that name.
func ByName(name string) (Experiment, bool) {
	for _, e := range All() {
		if e.Name() == name {
			return e, true
		}
	}
	return nil, false
}
