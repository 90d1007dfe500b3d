package slurm

// What became of tasks that did not do their work.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity/indir"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// Of tasks that have ended early these many are told of, with these many bytes of
// the ends of their logs.
const (
	mostTold = 3
	mostLog  = 2000
)

// ended tells of the tasks that have ended without a result, or a failure, of each
// of their units. A unit that fails is no such thing.
func (s *Submission) ended(ctx context.Context, w *sweep.Work, dir string, missing []sweep.Unit) error {
	left := map[int]int{} // units by task
	for _, u := range missing {
		left[sweep.ShardOf(u, s.Parts)]++
	}
	states := states(ctx, s.Array)
	told := 0
	for _, task := range s.Tasks {
		if left[task] == 0 {
			continue
		}
		if told++; told > mostTold {
			continue
		}
		name := strings.NewReplacer("%A", s.Array, "%a", strconv.Itoa(task)).Replace(taskLog)
		end, err := tail(dir, name, mostLog)
		switch {
		case err != nil:
			end = "it left no log: " + err.Error()
		case end == "":
			end = name + " is empty"
		default:
			end = name + " ends:\n  " + strings.ReplaceAll(end, "\n", "\n  ")
		}
		w.Tell("task %s_%d has ended%s with %s not done; %s", s.Array, task, states[task], count(left[task], "unit"), end)
	}
	return fmt.Errorf("%s not done, since %s of %d ended early; logs are in %s. The same command again does what is missing",
		countAre(len(missing), "unit"), count(told, "task"), len(s.Tasks), filepath.Join(w.Dir, logs))
}

func countAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return count(n, what) + " are"
}

// states are what Slurm says of the tasks of an array, as long as it remembers: a
// few minutes (MinJobAge).
func states(ctx context.Context, array string) map[int]string {
	found := map[int]string{}
	out, err := command(ctx, "scontrol", "show", "job", "--oneliner", array)
	if err != nil {
		return found
	}
	for line := range strings.Lines(out) {
		fields := map[string]string{}
		for _, word := range strings.Fields(line) {
			if name, value, ok := strings.Cut(word, "="); ok && fields[name] == "" {
				fields[name] = value
			}
		}
		if task, err := strconv.Atoi(fields["ArrayTaskId"]); err == nil {
			found[task] = fmt.Sprintf(" (%s, exit code %s)", fields["JobState"], fields["ExitCode"])
		}
	}
	return found
}

// tail are the last lines of a file in a folder, at most so many bytes.
func tail(dir, name string, most int64) (string, error) {
	file, err := indir.Open(dir, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	from := max(0, size-most)
	text, err := io.ReadAll(io.NewSectionReader(file, from, most))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if from > 0 {
		if _, whole, _ := strings.Cut(string(text), "\n"); whole != "" {
			text = []byte(whole)
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "?")), nil
}
