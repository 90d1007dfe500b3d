package scenario

import "github.com/gridslot/gridslot/metrics"

// power adds to the session's observers whoever reads the power of nodes and switches
// them, where that is wanted.
func (x *Session) power() {
	p := x.settings.Power
	if p == nil {
		return
	}
	if p.Saving != nil {
		x.Observers = append(x.Observers, p.Saving)
	}
	x.Observers = append(x.Observers, p)
}

// profile begins power-NAME.csv, where it is asked for.
func (x *Session) profile() error {
	if x.settings.Power == nil || !x.settings.PowerProfile {
		return nil
	}
	w, err := x.Create("power-", ".csv")
	if w != nil {
		x.settings.Power.Profile = w
	}
	return err
}

// energy is what the run took, where that is accounted for.
func (x *Session) energy() (*metrics.EnergyRow, error) {
	p := x.settings.Power
	if p == nil {
		return nil, nil
	}
	row := p.Row(x.settings.Name)
	return &row, p.Close()
}
