package report_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/report"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// studied is the folder of a study of two policies at two loads, on six seeds. One
// run fails, and one leaves a file. Name is that of a policy.
func studied(t *testing.T, name string) string {
	dir := filepath.Join(t.TempDir(), "two <policies>")
	_, err := sweep.Run(context.Background(), sweep.Study{
		Axes:  []sweep.Axis{sweep.List("policy", "easy", name), sweep.List("load", "0.7", "0.9")},
		Seeds: sweep.Seeds(1, 6), Dir: dir,
	}, func(ctx context.Context, c sweep.Case) (sweep.Row, error) {
		wait := 100 + 10*float64(c.Seed%5) + float64((c.Seed*7+uint64(c.Value("policy")[0])*c.Seed)%3)
		if c.Value("load") == "0.9" {
			wait *= 3
		}
		switch {
		case c.Value("policy") == "easy":
			wait += 50
		case c.Seed == 6 && c.Value("load") == "0.9":
			return nil, fmt.Errorf("the <disk> was full\x1b[31m")
		case c.Seed == 1:
			files, err := sweep.Files(ctx)
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(files, "jobs-easy.csv"), nil, 0o666); err != nil {
				return nil, err
			}
		}
		return sweep.Row{{Name: "mean_wait", Value: fmt.Sprint(wait)}}, nil
	})
	require.NoError(t, err)
	return dir
}

func page(t *testing.T, dir string) string {
	var b bytes.Buffer
	require.NoError(t, report.WriteStudy(&b, dir))
	return b.String()
}

func TestThePageOfAStudyTellsWhatWasDoneFoundAndFailed(t *testing.T) {
	dir := studied(t, "sjbf")
	text := page(t, dir)
	require.Contains(t, text, "23 of 24 runs done, in 4 cases. Compared with policy=easy.")
	require.Contains(t, text, "1 run failed; see below.")
	require.Contains(t, text, "the &lt;disk&gt; was full")
	require.Contains(t, text, "<title>Study two &lt;policies&gt;</title>")
	require.Regexp(t, `<tr><th scope="row">sjbf</th><td><strong>1\d\d ± \d+</strong> ★`, text)
	require.Regexp(t, `<tr><th scope="row">sjbf, 0.9</th><td>better</td><td>-\d+\.\d+ ± \d+\.\d+</td>(<td>-[0-9.]+</td>){3}<td>5</td><td>seeds</td>`, text, "five seeds have both")
	require.Equal(t, 4, strings.Count(text, `<img src="data:image/svg`))
	require.Equal(t, text, page(t, dir))
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if link[1] == "data:," {
			continue
		}
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(link[1])))
		require.NoError(t, err, "links lead to what is there, from the folder")
	}
	require.Equal(t, 2, strings.Count(text, `<li><a href="runs/`))
}

func TestNamesInAStudyAreText(t *testing.T) {
	text := page(t, studied(t, "</script><script>alert(1)</script><img src=x onerror=alert(1)>"))
	require.NotContains(t, text, "<script>alert")
	require.NotContains(t, text, "<img src=x")
	require.NotContains(t, text, "\x1b")
}

func TestAFolderThatIsNoStudyIsRefused(t *testing.T) {
	require.ErrorContains(t, report.WriteStudy(&bytes.Buffer{}, t.TempDir()), "holds no results of a study")
}

func TestThePageHasNoTestOfTooFewPairs(t *testing.T) {
	dir := t.TempDir()
	_, err := sweep.Run(context.Background(), sweep.Study{
		Axes: []sweep.Axis{sweep.List("policy", "easy", "sjbf")}, Seeds: sweep.Seeds(1, 3), Dir: dir,
	}, func(_ context.Context, c sweep.Case) (sweep.Row, error) {
		return sweep.Row{{Name: "mean_wait", Value: fmt.Sprint(c.Seed*c.Seed*uint64(len(c.Value("policy"))) + c.Seed%2*uint64(c.Value("policy")[0]))}}, nil
	})
	require.NoError(t, err)
	text := page(t, dir)
	require.Regexp(t, `<td>too few</td>.*<td>3</td><td>seeds</td><td>–</td><td>–</td><td>–</td>`, text)
}
