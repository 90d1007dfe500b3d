package policy

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/preempt"
)

// settings compares what can be compared: the functions of orders cannot.
func settings(p entity.Policy) string {
	switch p := p.(type) {
	case backfill.FCFS:
		return "fcfs " + p.Order.Name
	case backfill.EASY:
		return fmt.Sprint("easy ", p.Order.Name, " ", p.Candidates.Name, " ", p.Reservations, " ", p.Depth)
	case backfill.Conservative:
		return fmt.Sprint("conservative ", p.Order.Name, " ", p.NoCompression)
	}
	return fmt.Sprintf("%T", p)
}

func TestASpecIsAPolicyWithItsParameters(t *testing.T) {
	for spec, want := range map[string]string{
		"fcfs":                     "fcfs ",
		"fcfs:order=wfp3":          "fcfs wfp3",
		"easy":                     "easy   0 0",
		"easy:order=submission":    "easy submission  0 0",
		"easy:order=wfp3:depth=10": "easy wfp3  0 10",
		"easy:reservations=none":   "easy   -1 0",
		"easy:reservations=0":      "easy   -1 0",
		"easy:reservations=3":      "easy   3 0",
		"easy:reservations=all":    fmt.Sprint("easy   ", backfill.AllReservations, " 0"),
		"easy:candidates=largest":  "easy  largest 0 0",
		"easy-sjbf":                "easy  shortest 0 0",
		"easy:order=random-7":      "easy random-7  0 0",
		"easy-sjbf:order=unicef":   "easy unicef shortest 0 0",
		"conservative":             "conservative  false",
		"conservative:compression=off:order=longest": "conservative longest true",
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, spec, c.Spec)
		require.Equal(t, want, settings(c.Value), spec)
	}
}

func TestSettingsOfPublishedSimulatorsAreParameters(t *testing.T) {
	for spec, want := range map[string]entity.Policy{
		"easy:window=32:head=sticky:spare=off:shadow=strict": backfill.PublishedEASY{Window: 32, Sticky: true, NoSpare: true, StrictShadow: true},
		"easy:spare=first": backfill.PublishedEASY{FirstSpare: true},
		"easy:window=32:head=first:spare=on:shadow=inclusive": backfill.PublishedEASY{Window: 32},
		"easy:reservations=1:shadow=strict":                   backfill.PublishedEASY{EASY: backfill.EASY{Reservations: 1}, StrictShadow: true},
		"fcfs:window=32:head=sticky":                          backfill.PublishedEASY{NoBackfilling: true, Window: 32, Sticky: true},
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, c.Value, spec)
	}
	c, err := Registry().Parse("easy-sjbf:window=8:head=sticky:spare=off:shadow=strict")
	require.NoError(t, err)
	require.Equal(t, "easy-sjbf-sticky-window-8-no-spare-strict-shadow", c.Value.Name())
}

func TestPoliciesThatPreemptTakeTheirParameters(t *testing.T) {
	for spec, want := range map[string]entity.Policy{
		"selective-preemption": preempt.Selective{},
		"selective-preemption:sf=1.5:width=0.25:slice=1:cost=30": preempt.Selective{Factor: 1.5, Width: 0.25, Slice: des.Second, Cost: 30 * des.Second},
		"selective-preemption:width=any:keep=none":               preempt.Selective{Width: -1, Keep: preempt.KeepNone},
		"selective-preemption:keep=checkpoint":                   preempt.Selective{Keep: preempt.KeepCheckpoint},
		"time-slicing":                                           preempt.Slicing{},
		"time-slicing:quantum=1.5m:cost=5s":                      preempt.Slicing{Quantum: 90 * des.Second, Cost: 5 * des.Second},
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, c.Value, spec)
	}
	for spec, want := range map[string]string{
		"selective-preemption:sf=0":           "want a number above 0",
		"selective-preemption:sf=0.5":         "must be a number of 1 or more, not 0.5",
		"selective-preemption:sf=1:keep=none": "for ever unless all work is kept",
		"selective-preemption:keep=half":      "want all, none or checkpoint",
		"selective-preemption:slice=0":        "want a number above 0",
		"selective-preemption:width=-1":       "want a number of 0 or more",
		"time-slicing:quantum=0":              "want a number above 0",
		"time-slicing:quantum=60:cost=60":     "must cost less than its quantum of 60",
		"time-slicing:order=tallest":          "want one of submission",
	} {
		_, err := Registry().Parse(spec)
		require.ErrorContains(t, err, want, spec)
	}
}

func TestEveryOrderOfThePackageCanBeAskedFor(t *testing.T) {
	for _, o := range backfill.Orders() {
		for _, name := range Registry().ForAny().Names() {
			if name == "selective-preemption" { // the expansion factor is its order
				continue
			}
			_, err := Registry().Parse(name + ":order=" + o.Name)
			require.NoError(t, err)
		}
	}
}

func TestWhatCannotBeReadIsAnErrorThatSaysWhatCan(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                "fcfs, easy, conservative, easy-sjbf",
		"eazy":                            "fcfs, easy, conservative, easy-sjbf",
		"Easy":                            "fcfs, easy, conservative, easy-sjbf",
		"easy:":                           "name=value",
		"easy:wfp3":                       "name=value",
		"easy:ordre=wfp3":                 "order, candidates, reservations, depth",
		"fcfs:depth=1":                    "it takes order",
		"easy:order=best":                 "or a formula",
		"easy:order=shortes":              `random-SEED, or a formula: did you mean "shortest"?`,
		"easy:order=wait*":                "a formula; the formula",
		"easy:order=":                     "submission, shortest, longest",
		"easy:depth=0":                    "1 or more",
		"easy:window=0":                   "1 or more",
		"easy:head=stuck":                 "first or sticky",
		"easy:spare=no":                   "on, off or first",
		"easy:shadow=loose":               "inclusive or strict",
		"easy:spare=off:reservations=2":   "single reservation",
		"easy:window=3:reservations=2":    "at most one waiting job",
		"easy++:window=3":                 "does not take \"window\"",
		"conservative:window=32":          "does not take \"window\"",
		"easy:order=random--7":            "random-SEED",
		"easy:depth=-1":                   "1 or more",
		"easy:depth=1e3":                  "1 or more",
		"easy:depth=99999999999999999999": "1 or more",
		"easy:reservations=some":          "none, all or a whole number",
		"easy:reservations=":              "none, all or a whole number",
		"easy:depth=1:depth=2":            "twice",
		"easy-sjbf:candidates=longest":    "does not take",
		"conservative:compression=yes":    "on or off",
		"conservative:compression=":       "on or off",
	} {
		_, err := Registry().Parse(spec)
		require.ErrorContains(t, err, want, "%q", spec)
	}
}

// Orders are known in papers by other names, which the error of an unknown order knows.
func TestAnOrderByItsNameInPapersIsToldTheNameHere(t *testing.T) {
	for name, want := range map[string]string{
		"fcfs": "submission", "FIFO": "submission", "sjf": "shortest", "SPT": "shortest", "spf": "shortest", "ljf": "longest", "LPT": "longest",
		"lpf": "longest", "SAF": "smallest", "laf": "largest", "srf": "ratio", "HEFT": "rank", "wfp": "wfp3", "largst": "largest",
	} {
		for _, setting := range []string{"easy:order=", "easy:candidates=", "conservative:order="} {
			_, err := Registry().Parse(setting + name)
			require.ErrorContains(t, err, `or a formula: did you mean "`+want+`"?`, name)
		}
		_, err := Registry().Parse("easy:order=" + want)
		require.NoError(t, err)
	}
}

func TestAnOrderCanBeAFormula(t *testing.T) {
	for spec, want := range map[string]string{
		"easy:order=estimate*procs":                                "easy estimate*procs  0 0",
		"easy:order='wait > 3600 ? 0 : max(estimate, 60)'":         "easy wait > 3600 ? 0 : max(estimate, 60)  0 0",
		`easy:order="procs":candidates='wait > 1 ? 2 : 3':depth=3`: "easy procs wait > 1 ? 2 : 3 0 3",
		"conservative:order='wait^3/estimate*procs'":               "conservative wait^3/estimate*procs false",
	} {
		c, err := Registry().Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, settings(c.Value), spec)
		require.Equal(t, spec, c.Spec)
	}
	list, err := Registry().ParseList("fcfs,easy:order='max(1, procs)', easy:order='max(2, procs)',conservative")
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.Equal(t, "easy:order='max(1, procs)'", list[1].Spec)
	require.Equal(t, "easy-order=-max-1--procs---393320f7", list[1].FileName())
	require.NotEqual(t, list[1].FileName(), list[2].FileName())
	for spec, want := range map[string]string{
		"easy:order='estimat*procs'": `column 1: "estimat" is not known`,
		"easy:order=best":            "one of submission, shortest",
		"easy:order='procs":          "a quote ' is not closed",
		"easy:order='a':b'":          "a quote ' is not closed",
	} {
		_, err := Registry().Parse(spec)
		require.ErrorContains(t, err, want, spec)
	}
}

func TestALongFormulaHasAFileNameOfBoundedLength(t *testing.T) {
	c, err := Registry().Parse("easy:order='" + strings.Repeat("procs+", 200) + "1'")
	require.NoError(t, err)
	require.Less(t, len(c.FileName()), 80)
}

func TestTheFirstWrongValueIsTheOneNamed(t *testing.T) {
	_, err := Registry().Parse("easy:order=best:reservations=some:depth=0")
	require.ErrorContains(t, err, "order is")
	require.NotContains(t, err.Error(), "depth is")
}

func TestAListKeepsItsOrder(t *testing.T) {
	list, err := Registry().ParseList("easy, conservative,fcfs:order=wfp3")
	require.NoError(t, err)
	var specs []string
	for _, c := range list {
		specs = append(specs, c.Spec)
	}
	require.Equal(t, []string{"easy", "conservative", "fcfs:order=wfp3"}, specs)
}

func TestAListNamesAPolicyOnce(t *testing.T) {
	_, err := Registry().ParseList("easy,fcfs,easy")
	require.ErrorContains(t, err, "twice")
	_, err = Registry().ParseList("easy,easy:depth=5")
	require.NoError(t, err, "another policy")
}

func TestDefaultsGiveWayToTheSpecAndSkipWhoeverDoesNotTakeThem(t *testing.T) {
	list, err := Registry().ParseList("fcfs,conservative,conservative:compression=on", "compression=off")
	require.NoError(t, err)
	require.Equal(t, "fcfs ", settings(list[0].Value))
	require.Equal(t, "conservative  true", settings(list[1].Value))
	require.Equal(t, "conservative  false", settings(list[2].Value))
	require.Equal(t, "conservative", list[1].Spec, "defaults do not show in the name")
}

func TestFileNamesAreSafe(t *testing.T) {
	for spec, want := range map[string]string{
		"easy":                     "easy",
		"easy:order=wfp3:depth=10": "easy-order=wfp3-depth=10",
		"a/../b c":                 "a-..-b-c",
		"a\\b\x00*?\"<>|":          "a-b--------5e9c3fb9",
	} {
		require.Equal(t, want, Chosen[int]{Spec: spec}.FileName())
	}
}

func TestTablesHoldOtherThingsThanPolicies(t *testing.T) {
	table := Table[int]{{
		Name: "answer", Params: []Param{{Name: "n"}},
		New: func(a *Args) int { return a.Positive("n") },
	}}
	c, err := table.Parse("answer:n=42")
	require.NoError(t, err)
	require.Equal(t, 42, c.Value)
}

func TestEveryEntryDescribesItself(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Registry() {
		require.False(t, seen[e.Name], e.Name)
		seen[e.Name] = true
		require.NotEmpty(t, e.Text)
		require.False(t, strings.ContainsAny(e.Name, ",:= "), e.Name)
		for _, p := range e.Params {
			require.NotEmpty(t, p.Values)
			require.NotEmpty(t, p.Text)
		}
	}
}

func ExampleTable_ParseList() {
	list, err := Registry().ParseList("fcfs,easy:order=wfp3:depth=100")
	if err != nil {
		fmt.Println(err)
	}
	for _, c := range list {
		fmt.Println(c.Value.Name(), "writes", "jobs-"+c.FileName()+".csv")
	}
	// Output:
	// fcfs writes jobs-fcfs.csv
	// easy-wfp3 writes jobs-easy-order=wfp3-depth=100.csv
}

func TestValuesOfASpecAreChangedWhereverTheyStand(t *testing.T) {
	upper := func(name, value string) string {
		if name == "x" {
			return strings.ToUpper(value) + ":"
		}
		return value
	}
	for spec, want := range map[string]string{
		"a":                 "a",
		"a:x=b":             "a:x='B:'",
		"a:y=b:x='c:d':z=1": "a:y=b:x='C:D:':z=1",
		`a:x="it's"`:        `a:x="IT'S:"`,
		"a:y='b:c'":         "a:y='b:c'",
		"a:x='b":            "a:x='b",
		"a:flag:x=1":        "a:flag:x='1:'",
	} {
		require.Equal(t, want, MapValues(spec, upper), spec)
	}
	require.Equal(t, "a:b=1:c='x:y':d='1,2'", Spec("a", [2]string{"b", "1"}, [2]string{"c", "x:y"}, [2]string{"d", "1,2"}))
	require.Equal(t, "a", Spec("a"))
}

// free is a table with an entry that takes a text of the user's own.
func free() Table[string] {
	return Table[string]{Row("run", "a command", func(s *Settings) string {
		command, depth := s.Operand("COMMAND"), 0
		s.Count(&depth, "depth", "how deep (all)")
		return fmt.Sprint(command, "|", depth)
	})}
}

func TestAnOperandEndsWhereTheParametersBegin(t *testing.T) {
	for spec, want := range map[string]string{
		"run:./my.py":                "./my.py|0",
		"run:./my.py:depth=3":        "./my.py|3",
		"run:tcp://[::1]:28000":      "tcp://[::1]:28000|0",
		"run:a --x=b:c:depth=2":      "a --x=b:c|2",
		"run:'a --depth=3:x=1'":      "a --depth=3:x=1|0",
		"run:a --depth=3:X=1":        "a --depth=3:X=1|0", // no parameter has such a name
		"run:'a, b:depth=3'":         "a, b:depth=3|0",
		"run:'a, b:depth=3':depth=4": "a, b:depth=3|4",
		`run:'a b' 'c, d'`:           "'a b' 'c, d'|0", // not in quotes as a whole
		`run:"it's":depth=1`:         "it's|1",
	} {
		list, err := free().ParseList(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, list[0].Value, spec)
	}
	for _, spec := range []string{"run", "run:", "run:depth=3", "run:''"} {
		_, err := free().Parse(spec)
		require.ErrorContains(t, err, "run is asked for as run:COMMAND", spec)
	}
	_, err := free().Parse("run:x:depth=no")
	require.ErrorContains(t, err, "depth is")
	for _, spec := range []string{"run:a --depth=3:x=1", "run:'a':x=1", "run:a:x=1:depth=2"} {
		_, err := free().Parse(spec)
		require.ErrorContains(t, err, `run does not take "x"; it takes depth; a text with a colon stands in quotes behind run`, spec)
	}
}

func TestTheFileNameOfACommandIsSafe(t *testing.T) {
	for spec, want := range map[string]string{
		"run:./my.py":           "run-.-my.py",
		"run:tcp://host:28000":  "run-tcp---host-28000",
		"run:./my.py --depth=5": "run-.-my.py---depth=5-",
		"run:../../etc/x; rm":   "run-..-..-etc-x--rm-",
		"run:é":                 "run---",
	} {
		c, err := free().Parse(spec)
		require.NoError(t, err)
		require.Regexp(t, "^"+regexp.QuoteMeta(want)+"([0-9a-f]{8})?$", c.FileName(), spec)
		require.Equal(t, strings.HasSuffix(want, "-"), len(c.FileName()) > len(want), spec)
	}
	long, err := free().Parse("run:/" + strings.Repeat("long/", 100))
	require.NoError(t, err)
	require.Less(t, len(long.FileName()), 80)
	_, err = free().ParseList("run:a/b,run:a-b")
	require.ErrorContains(t, err, "would write the same files")
}
