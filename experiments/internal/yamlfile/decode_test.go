package yamlfile

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type settings struct {
	Pair  [2]string `yaml:"pair"`
	Count int       `yaml:"count"`
	Any   *Node     `yaml:"any"`
	File  string    `yaml:"file" want:"the name of a file"`
	On    bool      `yaml:"on"`
	Own   int       `yaml:"-"`
	Sites []struct {
		Speed float64 `yaml:"speed"`
	} `yaml:"sites"`
}

// decode reads settings from a text.
func decode(text string) (into settings, root *Node, err error) {
	if root, err = Read([]byte(text)); err == nil {
		err = root.Decode(&into)
	}
	return into, root, err
}

func TestDecode(t *testing.T) {
	into, _, err := decode("pair: [a, b]\ncount: 3")
	require.NoError(t, err)
	require.Equal(t, settings{Pair: [2]string{"a", "b"}, Count: 3}, into)
}

func TestNumbersAreReadAsProgramsWriteThem(t *testing.T) {
	for text, want := range map[string]int{"3": 3, "0x10": 16, "1e3": 1000, "2.0": 2, `"7"`: 7, "-1": -1, "~": 0, "9223372036854775807": 1<<63 - 1} {
		into, _, err := decode("count: " + text)
		require.NoError(t, err, text)
		require.Equal(t, want, into.Count, text)
	}
	into, _, err := decode("pair: [0x10, true]\nsites: [{speed: 3}, {speed: \"0.5\"}, {speed: .inf}]\nany: {a: [1]}")
	require.NoError(t, err)
	require.Equal(t, [2]string{"16", "true"}, into.Pair)
	require.Equal(t, []float64{3, 0.5, math.Inf(1)}, []float64{into.Sites[0].Speed, into.Sites[1].Speed, into.Sites[2].Speed})
	require.Equal(t, "1", into.Any.Get("a").Items[0].Text)
}

func TestWhatCannotBeReadIsSaidInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "the file is empty",
		"cuont: 3":                   `line 1, column 1: there is no key "cuont": did you mean "count"?`,
		"elephants: 3":               `line 1, column 1: there is no key "elephants"`,
		"count: 1\ncount: 2":         `line 2, column 1: the key "count" is there twice`,
		"count: many":                `line 1, column 8: count: want a whole number, not "many"`,
		"sites:\n- speed: x":         `line 2, column 10: speed: want a number, not "x"`,
		"sites: 3":                   `line 1, column 8: sites: want a list, [A, B], not 3`,
		"pair: [a, b, c]":            "too long",
		"count: [1":                  "line 1, column 8: this is no YAML",
		"count: 1e400":               "count",
		"count: 1e30":                "line 1, column 8: count: the number 1e30 is too large",
		"count: 9223372036854775808": "line 1, column 8: count: the number 9223372036854775808 is too large",
		"\"-\": 1":                   `line 1, column 1: there is no key "-"`,
		"count: 3.5":                 "line 1, column 8: count: want a whole number, not 3.5",
		"count: .nan":                "line 1, column 8: count: want a whole number, not .nan",
		"count: true":                "line 1, column 8: count: want a whole number, not true",
		"on: yes":                    `line 1, column 5: on: want true or false, not "yes"`,
		"file: {a: 1}":               "line 1, column 7: file: want the name of a file, not settings",
		"sites: [{count: 1}]":        `line 1, column 10: there is no key "count" here; it belongs to another part of the file: there are `,
		"count: !!binary 3\n-":       "line",
	} {
		_, _, err := decode(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

// A key is likened to keys of its own place first: elsewhere another one may be nearer.
func TestAKeyIsLikenedToThoseOfItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"sites: [{spede: 2}]": `there is no key "spede": did you mean "speed"?`,
		"sites: [{cuont: 1}]": `there is no key "cuont": there are speed`,
		"cuont: 1":            `there is no key "cuont": did you mean "count"?`,
	} {
		_, _, err := decode(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestErrorsOfAPartNameItsKey(t *testing.T) {
	root, err := Read([]byte("part: {cuont: 3}\nother: 3"))
	require.NoError(t, err)
	require.EqualError(t, root.Get("part").DecodeAs("part", new(settings)), `line 1, column 8: part: there is no key "cuont": did you mean "count"?`)
	require.EqualError(t, root.Get("other").DecodeAs("other", new(settings)), "line 2, column 8: other: want settings, {KEY: VALUE}, not 3")
}

func TestOfALongTextTheBeginningIsTold(t *testing.T) {
	_, _, err := decode(strings.Repeat("a table|of text\n", 1000))
	require.ErrorContains(t, err, `not "a table|of text a table|of text`)
	require.ErrorContains(t, err, `"...`)
	require.Less(t, len(err.Error()), 250)
}

func TestErrorsTellTheirPlace(t *testing.T) {
	_, root, err := decode("count: 3\nsites:\n  - speed: 1\n  - {speed: 2}\n")
	require.NoError(t, err)
	require.NotNil(t, root.Find("sites", 1, "speed"))
	require.Nil(t, root.Find("sites", 2))
	require.EqualError(t, root.Unwanted("want 1", "sites", 1, "speed"), "line 4, column 13: speed: want 1, not 2")
	require.EqualError(t, root.Unwanted("want a name", "sites", 0, "name"), "line 3, column 5: name: want a name; the key is missing")
	require.EqualError(t, root.ErrorAt(errors.New("no"), "sites", 1, "links", 2), "line 4, column 5: no", "the place of what is there")
	require.EqualError(t, root.Unwanted("want a pair", "pair"), "pair: want a pair; the key is missing")
}

func FuzzDecode(f *testing.F) {
	f.Add("pair: [a, b]\ncount: 3\nsites: [{speed: 1}]")
	f.Fuzz(func(t *testing.T, text string) {
		if _, root, err := decode(text); err == nil {
			root.Find("sites", 0, "speed")
		}
	})
}
