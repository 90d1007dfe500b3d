package sweep

// What other processes have stored in the folder meanwhile.

import (
	"errors"
	"path"
)

// look takes in the outcomes that are in the folder now and returns the units that
// are missing still. Folders are read, and files only where they are in there: over
// a network that is quick, and sees at once what other machines have written, while
// a file that was not there a moment ago may be remembered as missing.
func (c *call) look() ([]Unit, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]map[string]bool{}
	there := func(name string) (bool, error) {
		dir := path.Dir(name)
		if seen[dir] == nil {
			entries, err := c.folder.readDir(dir)
			if err != nil {
				return false, err
			}
			seen[dir] = make(map[string]bool, len(entries))
			for _, e := range entries {
				seen[dir][e.Name()] = true
			}
		}
		return seen[dir][path.Base(name)], nil
	}
	var missing []Unit
	for _, u := range c.missed {
		var o Outcome
		done, err := there(unit(u.Key))
		failed, errFailed := there(failure(u.Key))
		if err := errors.Join(err, errFailed); err != nil {
			return nil, err
		}
		if done {
			if o.Row, err = c.row(u); err != nil {
				return nil, err
			}
		}
		if failed {
			if o.Failure, err = c.folder.Failure(u.Key); err != nil {
				return nil, err
			}
		}
		switch {
		case o.Failure != nil && (o.Row == nil || o.Failure.Kind == Damaged):
			o.Row = nil
		case o.Row == nil:
			missing = append(missing, u)
			continue
		}
		c.take(u, o)
	}
	c.missed = missing
	return missing, nil
}

// row is the result of a unit in the folder, nil where files that it leaves are not
// there as it left them.
func (c *call) row(u Unit) (Row, error) {
	row, err := c.folder.Row(u)
	if err != nil || row == nil || !c.study.Keeps || c.folder.hasKept(u.Key) {
		return row, err
	}
	return nil, nil
}
