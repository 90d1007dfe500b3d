package reproduce

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// chart has two series at three points, of two quantities.
func chart() (rows []tableRow) {
	for _, q := range []string{"wait", "cost"} {
		for _, series := range []string{"a", "b"} {
			for _, point := range []string{"k = 1", "k = 2", "k = 3"} {
				rows = append(rows, tableRow{Series: series, Point: point, Quantity: q})
			}
		}
	}
	return rows
}

func TestAClaimOfAPageIsPairsOfRows(t *testing.T) {
	at := func(series, point string) ref { return ref{series, point, "wait"} }
	for what, c := range map[string]struct {
		claim claimText
		want  []pair
	}{
		"two rows":             {claimText{Order: []string{"a, k = 1 < b, k = 2"}}, []pair{{Less: at("a", "k = 1"), Than: at("b", "k = 2")}}},
		"a chain":              {claimText{Order: []string{"a, k = 1 < a, k = 2 < b, k = 1"}}, []pair{{Less: at("a", "k = 1"), Than: at("a", "k = 2")}, {Less: at("a", "k = 2"), Than: at("b", "k = 1")}}},
		"a factor":             {claimText{Order: []string{"a, k = 1 < 0.5 × b, k = 1"}}, []pair{{Less: at("a", "k = 1"), Than: at("b", "k = 1"), Factor: 0.5}}},
		"a number":             {claimText{Order: []string{"a, k = 3 < 7"}}, []pair{{Less: at("a", "k = 3"), Factor: 7}}},
		"series at all points": {claimText{Order: []string{"a < b"}}, []pair{{Less: at("a", "k = 1"), Than: at("b", "k = 1")}, {Less: at("a", "k = 2"), Than: at("b", "k = 2")}, {Less: at("a", "k = 3"), Than: at("b", "k = 3")}}},
		"a rise":               {claimText{Rises: "a"}, []pair{{Less: at("a", "k = 1"), Than: at("a", "k = 2")}, {Less: at("a", "k = 2"), Than: at("a", "k = 3")}}},
		"a fall":               {claimText{Falls: "b"}, []pair{{Less: at("b", "k = 3"), Than: at("b", "k = 2")}, {Less: at("b", "k = 2"), Than: at("b", "k = 1")}}},
		"the least":            {claimText{Least: "a, k = 2"}, []pair{{Less: at("a", "k = 2"), Than: at("a", "k = 1")}, {Less: at("a", "k = 2"), Than: at("a", "k = 3")}}},
		"another quantity":     {claimText{Order: []string{"cost at a, k = 1 < b, k = 1"}}, []pair{{Less: ref{"a", "k = 1", "cost"}, Than: at("b", "k = 1")}}},
		"nobody":               {claimText{Order: []string{"c < a, k = 1"}}, []pair{{Less: ref{"c", "", "wait"}, Than: at("a", "k = 1")}}},
	} {
		c.claim.Quantity = "wait"
		p := page{Claims: []claimText{c.claim}}
		require.Equal(t, c.want, p.claims(chart())[0].Pairs, what)
	}
	p := page{Claims: []claimText{{Quantity: "*", Order: []string{"a, k = 1 < b, k = 1"}}}}
	require.Len(t, p.claims(chart())[0].Pairs, 2, "of both quantities")
}

// A name that is no row's would leave a claim untested, and a figure unseen.
func TestPagesSpeakOfRowsThatThereAre(t *testing.T) {
	for _, e := range drawn() {
		page := e.page()
		require.NoError(t, page.err, e.name)
		program, err := e.program(&page)
		require.NoError(t, err)
		rows := program.(replicated).rows(&page)
		index, err := indexOf(rows)
		require.NoError(t, err)
		for _, c := range page.claims(rows) {
			require.NotEmpty(t, c.Where, c.Text)
			if c.Untested == "" {
				require.NotEmpty(t, slices.Concat(c.Pairs, make([]pair, len(c.Changes))), "%s: %s", e.name, c.Text)
			}
			for _, p := range c.Pairs {
				require.Contains(t, index, p.Less, "%s: %s", e.name, c.Text)
				if p.Than != (ref{}) {
					require.Contains(t, index, p.Than, "%s: %s", e.name, c.Text)
				}
			}
			for _, ch := range c.Changes {
				require.Contains(t, index, ch.Of, "%s: %s", e.name, c.Text)
				require.Contains(t, index, ch.From, "%s: %s", e.name, c.Text)
			}
		}
		for _, figures := range []map[string]string{page.Paper, page.Code} {
			for label := range figures {
				require.True(t, slices.ContainsFunc(rows, func(r tableRow) bool { return r.label() == label }), "%s: %s", e.name, label)
			}
		}
	}
	for _, e := range field() {
		page := e.page()
		_, err := e.program(&page)
		require.NoError(t, err)
	}
}

func TestTextsOfAPageAreFilledFromItsProgram(t *testing.T) {
	p := page{Cycles: 40, Settings: []settingText{
		{Facts: "environment", Sources: map[string]string{"nodes": "X 1", "price": "ours: cheap"}},
		{Name: "cycles", Value: "{{cycles}} of {{list .Steps}}", From: "X 2"},
		{Name: "load", Value: "as {{fact `text` `load`}}", From: "X 3"},
	}}
	table, err := p.table(generating{[]int{1, 2, 3}})
	require.NoError(t, err)
	require.Equal(t, []setting{
		{"nodes", "24", "X 1"}, {"price", "1", "ours: cheap"}, {"cycles", "40 of 1, 2, 3", "X 2"}, {"load", "as 20%", "X 3"},
	}, table.settings)
	p.Settings[1].Value = "{{.Nothing}}"
	_, err = p.table(generating{})
	require.ErrorContains(t, err, "Nothing")
}

// generating is a program that has two generators.
type generating struct{ Steps []int }

func (generating) facts() facts {
	return facts{"environment": {{Name: "nodes", Value: "24"}, {Name: "price", Value: "1"}}, "text": {{Name: "load", Value: "20%"}}}
}

func TestAnExperimentWithoutAPageSaysSo(t *testing.T) {
	_, err := with("nothing", read[searches](t, "aep")).Run(t.Context(), Config{})
	require.ErrorContains(t, err, "no file of papers has a page of the experiment nothing")
	_, err = with("aep", struct{}{}).Run(t.Context(), Config{})
	require.ErrorContains(t, err, "has no program")
}
