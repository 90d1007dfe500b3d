package everylog_test

import (
	"encoding/csv"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/study/studytest"
)

var whole = flag.Bool("whole", false, "carry out all studies, for twenty minutes, and compare their files")

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// row is a line of a CSV file by the names of its columns.
type row map[string]string

func (r row) number(t *testing.T, column string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(r[column], 64)
	require.NoError(t, err, "%s of %v", column, r)
	return v
}

func table(t *testing.T, name string) (rows []row) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(file(t, name))).ReadAll()
	require.NoError(t, err)
	for _, line := range lines[1:] {
		r := row{}
		for i, column := range lines[0] {
			r[column] = line[i]
		}
		rows = append(rows, r)
	}
	return rows
}

// cells are the rows of the tables on the page, in the order of the page, each split at its bars.
func cells(t *testing.T) (tables [][][]string) {
	page, _, found := strings.Cut(file(t, "../every-log.md"), "\n## Does EASY-SJBF beat EASY?\n") // another study
	require.True(t, found)
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		if !inside {
			tables = append(tables, nil)
			inside = true
		}
		if strings.HasPrefix(line, "| ---") {
			continue
		}
		var fields []string
		for _, f := range strings.Split(strings.Trim(line, "|"), "|") {
			fields = append(fields, strings.Trim(strings.TrimSpace(f), "`"))
		}
		last := len(tables) - 1
		tables[last] = append(tables[last], fields)
	}
	require.Len(t, tables, 4)
	return tables
}

// policies are the headings of the page, and what stands for them in the files.
var policies = map[string][2]string{
	"fcfs": {"fcfs"}, "easy": {"easy"}, "conservative": {"conservative"}, "easy-sjbf": {"easy-sjbf"},
	"order=shortest": {"easy:order=shortest"}, "order=wfp3": {"easy:order=wfp3"}, "order=f1": {"easy:order=f1"},
	"easy++": {"easy++"}, "easy-sjbf, typical": {"easy-sjbf", "typical"},
}

// trace is the name in the files of what a row of the page is about.
func trace(t *testing.T, rows []row, label string) string {
	t.Helper()
	log, model := strings.CutPrefix(label, "Jann of ")
	for _, r := range rows {
		name := r["trace"]
		if source, ok := strings.CutPrefix(name, "jann:from="); ok == model && strings.HasPrefix(strings.ToLower(source), strings.ToLower(log)) {
			return name
		}
	}
	require.Fail(t, "no such log", label)
	return ""
}

// shown requires that a figure of the page is a number, rounded to the digits that the page has.
func shown(t *testing.T, want float64, cell string, about ...any) {
	t.Helper()
	cell = strings.ReplaceAll(cell, "−", "-")
	got, err := strconv.ParseFloat(cell, 64)
	require.NoError(t, err, about...)
	_, digits, _ := strings.Cut(cell, ".")
	require.InDelta(t, want, got, 0.500001*math.Pow10(-len(digits)), about...)
}

func find(t *testing.T, rows []row, is row) row {
	t.Helper()
	var found []row
	for _, r := range rows {
		same := true
		for k, v := range is {
			same = same && r[k] == v
		}
		if same {
			found = append(found, r)
		}
	}
	require.Len(t, found, 1, "%v", is)
	return found[0]
}

func TestThePageHasTheStudyAsItIs(t *testing.T) {
	require.Contains(t, file(t, "../every-log.md"), "```yaml\n"+file(t, "logs.yaml")+"```\n")
}

func TestTheTablesOfLogsAreThoseOfTheFiles(t *testing.T) {
	results, comparisons, bounds := table(t, "results.csv"), table(t, "comparisons.csv"), table(t, "bounds.csv")
	for i, load := range []string{"", "0.9"} {
		lines := cells(t)[i]
		require.Len(t, lines, 11)
		for _, line := range lines[1:] {
			log := trace(t, results, line[0])
			easy := find(t, results, row{"trace": log, "load": load, "policy": "easy"}).number(t, "mean_wait")
			shown(t, find(t, bounds, row{"trace": log, "load": load}).number(t, "least_mean_wait")/3600, line[1], "%v", line)
			shown(t, easy/3600, line[2], "%v", line)
			for k, heading := range lines[0][3:10] {
				p := policies[heading]
				wait := find(t, results, row{"trace": log, "load": load, "policy": p[0], "predict": p[1]}).number(t, "mean_wait")
				c := find(t, comparisons, row{"trace": log, "load": load, "policy": p[0], "predict": p[1], "measure": "mean_wait"})
				cell, star := strings.CutSuffix(line[3+k], ` \*`)
				require.Equal(t, slices.Contains([]string{"better", "worse"}, c["verdict"]), star, "%s of %v", heading, line)
				mean, half, _ := strings.Cut(cell, " ± ")
				shown(t, 100*(wait/easy-1), mean, "%s of %v", heading, line)
				shown(t, 100*(c.number(t, "high")-c.number(t, "low"))/2/easy, half, "%s of %v", heading, line)
			}
		}
	}
}

// The column of Slurm has a family of comparisons of its own, and no figure where a log was not run.
func TestTheColumnOfSlurmIsThatOfItsFiles(t *testing.T) {
	results, comparisons := table(t, "slurm-results.csv"), table(t, "slurm-comparisons.csv")
	lines := cells(t)[0]
	column := len(lines[0]) - 1
	require.Equal(t, "slurm", lines[0][column])
	with, longer, from, to := 0, 0, math.Inf(1), 0.0
	for _, line := range lines[1:] {
		if line[column] == "–" {
			require.NotContains(t, file(t, "slurm-results.csv"), "\n"+line[0])
			continue
		}
		with++
		log := trace(t, results, line[0])
		easy := find(t, results, row{"trace": log, "policy": "easy"})
		require.Equal(t, find(t, table(t, "results.csv"), row{"trace": log, "load": "", "policy": "easy"})["mean_wait"], easy["mean_wait"])
		c := find(t, comparisons, row{"trace": log, "policy": "slurm", "measure": "mean_wait"})
		cell, star := strings.CutSuffix(line[column], ` \*`)
		require.Equal(t, slices.Contains([]string{"better", "worse"}, c["verdict"]), star, "%v", line)
		mean, half, _ := strings.Cut(cell, " ± ")
		wait, least := find(t, results, row{"trace": log, "policy": "slurm"}).number(t, "mean_wait"), easy.number(t, "mean_wait")
		shown(t, 100*(wait/least-1), mean, "%v", line)
		shown(t, 100*(c.number(t, "high")-c.number(t, "low"))/2/least, half, "%v", line)
		if wait > least {
			longer++
			from, to = min(from, 100*(wait/least-1)), max(to, 100*(wait/least-1))
		}
	}
	require.Len(t, comparisons, with)
	require.Equal(t, [2]int{6, 7}, [2]int{longer, with})
	said := regexp.MustCompile(`six of seven logs, by (\S+) to (\S+)%`).FindStringSubmatch(file(t, "../every-log.md"))
	require.NotNil(t, said)
	shown(t, from, said[1])
	shown(t, to, said[2])
}

func TestTheRanksAreThoseOfTheResults(t *testing.T) {
	type policy = [2]string
	waits := map[[2]string]map[policy]float64{} // by log and load
	for _, r := range table(t, "results.csv") {
		if r["policy"] == "recorded" {
			continue
		}
		of := [2]string{r["trace"], r["load"]}
		if waits[of] == nil {
			waits[of] = map[policy]float64{}
		}
		waits[of][policy{r["policy"], r["predict"]}] = r.number(t, "mean_wait")
	}
	require.Len(t, waits, 20)
	for _, line := range cells(t)[2][1:] {
		mine := policies[line[0]]
		ranks, below, highest := map[string]float64{}, 0, 0.0
		for of, by := range waits {
			less, same := 0.0, 0.0
			for _, wait := range by {
				if wait < by[mine] {
					less++
				} else if wait == by[mine] {
					same++
				}
			}
			ranks[of[1]] += (less + (same+1)/2) / 10
			ratio := by[mine] / by[policies["easy"]]
			highest = max(highest, ratio)
			if ratio < 1 {
				below++
			}
		}
		shown(t, ranks[""], line[1], "%v", line)
		shown(t, ranks["0.9"], line[2], "%v", line)
		if line[0] != "easy" {
			require.Equal(t, strconv.Itoa(below)+" of 20", line[3], "%v", line)
			shown(t, highest, line[4], "%v", line)
		}
	}
}

func TestTheTableOfModelsIsThatOfTheFile(t *testing.T) {
	means := table(t, "models.csv")
	lines := cells(t)[3]
	cases := map[[2]string]bool{}
	for _, r := range means {
		cases[[2]string{r["trace"], r["estimates"]}] = true
	}
	require.Len(t, lines, 1+len(cases))
	for _, line := range lines[1:] {
		jobs := trace(t, means, line[0])
		wait := func(policy string) float64 {
			return find(t, means, row{"trace": jobs, "estimates": line[1], "policy": policy, "measure": "mean_wait"}).number(t, "mean")
		}
		shown(t, wait("easy")/3600, line[2], "%v", line)
		for k, heading := range lines[0][3:] {
			shown(t, 100*(wait(policies[heading][0])/wait("easy")-1), line[3+k], "%s of %v", heading, line)
		}
	}
}

// bounded are the measures that have bounds.
var bounded = []string{"makespan", "mean_wait", "mean_bounded_slowdown"}

// What the page says of bounds: no policy is below them, and EASY's makespans are near them.
func TestNoPolicyIsBelowTheBounds(t *testing.T) {
	bounds := table(t, "bounds.csv")
	require.Len(t, bounds, 20)
	highest := map[string]float64{} // of EASY's makespan beside its bound, by load
	for _, r := range table(t, "results.csv") {
		if r["policy"] == "recorded" {
			continue // other processors and other jobs than those of the bounds
		}
		is := find(t, bounds, row{"trace": r["trace"], "load": r["load"]})
		require.Equal(t, is["jobs"], r["jobs"], "%v", r)
		for _, measure := range bounded {
			least := is.number(t, "least_"+measure)
			require.GreaterOrEqual(t, r.number(t, measure), least*(1-1e-12), "%s of %v", measure, r)
			if r["policy"] == "easy" {
				require.Equal(t, r[measure], is[measure], "%s of %v", measure, r)
				require.InDelta(t, r.number(t, measure)-least, is.number(t, "gap_"+measure), 1e-6, "%s of %v", measure, r)
			}
		}
		if r["policy"] == "easy" {
			highest[r["load"]] = max(highest[r["load"]], 100*(r.number(t, "makespan")/is.number(t, "least_makespan")-1))
		}
	}
	said := regexp.MustCompile(`EASY's makespan is within (\S+)% of .* own loads, and within (\S+)% at 0\.9`).FindStringSubmatch(file(t, "../every-log.md"))
	require.NotNil(t, said)
	shown(t, highest[""], said[1])
	shown(t, highest["0.9"], said[2])
}

// done carries out a study of a text, and returns one of its files.
func done(t *testing.T, text, name string) []row {
	_, dir := studytest.CarryOut(t, text, logs(t))
	return table(t, filepath.Join(dir, name))
}

func logs(t *testing.T) string {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	return dir
}

// The files are what the studies give today: the rows of one log, and with -whole all rows.
func TestTheFilesAreWhatTheStudiesGive(t *testing.T) {
	if !*whole {
		text := file(t, "logs.yaml")
		from, to := strings.Index(text, "traces:"), strings.Index(text, "load:")
		text = text[:from] + "traces: [HPC2N-2002-excerpt.swf.gz]\n" + text[to:]
		from, to = strings.Index(text, "  - policy: recorded\n"), strings.Index(text, "\nbatches:")
		text = text[:from] + text[to:]
		all := table(t, "results.csv")
		got := done(t, text, "results.csv")
		require.Len(t, got, 19)
		for _, r := range got {
			require.Equal(t, find(t, all, row{"trace": r["trace"], "load": r["load"], "policy": r["policy"], "predict": r["predict"]}), r)
		}

		bounds := table(t, "bounds.csv")
		text = regexp.MustCompile(`traces:\n(  - .*\n)+`).ReplaceAllString(file(t, "bounds.yaml"), "traces: [HPC2N-2002-excerpt.swf.gz]\n")
		got = done(t, text, "results.csv")
		require.Len(t, got, 2)
		for _, r := range got {
			require.Equal(t, find(t, bounds, row{"trace": r["trace"], "load": r["load"]}), r)
		}
	}
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	text := strings.ReplaceAll(file(t, "slurm.yaml"), "slurm/{", here+"/slurm/{")
	if !*whole {
		text = regexp.MustCompile(`(?m)^      - [^H].*\n`).ReplaceAllString(text, "")
		text = regexp.MustCompile(`machine: .*`).ReplaceAllString(text, "machine: [HPC2N]")
	}
	slurm := table(t, "slurm-results.csv")
	got := done(t, text, "results.csv")
	for _, r := range got {
		r["slurm"] = strings.TrimPrefix(r["slurm"], here+"/")
		require.Equal(t, find(t, slurm, row{"trace": r["trace"], "policy": r["policy"]}), r)
	}
	if !*whole {
		require.Len(t, got, 2)
		return
	}
	require.Len(t, got, len(slurm))
	require.Equal(t, table(t, "bounds.csv"), done(t, file(t, "bounds.yaml"), "results.csv"))
	require.Equal(t, table(t, "results.csv"), done(t, file(t, "logs.yaml"), "results.csv"))
	require.Equal(t, table(t, "models.csv"), done(t, file(t, "models.yaml"), "summary.csv"))
}

// What the page says of the best schedules is what the study gives today.
func TestTheGapToTheBestScheduleIsThatOfTheStudy(t *testing.T) {
	comparisons := table(t, "gap.csv")
	text := file(t, "gap.yaml")
	if !*whole { // one load
		text = regexp.MustCompile(`load: .*`).ReplaceAllString(text, "load: [1.2]")
	}
	_, dir := studytest.CarryOut(t, text, t.TempDir())
	got := table(t, filepath.Join(dir, "comparisons.csv"))
	require.NotEmpty(t, got)
	for _, r := range got {
		is := find(t, comparisons, row{"load": r["load"], "policy": r["policy"]})
		for _, column := range []string{"mean", "baseline_mean", "low", "high", "percent", "percent_low", "percent_high", "n"} {
			require.Equal(t, is[column], r[column], "%s of %v", column, r)
		}
	}
	page := file(t, "../every-log.md")
	said := regexp.MustCompile(`EASY's mean wait is .* by (\S+) ± (\S+)% at a load of 0\.2, and by (\S+) ± (\S+)% at 1\.2; FCFS's by (\S+) ± (\S+)% and (\S+) ± (\S+)% `).FindStringSubmatch(page)
	require.NotNil(t, said)
	for i, of := range []row{{"policy": "easy", "load": "0.2"}, {"policy": "easy", "load": "1.2"}, {"policy": "fcfs", "load": "0.2"}, {"policy": "fcfs", "load": "1.2"}} {
		c := find(t, comparisons, of)
		shown(t, c.number(t, "percent"), said[1+2*i], "%v", of)
		shown(t, (c.number(t, "percent_high")-c.number(t, "percent_low"))/2, said[2+2*i], "%v", of)
	}
}
