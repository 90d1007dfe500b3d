package simulation

import (
	"io"
	"path/filepath"

	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/perfetto"
	"github.com/gridslot/gridslot/metrics/results"
)

// writePerfetto writes perfetto-POLICY.json of the runs of the manifest, if it is wanted. It is
// made of the other files of the runs, which must be there, and the manifest is written again with
// their names.
func (c *call) writePerfetto(m *metrics.Manifest) error {
	if !c.options.Perfetto {
		return nil
	}
	files := map[string]string{} // by policy
	for _, n := range c.all {
		files[n.spec] = "perfetto-" + n.file + ".json"
	}
	folder, err := results.Open(c.dir.Path)
	if err != nil {
		return err
	}
	for i, r := range folder.Runs {
		err := atomicfile.Write(filepath.Join(c.dir.Path, files[r.Policy]), func(w io.Writer) error { return perfetto.Write(w, folder, r) })
		if err != nil {
			return err
		}
		m.Runs[i].Files = append(m.Runs[i].Files, files[r.Policy])
	}
	return m.WriteFile(filepath.Join(c.dir.Path, "manifest.json"))
}
