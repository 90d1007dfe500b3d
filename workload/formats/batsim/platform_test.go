package batsim

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/logtest"
)

const site = `
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config><prop id="role" value="master"/></config>
  <zone id="all" routing="Full">
    <prop id="role" value="storage"/>
    <AS id="front" routing="None">
      <host id="master_host" speed="0f"/> <!-- <host id="comment" speed="1f"/> -->
      <host id="disks" speed="0f"><prop id="role" value="storage"/></host>
    </AS>
    <cluster id="c" prefix="n-" suffix=".x" radical="8-10,2;100" speed="2.5Gf" core="4" bw="125MBps" lat="50us"/>
    <cluster id="master_host" prefix="m" suffix="" radical="0-0" speed="1Gf"><prop id="role" value="master"/></cluster>
    <cabinet id="d" prefix="d" suffix="" radical="7" speed="98.095Mf" bw="1" lat="1"><prop id="role" value="compute_node"/></cabinet>
    <host id="dvfs" speed="100.0Mf, 1e-9Mf, 3 kf" pstate="2">
      <disk id="x" read_bw="1" write_bw="1"><prop id="role" value="storage"/></disk>
      <prop id="watt_off" value="9"/>
    </host>
    <host id="old" power="23.492E9"/>
    <peer id="p&amp;q" speed="1gigaflops" bw_in="1" bw_out="1"/>
    <link id="host" bandwidth="1Gf" latency="1"/>
    <route src="dvfs" dst="old"><link_ctn id="host"/></route>
  </zone>
</platform>`

func TestPlatformIsItsHostsForJobsByName(t *testing.T) {
	hosts, err := ReadPlatform(strings.NewReader(site), "x")
	require.NoError(t, err)
	require.Equal(t, []Host{
		{"d7", 98.095e6, 1}, {"dvfs", 3e3, 1},
		{"n-2.x", 2.5e9, 4}, {"n-8.x", 2.5e9, 4}, {"n-9.x", 2.5e9, 4}, {"n-10.x", 2.5e9, 4}, {"n-100.x", 2.5e9, 4},
		{"old", 23.492e9, 1}, {"p&q", 1e9, 1},
	}, hosts)
}

func TestClusterOfTheMastersNameIsNoMaster(t *testing.T) {
	hosts, err := ReadPlatform(strings.NewReader(`<platform><cluster id="master_host" prefix="a" radical="1-2" speed="1Gf"/></platform>`), "x")
	require.NoError(t, err)
	require.Equal(t, []Host{{"a1", 1e9, 1}, {"a2", 1e9, 1}}, hosts)
}

func TestSpeedsHaveUnits(t *testing.T) {
	for text, want := range map[string]float64{
		"5": 5, "5f": 5, "2kf": 2e3, "76.296Mf": 76.296e6, "1 Gf": 1e9, "1.5Tf": 1.5e12, "1Pf": 1e15, "1Ef": 1e18, "1Zf": 1e21, "1Yf": 1e24,
		"1e3Mf": 1e9, "7flops": 7, "1megaflops": 1e6,
	} {
		got, err := ParseSpeed(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "f", "0f", "-1Gf", "nan", "inf", "1e400f", "1e300Gf", "1gf", "1 G f", "1Gf1"} {
		_, err := ParseSpeed(text)
		require.ErrorContains(t, err, "want a number above 0 with a unit", text)
	}
}

func TestWhatIsNoPlatformIsRefusedWithItsLine(t *testing.T) {
	in := func(element string) string { return "<platform>\n<zone>\n" + element + "\n</zone></platform>" }
	for text, want := range map[string]string{
		"":                        `x: there is no host for jobs in it`,
		"{}":                      `x: there is no host for jobs in it`,
		"<html/>":                 `x:1: this is a <html>, not a <platform> of SimGrid`,
		"<platform/><html/>":      `x:1: this is a <html>`,
		"<platform>\n<zone>":      `x:2: this is no XML: unexpected EOF`,
		"<platform>\n</zone>":     `x:2: this is no XML`,
		in(`<host id="a&b;"/>`):   `x:3: this is no XML`,
		in(`<host id="a"/>`):      `x:3: host "a": it has no speed`,
		in(`<host speed="1Gf"/>`): `x:3: a <host> with an id of 0 letters`,
		in(`<include file="y"/>`): `x:3: <include> is not followed`,
		in(`<host id="a" speed="1Gf"/><host id="a" speed="1Gf"/>`):                                `x: there are two hosts "a"`,
		in(`<host id="a" speed="1Gf" core="0"/>`):                                                 `host "a": core is "0": want a whole number`,
		in(`<host id="a" speed="1Gf" pstate="1"/>`):                                               `host "a": pstate is "1": want a number below that of its speeds, 1`,
		in(`<host id="a" speed="1Gf,q" pstate="1"/>`):                                             `host "a": speed is "q"`,
		in(`<host id="a" speed="1Gf"><prop id="role" value="boss"/></host>`):                      `host "a": role is "boss": want master, compute_node or storage`,
		in(`<cluster id="c" speed="1Gf"/>`):                                                       `x:3: cluster "c": without a radical it has no hosts`,
		in(`<cluster id="c" speed="1Gf" radical=","/>`):                                           `without a radical`,
		in(`<cluster id="c" speed="1Gf" radical="3-1"/>`):                                         `cluster "c": radical has "3-1"`,
		in(`<cluster id="c" speed="1Gf" radical="1-2-3"/>`):                                       `radical has "1-2-3"`,
		in(`<cluster id="c" speed="1Gf" radical="-3"/>`):                                          `radical has "-3"`,
		in(`<cluster id="c" speed="1Gf" radical="a"/>`):                                           `radical has "a"`,
		in(`<cluster id="c" speed="1Gf" radical="0-4294967296"/>`):                                `radical has "0-4294967296"`,
		in(`<cluster id="c" speed="1Gf" radical="1,1"/>`):                                         `there are two hosts "1"`,
		in(`<cluster id="c" speed="1Gf" radical="0-999999999"/>`):                                 `x:3: there are more than 1048576 hosts`,
		in(`<cluster id="c" speed="1Gf" radical="1" prefix="` + strings.Repeat("p", 300) + `"/>`): `a host with a name of 301 letters`,
	} {
		_, err := ReadPlatform(strings.NewReader(text), "x")
		require.ErrorContains(t, err, want, text)
	}
}

func TestHostilePlatformsTakeBoundedMemory(t *testing.T) {
	for begin, text := range map[string]string{
		"<platform>":        strings.Repeat("<zone>", 1000),
		"<platform x='":     strings.Repeat("x", 6000),
		"<platform ":        strings.Repeat(" x=''", 1000),
		"<platform><!--":    strings.Repeat("x", 6000),
		"<platform>x":       strings.Repeat("x", 6000),
		"<!DOCTYPE p [":     strings.Repeat("<!ENTITY a 'aaaaaaaaaa'>", 250),
		"<platform><x/>":    strings.Repeat("<cluster id='c' speed='1f' radical='0-100000'/>", 100),
		"<platform><host x": strings.Repeat("x", 6000),
	} {
		all := &logtest.Endless{Text: text, Left: 64 << 20}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadPlatform(io.MultiReader(strings.NewReader(begin), all), "x")
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "x:", begin)
		require.Greater(t, all.Left, int64(62<<20), begin)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512<<20), begin)
	}
}

func TestTheWholePlatformHasABound(t *testing.T) {
	b := &budget{in: &logtest.Endless{Text: "x", Left: 1 << 20}, token: 1 << 20, all: 1000}
	n, err := io.Copy(io.Discard, b)
	require.EqualValues(t, 1000, n)
	require.ErrorContains(t, err, "a platform of more than 256 MiB")
}

func TestClusterIsAsManyHostsAsItsRadicalNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := map[int]bool{}
		var parts []string
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			from := rapid.IntRange(0, 300).Draw(t, "from")
			to := from + rapid.IntRange(0, 30).Draw(t, "more")
			taken := false
			for n := from; n <= to; n++ {
				taken = taken || numbers[n]
			}
			if taken {
				continue
			}
			for n := from; n <= to; n++ {
				numbers[n] = true
			}
			part := fmt.Sprintf("%d-%d", from, to)
			if from == to && rapid.Bool().Draw(t, "alone") {
				part = fmt.Sprint(from)
			}
			parts = append(parts, part)
		}
		text := fmt.Sprintf(`<platform><cluster id="c" prefix="a" suffix="b" radical="%s" speed="1Gf"/></platform>`, strings.Join(parts, ","))
		hosts, err := ReadPlatform(strings.NewReader(text), "x")
		require.NoError(t, err)
		var got, want []string
		for _, h := range hosts {
			got = append(got, h.Name)
		}
		for n := range 400 {
			if numbers[n] {
				want = append(want, fmt.Sprintf("a%db", n))
			}
		}
		require.Equal(t, want, got)
	})
}

func TestNumbersInNamesCountAsNumbers(t *testing.T) {
	want := []string{"", "1", "2", "10", "a", "a1", "a01x", "a1x3", "a01x20", "a2", "a10", "a99999999999999999999", "a100000000000000000000", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, byNumbers)
	require.Equal(t, want, got)
}

func TestWorkloadHasTheSizeOfItsPlatformWhereItTellsNone(t *testing.T) {
	open := func(text string, o workload.Options) (int, error) {
		o.Stdin, o.Format = strings.NewReader(text), Format{Hosts: 9}
		trace, err := o.Open(workload.StandardInput)
		if err != nil {
			return 0, err
		}
		return trace.Procs()
	}
	n, err := open(`{"jobs": [], "profiles": {}}`, workload.Options{})
	require.NoError(t, err)
	require.Equal(t, 9, n)
	n, err = open(`{"nb_res": 9, "jobs": [], "profiles": {}}`, workload.Options{})
	require.NoError(t, err)
	require.Equal(t, 9, n)
	_, err = open(`{"nb_res": 4, "jobs": [], "profiles": {}}`, workload.Options{})
	require.ErrorContains(t, err, "its nb_res is 4, and the platform has 9 hosts for jobs: say which it is (--procs N)")
	n, err = open(`{"nb_res": 4, "jobs": [], "profiles": {}}`, workload.Options{Reading: workload.Reading{Procs: 5}})
	require.NoError(t, err)
	require.Equal(t, 5, n)

	const job = `{"header": ["; MaxProcs: unknown"], "jobs": [{"id": 1, "subtime": 0, "res": 2, "profile": "p"}], "profiles": {"p": {"type": "delay", "delay": 3}}}`
	trace, err := workload.Options{Reading: workload.Reading{Stdin: strings.NewReader(job), Format: Format{Hosts: 9}}}.Open(workload.StandardInput)
	require.NoError(t, err)
	records := 0
	for _, err := range trace.Selected() {
		require.NoError(t, err)
		records++
	}
	require.Equal(t, 1, records)
	require.EqualValues(t, 9, trace.Header.MaxProcs)
}

func TestPlatformsMayBePacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.xml.zst")
	f, err := os.Create(path)
	require.NoError(t, err)
	z, err := zstd.NewWriter(f)
	require.NoError(t, err)
	_, err = z.Write([]byte(site))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	hosts, err := OpenPlatform(path)
	require.NoError(t, err)
	require.Len(t, hosts, 9)
	_, err = OpenPlatform(path + "no")
	require.ErrorContains(t, err, "no such file")
}

func FuzzPlatform(f *testing.F) {
	f.Add([]byte(site))
	f.Add([]byte(`<platform><cluster id="c" radical="1-3" speed="1f"/><host id="h" speed="1,2" pstate="1"><prop id="role" value="master"/></host></platform>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		hosts, err := ReadPlatform(strings.NewReader(string(text)), "x")
		if err != nil {
			require.ErrorContains(t, err, "x:")
			return
		}
		require.NotEmpty(t, hosts)
		for i, h := range hosts {
			require.True(t, h.Name != "" && h.Speed > 0 && h.Cores > 0, h)
			require.True(t, i == 0 || byNumbers(hosts[i-1].Name, h.Name) <= 0)
		}
	})
}
