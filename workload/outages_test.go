package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
)

func TestReadOutages(t *testing.T) {
	o, err := readOutages(strings.NewReader("from,to,processors,known\n3600,7200.5,4,\n10,,1,5\n20,forever,2,0\n"), nil)
	require.NoError(t, err)
	require.Equal(t, 3, len(o.rows))
	all, err := o.Processors(4)
	require.NoError(t, err)
	require.Equal(t, []flow.Outage{
		{From: 20 * des.Second, To: des.Forever, Where: entity.Where{Count: 2}},
		{Known: 5 * des.Second, From: 10 * des.Second, To: des.Forever, Where: entity.Where{Count: 1}},
		{Known: des.Hour, From: des.Hour, To: des.Seconds(7200.5), Where: entity.Where{Count: 4}},
	}, all, "in the order in which they become known")

	o, err = readOutages(strings.NewReader("from,to,processors,node\n1,2,3,0-1 5\n"), nil)
	require.NoError(t, err)
	all, err = o.Processors(6)
	require.NoError(t, err)
	require.Equal(t, []procset.Range{{First: 0, Last: 1}, {First: 5, Last: 5}}, all[0].Set)
	require.Zero(t, all[0].Count)
	_, err = o.Nodes([]*entity.Node{{ID: 0}, {ID: 1}})
	require.EqualError(t, err, "line 2: node: there is no node 5")
	nodes := []*entity.Node{{ID: 5}, {ID: 1}, {ID: 0}}
	all, err = o.Nodes(nodes)
	require.NoError(t, err)
	require.Equal(t, []procset.Range{{First: 0, Last: 2}}, all[0].Set, "by position")
}

func TestOutagesThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "empty",
		"to,node\n1,2":                       `it has no column "from"; its first line is to,node`,
		"from,to\n1,2":                       `neither a column "processors" (how many are lost) nor "node" (which)`,
		"from,to,node\n":                     "no outages",
		"from,to,node\n1,2,\n":               "line 2: it has neither processors nor node",
		"from,to,node\n,2,1\n":               "line 2: from: want time units, or a date such as 1996-10-23T14:00, but the field is empty",
		"from,to,node\n1,x,1\n":              `line 2: to: want time units, or a date such as 1996-10-23T14:00, not "x"`,
		"from,to,processors\n1,2,1.5\n":      `line 2: processors: want a whole number, not "1.5"`,
		"from,to,processors,node\n1,2,2,0-2": "line 2: processors: want 3, as many as node names, or nothing, not 2",
		"from,to,processors,node\n1,2,x,0-2": `line 2: processors: want a whole number, not "x"`,
		"from,to,processors\n1,2,0\n":        "line 2: processors: want 1 or more, not 0",
		"from,to,node\n2,2,1\n":              "line 2: to: it must end after it begins, at 2, not at 2",
		"from,to,node\n-1,2,1\n":             "line 2: from and to must be 0 to 1e+12",
		"from,to,node\n1,9e99,1\n":           "must be 0 to",
		"from,to,node,known\n1,2,1,-1\n":     "must be 0 to",
		"from,to,node,known\n1,2,1,1.5":      "line 2: known: it begins at 1, and cannot become known later, at 1.5",
		"from,to,node,known\n1,2,1,\"":       "this is no CSV",
	} {
		_, err := readOutages(strings.NewReader(text), nil)
		require.ErrorContains(t, err, want, "%q", text)
	}
	for text, want := range map[string]string{
		"from,to,processors\n1,2,5":               "line 2: processors: 5 are lost of a cluster of 4",
		"from,to,node\n1,2,4":                     "line 2: node: want processors of 0-3 in ascending order, not 4",
		"from,to,node\n1,2,2 1":                   "in ascending order, not 2 1",
		"from,to,node,processors\n1,2,2,\n3,4,,1": "line 3: some outages name their processors",
	} {
		o, err := readOutages(strings.NewReader(text), nil)
		require.NoError(t, err)
		_, err = o.Processors(4)
		require.ErrorContains(t, err, want, "%q", text)
	}
	for text, want := range map[string]string{ // names, which only Hosts knows
		"from,to,node\n1,2,x\n":   `line 2: node: "x" is no interval of processors`,
		"from,to,node\n1,2,3-1\n": "line 2: node: ",
		"from,to,node\n1,2,-1\n":  "no interval",
	} {
		o, err := readOutages(strings.NewReader(text), nil)
		require.NoError(t, err)
		_, err = o.Processors(4)
		require.ErrorContains(t, err, want, "%q", text)
		_, err = o.Nodes([]*entity.Node{{ID: 1}})
		require.ErrorContains(t, err, want, "%q", text)
	}
	o, err := readOutages(strings.NewReader("from,to,processors\n1,2,1"), nil)
	require.NoError(t, err)
	_, err = o.Nodes(nil)
	require.ErrorContains(t, err, "line 2: node: on a domain an outage names its nodes")
	o, err = readOutages(strings.NewReader("from,to,site,node\n1,2,,1\n1,2,east,1\n"), nil)
	require.NoError(t, err)
	const want = `line 3: site: there are no sites here, only on a grid; want no such column, not "east"`
	_, err = o.Nodes([]*entity.Node{{ID: 1}})
	require.EqualError(t, err, want)
	_, err = o.Processors(4)
	require.EqualError(t, err, want)
}

func TestAnErrorAboutAnOutageNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "faults.csv")
	require.NoError(t, os.WriteFile(path, []byte("from,to,processors\n1,2,9\n"), 0o644))
	o, err := OpenOutages(path, nil)
	require.NoError(t, err)
	_, err = o.Processors(4)
	require.EqualError(t, err, path+": line 2: processors: 9 are lost of a cluster of 4")
	require.NoError(t, os.WriteFile(path, []byte("from,to,processors\n1,2\n"), 0o644))
	_, err = OpenOutages(path, nil)
	require.ErrorContains(t, err, path+": line 2: it has 2 fields")
	_, err = OpenOutages(path+"?", nil)
	require.ErrorContains(t, err, "opening the outages")
}

func TestALogForAGridNamesSites(t *testing.T) {
	o, err := readOutages(strings.NewReader("site,from,to,processors\neast,1,2,3\nwest,1,3,4\neast,0,9,1\n"), nil)
	require.NoError(t, err)
	sites, err := o.Sites("east", "west", "south")
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 0}, []int{len(sites["east"].rows), len(sites["west"].rows), len(sites["south"].rows)})
	_, err = sites["east"].Processors(3)
	require.NoError(t, err)
	_, err = sites["west"].Processors(3)
	require.EqualError(t, err, "line 3: processors: 4 are lost of a cluster of 3")
	_, err = o.Sites("east")
	require.EqualError(t, err, `line 3: site: want one of the grid's (east), not "west"`)
}

func FuzzReadOutages(f *testing.F) {
	f.Add("from,to,processors,known\n3600,7200,4,\n10,,1,5\n")
	f.Add("from,to,node\n1,forever,0-3 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := readOutages(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		all, err := o.Processors(100)
		if err != nil {
			return
		}
		last := des.Time(0)
		for _, x := range all {
			require.LessOrEqual(t, last, x.Known)
			require.LessOrEqual(t, x.Known, x.From)
			require.Less(t, x.From, x.To)
			require.Positive(t, x.Size())
			require.LessOrEqual(t, x.Size(), 100)
			last = x.Known
		}
	})
}
