package yamlfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type settings struct {
	Pair  [2]string `yaml:"pair"`
	Count int       `yaml:"count"`
	Sites []struct {
		Speed float64 `yaml:"speed"`
	} `yaml:"sites"`
}

func TestDecode(t *testing.T) {
	var into settings
	_, err := Decode([]byte("pair: [a, b]\ncount: 3"), &into)
	require.NoError(t, err)
	require.Equal(t, settings{Pair: [2]string{"a", "b"}, Count: 3}, into)
}

func TestWhatCannotBeReadIsSaidInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "the file is empty",
		"cuont: 3":             `line 1, column 1: there is no key "cuont": did you mean "count"?`,
		"elephants: 3":         `line 1, column 1: there is no key "elephants"`,
		"count: 1\ncount: 2":   `line 2, column 1: the key "count" is there twice`,
		"count: many":          `line 1, column 8: count: want a whole number, not "many"`,
		"sites:\n- speed: x":   `line 2, column 10: speed: want a number, not "x"`,
		"sites: 3":             `line 1, column 8: sites: want a list, [A, B], not 3`,
		"pair: [a, b, c]":      "too long",
		"count: [1":            "line 1, column 8: this is no YAML",
		"count: 1e400":         "count",
		"count: !!binary 3\n-": "line",
	} {
		_, err := Decode([]byte(text), &settings{})
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestOfALongTextTheBeginningIsTold(t *testing.T) {
	_, err := Decode([]byte(strings.Repeat("a table|of text\n", 1000)), &settings{})
	require.ErrorContains(t, err, `not "a table|of text a table|of text`)
	require.ErrorContains(t, err, `"...`)
	require.Less(t, len(err.Error()), 250)
}

func TestErrorsTellTheirPlace(t *testing.T) {
	f, err := Decode([]byte("count: 3\nsites:\n  - speed: 1\n  - {speed: 2}\n"), &settings{})
	require.NoError(t, err)
	require.True(t, f.Has("sites", 1, "speed"))
	require.False(t, f.Has("sites", 2))
	require.EqualError(t, f.Wrong("want 1", "sites", 1, "speed"), "line 4, column 13: speed: want 1, not 2")
	require.EqualError(t, f.Wrong("want a name", "sites", 0, "name"), "line 3, column 5: name: want a name; the key is missing")
	require.EqualError(t, f.Wrong("want a pair", "pair"), "pair: want a pair; the key is missing")
}

func FuzzDecode(f *testing.F) {
	f.Add("pair: [a, b]\ncount: 3\nsites: [{speed: 1}]")
	f.Fuzz(func(t *testing.T, text string) {
		if doc, err := Decode([]byte(text), &settings{}); err == nil {
			doc.Has("sites", 0, "speed")
		}
	})
}
