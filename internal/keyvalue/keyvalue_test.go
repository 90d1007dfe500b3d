package keyvalue_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/internal/keyvalue"
)

func TestReadSetsWhatIsGiven(t *testing.T) {
	n, word, m := 7, "", 3
	keys := []keyvalue.Key{
		keyvalue.To("n", "N", &n, strconv.Atoi),
		keyvalue.To("m", "N", &m, strconv.Atoi),
		{Name: "word", Form: "TEXT", Set: func(value string) error { word = value; return nil }},
	}
	require.NoError(t, keyvalue.Read("word=a=b:n=5", keys...))
	require.Equal(t, []any{5, "a=b", 3}, []any{n, word, m})
	for text, want := range map[string]string{
		"":          `want NAME=VALUE, not "": n=N, m=N or word=TEXT`,
		"n":         `want NAME=VALUE, not "n": n=N, m=N or word=TEXT`,
		"n=1:":      `want NAME=VALUE, not "": n=N, m=N or word=TEXT`,
		"wort=1":    `there is no "wort": want n=N, m=N or word=TEXT: did you mean "word"?`,
		"n=1:n=2":   "n is given twice",
		"m=4:n=six": `n: strconv.Atoi: parsing "six": invalid syntax`,
	} {
		require.EqualError(t, keyvalue.Read(text, keys...), want, text)
	}
	require.Equal(t, []int{1, 4}, []int{n, m}, "a value that cannot be read changes nothing")
	require.EqualError(t, keyvalue.Read("m=1", keys[0]), `there is no "m": want n=N`)
}
