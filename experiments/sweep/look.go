package sweep

// What other processes have stored in the folder meanwhile.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// look takes in the outcomes that are in the folder now and returns the units that
// are missing still. Folders are read, and files only where they are in there: over
// a network that is quick, and sees at once what other machines have written, while
// a file that was not there a moment ago may be remembered as missing.
func (c *call) look() ([]Unit, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]map[string]bool{}
	there := func(path string) (bool, error) {
		dir := filepath.Dir(path)
		if seen[dir] == nil {
			entries, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, fmt.Errorf("reading the folder of the study: %w", err)
			}
			seen[dir] = make(map[string]bool, len(entries))
			for _, e := range entries {
				seen[dir][e.Name()] = true
			}
		}
		return seen[dir][filepath.Base(path)], nil
	}
	var missing []Unit
	for _, u := range c.missed {
		var o Outcome
		done, err := there(c.folder.unit(u.Key))
		failed, errFailed := there(c.folder.failure(u.Key))
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
// there.
func (c *call) row(u Unit) (Row, error) {
	row, err := c.folder.Row(u.Key)
	if err != nil || row == nil || !c.study.Keeps {
		return row, err
	}
	if _, err := os.Stat(c.folder.Files(u.Key)); err != nil {
		return nil, nil
	}
	return row, nil
}
