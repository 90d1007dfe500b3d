package cli

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

	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
)

// filesAtATime is how many parts are written at a time; others wait for the next pass
// over the log.
const filesAtATime = 128

func newTraceSplit(t *scenario.Tables) *cobra.Command {
	var to, by, dir string
	cmd := &cobra.Command{
		Use:   "split LOG --by user|queue|week|N --out DIR",
		Short: "Split a log by its users, queues, weeks and the like, or into N parts",
		Long: `Split a log into one file for each of its users, groups, executables, queues or
partitions, or its weeks from Monday on, or into N parts of consecutive records, all but equally many.
Records keep their submissions and job numbers, so that merge makes the log of them again. DIR
must not exist yet, or be empty; it is there whole or not at all. The parts are SWF,
or as --to says.`,
		Example: `  gridslot trace split log.swf.gz --by user --out users
  gridslot trace split log.swf.gz --by 10 --out tenths`,
		Args: arguments(1, 1, "LOG"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case by == "":
				return usagef("give --by user, group, executable, queue, partition, week or a number of parts")
			case dir == "":
				return usagef("give --out, the folder for the parts")
			}
			format, err := writable(cmd, t, "", to)
			if err != nil {
				return err
			}
			trace, err := openLog(cmd, t, args[0], nil)
			if err != nil {
				return err
			}
			return split(cmd, trace, by, format, dir)
		},
	}
	f := cmd.Flags()
	addSetting(cmd, t, "from", "seed", "sort", "where", "strict")
	f.StringVar(&to, "to", "", "format to write (default: swf)")
	f.StringVar(&by, "by", "", "user, group, executable, queue, partition, week, or a number of parts")
	f.StringVar(&dir, "out", "", "folder for the parts")
	_ = cmd.MarkFlagDirname("out") // it exists
	complete(cmd, "by", []string{"user", "group", "executable", "queue", "partition", "week"})
	return cmd
}

// split writes the parts beside DIR and then gives the folder its name.
func split(cmd *cobra.Command, trace *workload.Trace, by string, format workload.Writable, dir string) (err error) {
	var readErr error
	s, err := clean.NewSplit(by, trace.Header, func(yield func(*workload.Record) bool) {
		for rec, err := range trace.Selected() {
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

// partFile is the name of a part's file.
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

// writeParts writes the parts from first up to last, in one pass.
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
		h.Add("Note", note(cmd)+" # "+p.Name)
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
		if lost := out.Lost().All(); len(lost) > 0 && first+i == 0 {
			fmt.Fprintf(shown{cmd.ErrOrStderr()}, "%s: a file of %s does not hold: %v, and so on\n", trace.Name, format.Name(), lost[0])
		}
		if err := out.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func newTraceMerge(t *scenario.Tables) *cobra.Command {
	var m clean.Merge
	var to string
	cmd := &cobra.Command{
		Use:   "merge OUT LOG...",
		Short: "Merge logs into one, in the order of submission",
		Long: `Merge logs into one, in the order of submission; each must have that order, or --sort is
given. Logs whose headers say when they start (UnixStartTime) are aligned. Job numbers stay where no two logs share
one; otherwise those of each log are moved behind those of the logs before it, and preceding jobs with
them. Equal numbers of users and the like are one user, by their names where logs have any, or with
--apart two.`,
		Example: `  gridslot trace merge both.swf.gz first.swf.gz second.swf.gz
  gridslot trace merge grid.swf site1.swf site2.swf --apart=all`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("want OUT LOG..., not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := writable(cmd, t, args[0], to)
			if err != nil {
				return err
			}
			var logs []*workload.Trace
			for _, path := range args[1:] {
				if sameFile(path, args[0]) {
					return usagef("%s would overwrite itself: choose another name", path)
				}
				trace, err := openLog(cmd, t, path, nil)
				if err != nil {
					return err
				}
				logs = append(logs, trace)
			}
			return merge(cmd, m, logs, args[0], format)
		},
	}
	f := cmd.Flags()
	addSetting(cmd, t, "from", "sort", "strict")
	f.StringVar(&to, "to", "", "format to write (default: by the ending of OUT, or swf)")
	parsedFlag(cmd, &m.Apart, "apart", "", "FIELD,FIELD", "users, groups, executables, queues, partitions, or all: equal numbers of two logs are two of them", optional(clean.ParseFields))
	f.Lookup("apart").NoOptDefVal = "all"
	f.BoolVar(&m.AsTheyStand, "as-they-stand", false, "take submissions as they are, whenever the logs start")
	return cmd
}

func merge(cmd *cobra.Command, m clean.Merge, logs []*workload.Trace, to string, format workload.Writable) error {
	h, records, err := m.Logs(logs)
	if err != nil {
		return err
	}
	h.Add("Note", note(cmd))
	out, err := createLog(cmd, to, format, h)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := out.writeAll(records); err != nil {
		return err
	}
	for _, t := range logs {
		for why, n := range t.Report().Counts() {
			if why.Class() == workload.Damaged {
				fmt.Fprintf(shown{cmd.ErrOrStderr()}, "%s: %d lines are left out: %s\n", t.Name, n, why.Text())
			}
		}
	}
	out.tellLost()
	return out.Commit()
}
