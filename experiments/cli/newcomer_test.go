package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALogIsWrittenInTheFormatOfItsEnding(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log.swf")
	for i, args := range [][]string{
		{"trace", "convert", "lublin:jobs=20:procs=64"},
		{"trace", "convert", "jann:jobs=20:from=" + log},
		{"trace", "convert", "poisson:load=0.5:size=1:runtime=1h:jobs=20:procs=64"},
		{"trace", "convert", log},
	} {
		if i == 0 {
			got := drawn("lublin", "--jobs=500", "--procs=64", "--out", log)
			require.Zero(t, got.code, got.stderr)
		}
		for ending, begin := range map[string]string{"swf": "; ", "csv": "#! log of gridslot", "json": "{", "batsim.json": "{", "gwf": "#! fields", "sacct": "JobID|"} {
			out := filepath.Join(t.TempDir(), "out."+ending)
			succeed(t, append(args, out)...)
			text, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, begin, string(text[:len(begin)]), "%s: %s", args, ending)
			succeed(t, "simulate", out, "--procs=64", "--policy=easy")
		}
	}
}

func TestWhatAGeneratedLogLosesIsTold(t *testing.T) {
	got := drawn("lublin", "--jobs=20", "--procs=64", "--out", filepath.Join(t.TempDir(), "out.mwf"))
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stderr, " to mwf is lost:")
}

func TestWhatIsNoLogSaysWhatToDo(t *testing.T) {
	utf16 := func(order string, text string) string {
		for _, c := range []byte(text) {
			if order[0] == '\xff' {
				order += string([]byte{c, 0})
			} else {
				order += string([]byte{0, c})
			}
		}
		return order
	}
	for _, of := range []struct{ name, text, want string }{
		{"log.swf", utf16("\xff\xfe", "; MaxProcs: 4\n"), "UTF-16"},
		{"log.swf", utf16("\xfe\xff", "; MaxProcs: 4\n"), "UTF-16"},
		{"log.parquet", "PAR1" + string(make([]byte, 200)), "cut off"},
		{"log.parquet", "PAR1 and text", "cut off"},
		{"log.swf", "\x01\x00\x02", "it holds binary data; expected text"},
		{"table.txt", "Number;Begin;Cores\n1;2;3\n", "--from csv:submit=COLUMN"},
		{"table.txt", "1,2,3\n", "--from csv:submit=COLUMN"},
		{"table.csv", "JobID;User;Submitted;State\n1;a;2;COMPLETED\n", "--from csv:submit=COLUMN"},
	} {
		got := exits(t, exitFailed, "trace", "info", write(t, of.name, of.text))
		require.Contains(t, got.stderr, of.want, "%q", of.text)
	}
	for _, text := range []string{"<!DOCTYPE html>\n", "{\"jobs\":1,\"a\":2}\n", "words\n"} {
		got := exits(t, exitFailed, "trace", "info", write(t, "log.swf", text))
		require.NotContains(t, got.stderr, "--from", text)
	}
	got := exits(t, exitFailed, "simulate", write(t, "jobs.csv", "job,submit,runtime,requested\n1,2,3,4\n"), "--procs=4")
	require.Contains(t, got.stderr, "--from csv:submit=COLUMN")
}

func TestOneEqualsSignIsToldApartFromTwo(t *testing.T) {
	got := exits(t, exitUsage, "trace", "info", "--where", `user = 3`)
	require.Contains(t, got.stderr, `column 6: "=" cannot stand here: what is equal is compared by ==`)
}

func TestTheProcessorsGivenGoIntoAHeaderWithoutThem(t *testing.T) {
	for _, of := range []struct{ header, want, more string }{
		{"", "; MaxProcs: 64\n", "nb_res"},
		{"; MaxProcs: 8\n", "; MaxProcs: 8\n", "nb_res"},
		{"; MaxNodes: 8\n", "; MaxNodes: 8\n", ""},
	} {
		log := write(t, "log.swf", of.header+"1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 1 1 -1 -1\n")
		got := succeed(t, "trace", "convert", log, "-", "--procs=64")
		require.Contains(t, got.stdout, of.want+"; Note:")
		got = call("trace", "convert", log, "-", "--procs=64", "--to=batsim")
		require.Contains(t, got.stdout, of.more)
	}
	got := call("trace", "convert", write(t, "log.swf", "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 1 1 -1 -1\n"), "-")
	require.NotContains(t, got.stdout, "MaxProcs")
}

func TestColumnsThatAnonymisationLeavesOutAreTold(t *testing.T) {
	log := write(t, "log.csv", "submit,runtime,procs,user,gpus\n0,10,4,ann,2\n")
	got := succeed(t, "trace", "convert", log, "-", "--from=csv", "--to=csv", "--anonymise")
	require.Contains(t, got.stderr, "--anonymise leaves out columns beyond SWF: gpus\n")
	require.NotContains(t, got.stdout, "gpus")
	got = call("trace", "convert", log, "-", "--from=csv", "--to=csv")
	require.Empty(t, got.stderr)
}

func TestAColumnThatTheLogHasNotGotIsTold(t *testing.T) {
	log := write(t, "log.csv", "submit,runtime,procs,estimate,gpus,node list\n0,10,4,20,2,n1\n1,10,4,20,0,n2\n")
	for order, want := range map[string]string{
		`column.gpus`:                   "",
		`column["node list"]=="n2"?1:0`: "",
		`column.gpsu`:                   `has no column "gpsu", so it is unknown of every job; there are gpus, node_list`,
		`column["no list"]=="n2"?1:0`:   `has no column "no list"`,
		`procs`:                         "",
	} {
		order = strings.ReplaceAll(order, "node list", "node_list")
		got := succeed(t, "simulate", log, "--from=csv", "--procs=4", "--policy", "easy:order='"+order+"'")
		if want == "" {
			require.Empty(t, got.stderr, order)
		} else {
			require.Contains(t, got.stderr, want)
		}
	}
	got := succeed(t, "simulate", "--policy", "easy:order=column.gpus+0")
	require.Contains(t, got.stderr, `has no column "gpus", so it is unknown of every job; it has none beyond SWF`)
}

func TestABatsimWorkloadWithNamesGoesThereAndBackWithoutLoss(t *testing.T) {
	const profiles = `"profiles":{"p":{"type":"delay","delay":10}}}`
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.json"), filepath.Join(dir, "second.json")
	log := write(t, "log.json", `{"nb_res":8,"jobs":[{"id":"w!1","subtime":1,"res":2,"profile":"p"},{"id":"w!2","subtime":2,"res":2,"profile":"p"}],`+profiles)
	for _, files := range [][2]string{{log, first}, {first, second}} {
		got := succeed(t, "trace", "convert", files[0], files[1], "--lossless", "--drop-lines=Note")
		require.Empty(t, got.stderr)
	}
	require.Equal(t, read(t, dir, "first.json"), read(t, dir, "second.json"))

	log = write(t, "log.json", `{"nb_res":8,"jobs":[{"id":"w!1","subtime":1,"res":2,"profile":"p"},{"id":"w!2","subtime":2,"res":2,"profile":"p"}],`+profiles)
	got := call("trace", "convert", log, "-", "--to=batsim", "--skip=1")
	require.Contains(t, got.stderr, "job number of 1 records", "number 2 comes back as 1")
}

// The load of a model is a mean in the long run, and 2,000 jobs are not.
func TestASourceThatMissesItsLoadSaysSo(t *testing.T) {
	far := succeed(t, "simulate", "lublin:jobs=2000:load=0.7", "--policy", "easy")
	require.Contains(t, far.stderr, "lublin:jobs=2000:load=0.7: the jobs offer a load of 0.988, not the 0.7 of the model in the long run: with exact=on (lublin:jobs=2000:load=0.7:exact=on) they offer it\n")
	for _, args := range [][]string{
		{"lublin:jobs=2000:load=0.7:exact=on"},
		{"lublin:jobs=2000:load=0.7", "--load", "0.8"},
		{"lublin:jobs=2000:load=0.7", "--first", "500"},
		{"lublin:jobs=2000"},
	} {
		require.NotContains(t, call(append([]string{"simulate", "--policy", "easy"}, args...)...).stderr, "offer a load", args)
	}
}

// Where no site has a price, a strategy that goes by prices chooses among equals.
func TestAStrategyByPriceOnClustersIsTold(t *testing.T) {
	clusters := write(t, "clusters.yaml", "clusters: [{processors: 64}, {processors: 64}]\nbrokers: 1\nstrategies: [cheapest]\n")
	priced := write(t, "priced.yaml", "clusters: [{processors: 64}]\ngrids: [{clusters: [{processors: 64, price: 0.5}]}]\nbrokers: 1\nstrategies: [cheapest]\n")
	mixed := write(t, "mixed.yaml", "clusters: [{processors: 64}]\ndomains: [{generate: {count: 20}}]\ncycle: 600\nbrokers: 1\nbatches: {cycles: 1, jobs: 5}\nstrategies: [cheapest]\n")
	for _, c := range []struct {
		file, strategies, told string
	}{
		{clusters, "cheapest,dispatch:by=price,cheapest+earliest", "cheapest, dispatch:by=price, cheapest+earliest: no site has a price"},
		{clusters, "earliest+cheapest,earliest", "earliest+cheapest: no site has a price"},
		{clusters, "earliest,dispatch:by=earliest", ""},
		{priced, "cheapest", ""},
		{mixed, "cheapest", ""},
	} {
		args := []string{"simulate", "--grid", c.file, "--policy", c.strategies}
		if c.file != mixed {
			args = append(args, "--first", "20")
		}
		got := succeed(t, args...)
		if c.told == "" {
			require.NotContains(t, got.stderr, "has a price", c.strategies)
		} else {
			require.Contains(t, got.stderr, c.told)
		}
	}
}
