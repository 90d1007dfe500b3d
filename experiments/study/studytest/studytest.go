// Package studytest carries out studies whose results tests compare with pages.
package studytest

import (
	"context"
	"testing"

	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics/findings"
)

// CarryOut carries out the study of a text, whose files are in a folder, and fails the test if it
// cannot. It returns what the results say, and the folder in which they are as "gridslot sweep"
// leaves them.
func CarryOut(t testing.TB, text, files string) (found *findings.Findings, dir string) {
	t.Helper()
	dir = t.TempDir()
	err := func() error {
		f, err := study.Read(sweep.Portable{Name: "study.yaml", Text: []byte(text), Dir: files}, nil)
		if err != nil {
			return err
		}
		s, err := f.Study("test")
		if err != nil {
			return err
		}
		s.Dir = dir
		if _, err := sweep.Run(context.Background(), s, f.Do); err != nil {
			return err
		}
		if found, err = study.Conclude(dir); err != nil {
			return err
		}
		return found.Save(dir)
	}()
	if err != nil {
		t.Fatal(err)
	}
	return found, dir
}
