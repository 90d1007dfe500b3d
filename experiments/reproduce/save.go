package reproduce

// Results in a folder: NAME.csv, NAME-claims.csv, NAME.md, NAME.svg, NAME.pdf, for
// some NAME-gantt.svg, and NAME.json, which is written last and says what the
// others are the result of; claims.csv and claims.md, the register of all
// experiments' claims.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/internal/atomicfile"
)

// stamp says what made the files of an experiment.
//
// Invariant: a stamp that is there belongs to all the other files, for Save removes the old stamp
// first and writes the new one last.
type stamp struct {
	Experiment string   `json:"experiment"`
	Version    string   `json:"version"` // of the program
	Seed       uint64   `json:"seed"`
	Cycles     int      `json:"cycles"` // 0 is the published number
	Settings   string   `json:"settings"`
	Data       []string `json:"data,omitempty"` // published files that it is on
}

// stampOf returns the stamp of the files that e would have now.
func stampOf(e Experiment, c Config, version string) (stamp, error) {
	data, err := dataOf(e)
	return stamp{e.Name(), version, c.Seed, c.Cycles, fmt.Sprintf("%#v", e), data}, err
}

// Save writes the files of e's table t into dir, which it makes if needed. Each is there whole or
// not at all.
func Save(dir, version string, e Experiment, c Config, t *Reproduction) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	made, err := stampOf(e, c, version)
	if err != nil {
		return err
	}
	at := func(ending string) string { return filepath.Join(dir, e.Name()+ending) }
	// What the old stamp says is not true of what is written from here on.
	if err := os.Remove(at(".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files := append(filesOf(e, c, t), file{".json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(made)
	}})
	for _, f := range files {
		if err := atomicfile.Write(at(f.ending), f.write); err != nil {
			return err
		}
	}
	return nil
}

// file is one file of an experiment, whose name goes before the ending.
type file struct {
	ending string
	write  func(io.Writer) error
}

// filesOf returns the files of e's table t without the stamp. Saved asks with a nil table, for the
// endings alone.
func filesOf(e Experiment, c Config, t *Reproduction) []file {
	files := []file{
		{".csv", t.writeCSV}, {claimsEnding, t.writeClaimsCSV}, {markdownEnding, t.WriteMarkdown},
		{".svg", func(w io.Writer) error { return t.draw(w, "svg") }},
		{".pdf", func(w io.Writer) error { return t.draw(w, "pdf") }},
	}
	if g, ok := ganttOf(e); ok {
		files = append(files, file{ganttEnding, func(w io.Writer) error { return g.writeSVG(context.Background(), w, c.Seed) }})
	}
	return files
}

// Saved returns what an earlier call with the same settings, on the same published data, wrote into
// dir, as Markdown. ok is false if there is nothing, or not all of it.
func Saved(dir, version string, e Experiment, c Config) (markdown []byte, ok bool) {
	at := func(ending string) string { return filepath.Join(dir, e.Name()+ending) }
	text, err := os.ReadFile(at(".json"))
	if err != nil {
		return nil, false
	}
	var found stamp
	want, err := stampOf(e, c, version)
	if err != nil || json.Unmarshal(text, &found) != nil || !reflect.DeepEqual(found, want) {
		return nil, false
	}
	for _, f := range filesOf(e, c, nil) {
		if _, err := os.Stat(at(f.ending)); err != nil {
			return nil, false
		}
	}
	markdown, err = os.ReadFile(at(markdownEnding))
	return markdown, err == nil
}

const (
	claimsEnding   = "-claims.csv"
	markdownEnding = ".md"
)

// writeClaimsCSV writes NAME-claims.csv.
func (t *Reproduction) writeClaimsCSV(w io.Writer) error { return gocsv.Marshal(t.claimRows(), w) }

// WriteRegister puts together the claims that Save wrote into dir for any of these experiments, in
// their order: claims.csv, and claims.md for people. Experiments that have not been saved are
// passed over.
func WriteRegister(dir string, experiments []Experiment) error {
	var all []claimRow
	for _, e := range experiments {
		of, err := readClaims(filepath.Join(dir, e.Name()+claimsEnding))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	err := atomicfile.Write(filepath.Join(dir, "claims.csv"), func(w io.Writer) error { return gocsv.Marshal(all, w) })
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "claims.md"), func(w io.Writer) error {
		var b strings.Builder
		experiment := ""
		for _, c := range all {
			if c.Experiment != experiment {
				experiment = c.Experiment
				fmt.Fprintf(&b, "\n## %s\n\n%d cycles, seed %d.\n\n", experiment, c.Cycles, c.Seed)
			}
			writeClaim(&b, c.Where, c.Text, c.Verdict, c.Detail)
		}
		_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
		return err
	})
}

// readClaims reads a file of claims, and refuses one with other columns.
func readClaims(path string) (all []claimRow, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	header, err := gocsv.MarshalString([]claimRow{})
	if err == nil && !strings.HasPrefix(string(text), header) {
		err = fmt.Errorf("want the columns %s", strings.TrimSpace(header))
	}
	if err == nil {
		err = gocsv.UnmarshalBytes(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no file of claims (%w); remove it and run again", path, err)
	}
	return all, nil
}
