package sweep

// What units took: usage.csv. Each process writes into a file of its own, usage-*.part, which
// whoever has the folder alone makes a part of usage.csv. What is lost on the way is no result: a
// torn line is left out.

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strconv"
	"sync"
)

const usagePrefix, usagePart = "usage-", ".part"

// usageColumns are the columns of usage.csv: seconds of wall clock, the largest resident size.
var usageColumns = []string{"key", "seconds", "peak_bytes", "host"}

// usageLog is the file of this process, made when there is something to write.
type usageLog struct {
	mu   sync.Mutex
	file *os.File
}

// close closes the file, if there is one; a later use makes another.
func (l *usageLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close() // what is lost is no result
		l.file = nil
	}
}

// use takes down what a unit took. Each row is flushed, as the process may be killed.
func (f *Folder) use(u Unit, usage Usage) error {
	if usage == (Usage{}) {
		return nil
	}
	l := &f.usage
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		file, err := os.CreateTemp(f.Path, usagePrefix+"*"+usagePart)
		if err != nil {
			return fmt.Errorf("writing down what units take: %w", err)
		}
		l.file = file
	}
	w := csv.NewWriter(l.file)
	_ = w.Write([]string{u.Key, strconv.FormatFloat(usage.Time.Seconds(), 'f', 6, 64), strconv.FormatInt(usage.Peak, 10), usage.Host}) // Flush tells
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("writing down what units take: %w", err)
	}
	return nil
}

// gatherUsage makes usage.csv of the units of the plan, from itself and from what processes have
// written down: of a unit done several times the last row that is read counts. Nobody else may
// write into the folder.
func (f *Folder) gatherUsage(p *Plan) error {
	parts, _ := fs.Glob(f.root.FS(), usagePrefix+"*"+usagePart) // the pattern is a good one
	used := map[string][]string{}
	for _, name := range append([]string{usageName}, parts...) {
		text, err := f.read(name)
		if err != nil {
			return err
		}
		r := csv.NewReader(bytes.NewReader(text))
		r.FieldsPerRecord = -1
		for {
			row, err := r.Read()
			if err != nil {
				break // the end, or the torn line of a killed process
			}
			if isUsage(row) {
				used[row[0]] = row
			}
		}
	}
	rows := [][]string{usageColumns}
	for _, u := range p.Units {
		if row, there := used[u.Key]; there {
			rows = append(rows, row)
		}
	}
	if err := f.writeTable(usageName, rows); err != nil {
		return err
	}
	return f.removeAll(parts...)
}

// hostForm is the form of a host's name. Others are left out, such as one that a spreadsheet would
// take for a formula.
var hostForm = regexp.MustCompile(`^([0-9A-Za-z_][0-9A-Za-z_.-]*)?$`)

// isUsage reports whether a row is one of usage.csv; what else stands there is no result, and left
// out.
func isUsage(row []string) bool {
	if len(row) != len(usageColumns) || !isKey(row[0]) || !hostForm.MatchString(row[3]) {
		return false
	}
	seconds, errSeconds := strconv.ParseFloat(row[1], 64)
	peak, errPeak := strconv.ParseInt(row[2], 10, 64)
	return errSeconds == nil && seconds >= 0 && !math.IsInf(seconds, 0) && !math.Signbit(seconds) && errPeak == nil && peak >= 0
}
