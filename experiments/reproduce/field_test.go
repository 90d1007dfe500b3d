package reproduce

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// published3 are three rows of single runs whose published order is a, b, c.
func published3(a, b, c float64) []tableRow {
	return []tableRow{
		{Series: "a", Quantity: "wait", Paper: "1.5", Ours: single(a)},
		{Series: "b", Quantity: "wait", Paper: "2.5", Ours: single(b)},
		{Series: "c", Quantity: "wait", Paper: "9", Ours: single(c)},
	}
}

func TestTheOrderOfSingleRunsHoldsOrFails(t *testing.T) {
	var table Reproduction
	require.NoError(t, table.fill(published3(1.5, 2, 3)))
	require.Equal(t, "paper, wait: a < b < c", table.claims[0].Text)
	require.Equal(t, verdictHolds, table.claims[0].Verdict)
	require.NoError(t, table.fill(published3(1.5, 4, 3)))
	require.Equal(t, verdictFails, table.claims[0].Verdict)
	require.Equal(t, "b 4, not below c 3", table.claims[0].Detail)
	require.NoError(t, table.fill(published3(1.5, 3, 3)))
	require.Equal(t, verdictFails, table.claims[0].Verdict, "level is not below")
}

func TestASingleRunAgreesToTheLastDigitOrNot(t *testing.T) {
	var table Reproduction
	require.NoError(t, table.fill(published3(1.54, 2.56, 9)))
	require.Equal(t, "+0.04 =", table.difference(table.rows[0], "1.5"))
	require.Equal(t, "+0.06 (+2.4%)", table.difference(table.rows[1], "2.5"))
}

func TestClaimsOfSingleRuns(t *testing.T) {
	at := func(series string) ref { return ref{Series: series, Quantity: "wait"} }
	for _, c := range []struct {
		claim tableClaim
		want  verdict
	}{
		{tableClaim{Pairs: []pair{{Less: at("a"), Factor: 1.6}}}, verdictHolds},
		{tableClaim{Pairs: []pair{{Less: at("a"), Factor: 1.5}}}, verdictFails},
		{tableClaim{Pairs: []pair{{Less: at("a"), Than: at("b"), Factor: 0.5}}}, verdictFails},
		{tableClaim{Pairs: []pair{{Less: at("a"), Than: at("nobody")}}}, verdictNotTested},
		{tableClaim{Changes: []change{{Of: at("b"), From: at("a"), Percent: 100}}}, verdictHolds},
		{tableClaim{Changes: []change{{Of: at("b"), From: at("a"), Percent: 50}}}, verdictDirection},
		{tableClaim{Changes: []change{{Of: at("b"), From: at("a"), Percent: -100}}}, verdictFails},
		{tableClaim{Untested: "nobody says which"}, verdictNotTested},
		{tableClaim{Verdict: verdictUndecided}, verdictUndecided},
	} {
		var table Reproduction
		require.NoError(t, table.fill(published3(1.5, 3, 4), c.claim))
		require.Equal(t, c.want, table.claims[1].Verdict, "%+v", c.claim)
	}
}

func TestATableOfSingleRunsHasEachRowOnce(t *testing.T) {
	var table Reproduction
	require.ErrorContains(t, table.fill(append(published3(1, 2, 3), published3(1, 2, 3)[0])), "two rows")
	table.settings = []setting{{"jobs", "theirs", ""}}
	require.ErrorContains(t, table.fill(published3(1, 2, 3)), "where it comes from")
}

func TestPublishedFilesAreFoundOrSaidToBeMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(referenceVariable, dir)
	_, err := fieldFile("x.csv", "The authors have it.")
	require.EqualError(t, err, "x.csv is not at hand: set GRIDSLOT_REFERENCE to the folder that has it. The authors have it")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "field"), 0o777))
	for _, at := range []string{filepath.Join(dir, "x.csv"), filepath.Join(dir, "field", "x.csv")} {
		require.NoError(t, os.WriteFile(at, nil, 0o666))
		found, err := fieldFile("x.csv", "")
		require.NoError(t, err)
		require.Equal(t, at, found)
	}
	t.Setenv(referenceVariable, "")
	_, err = fieldFile("x.csv", "")
	require.Error(t, err)
}

func TestWhatWasSavedIsOfTheDataThatAreAtHand(t *testing.T) {
	files, err := os.ReadDir(smallCirrus(t))
	require.NoError(t, err)
	table, err := with("cirrus", tenProcessors(t)).Run(t.Context(), Config{})
	require.NoError(t, err)
	require.Len(t, pageOf("cirrus").Files, len(files))
	for _, e := range field() {
		data, out := t.TempDir(), t.TempDir()
		t.Setenv(tracesVariable, data)
		t.Setenv(referenceVariable, data)
		saved := func() bool {
			_, ok := Saved(out, "1", e, Config{})
			return ok
		}
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(data, name), []byte(text), 0o666))
		}
		require.NoError(t, Save(out, "1", e, Config{}, &table))
		page := e.page()
		names := slices.Clone(page.Files)
		for _, log := range page.Logs {
			names = append(names, log+".swf")
		}
		for _, name := range names {
			require.True(t, saved(), e.Name())
			write(name, "one text")
			require.False(t, saved(), "%s is there now", name)
			require.NoError(t, Save(out, "1", e, Config{}, &table))
			write(name, "another")
			require.False(t, saved(), "%s is another one", name)
			write(name, "one text")
		}
		require.True(t, saved(), e.Name())
		moved := t.TempDir()
		require.NoError(t, os.CopyFS(moved, os.DirFS(data)))
		t.Setenv(tracesVariable, moved)
		t.Setenv(referenceVariable, moved)
		require.True(t, saved(), "they are elsewhere, and the same")
	}
}

func TestWhatAnExperimentMissesIsAmongItsData(t *testing.T) {
	for _, e := range field() {
		t.Setenv(tracesVariable, t.TempDir())
		t.Setenv(referenceVariable, t.TempDir())
		_, err := e.Run(t.Context(), Config{})
		var missing *MissingError
		require.ErrorAs(t, err, &missing)
		page := e.page()
		require.Contains(t, slices.Concat(page.Logs, page.Files), strings.TrimSuffix(missing.File, ".swf"))
	}
}
