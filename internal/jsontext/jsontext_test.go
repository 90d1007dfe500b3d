package jsontext

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

type sample struct {
	Name  string    `json:"name"`
	Size  float64   `json:"size"`
	Count int32     `json:"count"`
	Sum   uint64    `json:"sum"`
	Yes   *bool     `json:"yes"`
	Parts []float64 `json:"parts"`
	In    struct {
		X float64 `json:"x"`
	} `json:"in"`
}

func TestWhatIsWrongIsSaidInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    "line 1: this is no JSON: it is empty",
		"{\n\"name\": \"a\",\n":               "line 2: this is no JSON: it ends too early",
		"{\n\"name\" \"a\"}":                  "line 2: this is no JSON: a colon is wanted",
		`{"name": }`:                          "line 1: this is no JSON: a value is wanted",
		`{name: 1}`:                           "line 1: this is no JSON: a key in quotes is wanted",
		`{"name": "a" "size": 1}`:             "line 1: this is no JSON: a comma or } is wanted",
		`{"parts": [1 2]}`:                    "line 1: this is no JSON: a comma or ] is wanted",
		"{\"name\": \"a\nb\"}":                "line 1: this is no JSON: a text does not go on like this",
		`{"size": 1.x}`:                       "line 1: this is no JSON: a number does not go on like this",
		`{"size": -x}`:                        "line 1: this is no JSON: a number does not go on like this",
		`{"yes": trun}`:                       "line 1: this is no JSON: true, false or null is wanted",
		`{} {}`:                               "line 1: this is no JSON: there is more behind its end",
		"{\"name\": \"a\",\n\"size\": \"b\"}": "line 2: size: want a number, not text",
		`{"count": 1.5}`:                      "line 1: count: want a whole number, not 1.5",
		`{"count": 1e10}`:                     "line 1: count: want a whole number, not 1e10",
		`{"sum": -1}`:                         "line 1: sum: want a whole number of 0 or more, not -1",
		`{"size": 1e400}`:                     "line 1: size: want a number, not 1e400",
		`{"name": 5}`:                         "line 1: name: want text, not a number",
		`{"yes": []}`:                         "line 1: yes: want true or false, not a list",
		`{"parts": {}}`:                       "line 1: parts: want a list, [A, B], not settings",
		`{"in": true}`:                        `line 1: in: want settings, {"KEY": VALUE}, not true or false`,
		`{"in": {"x": "y"}}`:                  "line 1: in.x: want a number, not text",
		`[]`:                                  `line 1: want settings, {"KEY": VALUE}, not a list`,
	} {
		require.EqualError(t, Decode([]byte(text), new(sample)), want, text)
	}
	require.NoError(t, Decode([]byte(`{"name": "a", "other": 1}`), new(sample)))
}

// foreign are words of the reader of JSON itself.
var foreign = regexp.MustCompile(`json|unmarshal|Go |character|top-level|literal`)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name": "a", "size": 1.5, "count": 3, "yes": true, "parts": [1, 2], "in": {"x": 1e5}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := Decode(text, new(sample)); err != nil {
			require.NotRegexp(t, foreign, err.Error())
		}
	})
}
