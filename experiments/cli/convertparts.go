package cli

// A log split into several: trace convert --by.

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
)

// filesAtATime is the number of parts that are written at a time, since a process can have only a
// limited number of files open; the others wait for the next pass over the log.
const filesAtATime = 128

// split writes the parts into a folder beside DIR and then gives that folder its name, so that DIR
// is there whole or not at all.
func split(cmd *cobra.Command, trace *workload.Trace, by string, format workload.Writable, dir string) (err error) {
	// A first pass finds out which parts there are.
	var readErr error
	s, err := clean.NewSplit(by, trace.Header, func(yield func(*workload.Record) bool) {
		for rec, err := range within(cmd.Context(), trace.Selected()) {
			if err != nil {
				readErr = err
			}
			if err != nil || !yield(rec) {
				return
			}
		}
	})
	switch {
	case readErr != nil:
		return readErr
	case err != nil:
		return usagef("--by: %w", err)
	case len(s.Parts) == 0:
		return fmt.Errorf("%s: there is no record to split", trace.Name)
	}
	// DIR must not be there yet, or be empty.
	dir = filepath.Clean(dir)
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return fmt.Errorf("%s is not empty: choose another folder", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	// Not os.MkdirTemp: its folders are for their owner alone, whatever the user's mask says.
	made := fmt.Sprintf("%s%c.%s.%08x.tmp", filepath.Dir(dir), filepath.Separator, filepath.Base(dir), rand.Uint32())
	if err := os.Mkdir(made, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(made) // does nothing once it has its name
	// Further passes write the parts, so many at a time.
	for first := 0; first < len(s.Parts); first += filesAtATime {
		if err := writeParts(cmd, trace, s, first, min(first+filesAtATime, len(s.Parts)), format, made); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return err
	}
	if err := os.Rename(made, dir); err != nil {
		return err
	}
	for _, p := range s.Parts {
		fmt.Fprintf(shown{cmd.OutOrStdout()}, "%s\t%d\n", filepath.Join(dir, partFile(trace, p, format)), p.Records)
	}
	return nil
}

// partFile returns the name of a part's file: the log's without its endings, the part's, and the
// ending of the format.
func partFile(trace *workload.Trace, p clean.Part, format workload.Writable) string {
	base := trace.Name
	if base == "standard input" {
		base = "log"
	}
	for _, ending := range append([]string{".gz", ".zst"}, trace.Format.Endings()...) {
		base = strings.TrimSuffix(base, ending)
	}
	base = strings.NewReplacer(":", "-", "/", "-", `\`, "-").Replace(base) // of a source with its parameters
	return base + "-" + p.Name + format.Endings()[0]
}

// writeParts writes the parts from first up to last, last excluded, in one pass over the log.
func writeParts(cmd *cobra.Command, trace *workload.Trace, s *clean.Split, first, last int, format workload.Writable, dir string) error {
	outs := make([]*logOutput, 0, last-first)
	defer func() {
		for _, out := range outs {
			out.Abort()
		}
	}()
	for _, p := range s.Parts[first:last] {
		h := trace.Header.Clone()
		for _, key := range []string{"MaxJobs", "MaxRecords"} {
			if h.Get(key) != "" {
				h.Set(key, strconv.FormatInt(p.Records, 10))
			}
		}
		h.Add("Note", note(cmd, "")+" # "+p.Name)
		out, err := createLog(cmd, filepath.Join(dir, partFile(trace, p, format)), format, h)
		if err != nil {
			return err
		}
		outs = append(outs, out)
	}
	place := int64(0)
	for rec, err := range trace.Selected() {
		if err != nil {
			return err
		}
		if i := s.Of(place, rec); i >= first && i < last {
			if err := outs[i-first].Write(rec); err != nil {
				return err
			}
		}
		place++
	}
	for i, out := range outs {
		if err := out.Close(); err != nil {
			return err
		}
		if lost := lost([]*workload.Trace{trace}, format, out.Lost().All()); lost != "" && first+i == 0 { // and so of the others
			fmt.Fprintln(shown{cmd.ErrOrStderr()}, lost)
		}
		if err := out.Commit(); err != nil {
			return err
		}
	}
	return nil
}
