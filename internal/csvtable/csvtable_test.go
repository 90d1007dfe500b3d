package csvtable

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATableIsReadByTheNamesOfItsColumns(t *testing.T) {
	table, err := Read(strings.NewReader("\ufeffid, price,os\n7,2.5, linux\n8,,\n"), "id", "price")
	require.NoError(t, err)
	require.Equal(t, 2, table.Len())
	var got []any
	for r := range table.Rows() {
		got = append(got, r.Int("id"), r.NumberOr("price", 1), r.Text("os"), r.Has("ram"), r.Err())
	}
	require.Equal(t, []any{7, 2.5, "linux", false, nil, 8, 1.0, "", false, nil}, got)
}

func TestWhatIsWrongWithATableIsSaidWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "it is empty; its first line must name the columns id,price",
		"id\n1\n":          `it has no column "price"; its first line is id`,
		"id,id,price\n":    `it has two columns "id"`,
		"id,price\n1,2,3":  "line 2: it has 3 fields, but the first line names 2 columns: id,price",
		"id,price\n\"1,2":  "this is no CSV",
		"id,price\n\n1,x":  `line 3: price: want a number, not "x"`,
		"id,price\n1,inf":  `line 2: price: want a number, not "inf"`,
		"id,price\n1,":     "line 2: price: want a number, but the field is empty",
		"id,price\n1.5,a":  `line 2: id: want a whole number, not "1.5"`,
		"id,price\n13,1\n": "line 2: unlucky",
	} {
		require.ErrorContains(t, errorOf(text), want, "%q", text)
	}
}

func errorOf(text string) error {
	table, err := Read(strings.NewReader(text), "id", "price")
	if err != nil {
		return err
	}
	for r := range table.Rows() {
		id := r.Int("id")
		r.Number("price")
		if err := r.Err(); err != nil {
			return err
		}
		if id == 13 {
			return r.At(errors.New("unlucky"))
		}
	}
	return nil
}

func FuzzRead(f *testing.F) {
	f.Add("id,price\n1,2\n")
	f.Fuzz(func(t *testing.T, text string) { _ = errorOf(text) })
}
