package swarm

func (w *world) meddle() error { return nil }
func (w *world) study() error  { return nil }
