package expression_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/expression"
)

type thing struct {
	x, y float64
	user string
	id   float64
}

func number(of func(*thing) float64) expression.Number[*thing] {
	return func(a *thing, _ des.Time) float64 { return of(a) }
}

var language = expression.Language[*thing]{
	Noun: "filter", Example: "x > 3",
	Fields: []expression.Field[*thing]{
		{Name: "x", Number: number(func(a *thing) float64 { return a.x })},
		{Name: "y", Number: number(func(a *thing) float64 { return a.y })},
		{Name: "user", Number: number(func(a *thing) float64 { return a.id }), Text: func(a *thing, _ des.Time) string { return a.user }},
		{Name: "name", Text: func(a *thing, _ des.Time) string { return a.user }},
		{Name: "kind", Text: func(*thing, des.Time) string { return "a" }, Values: []string{"a", "b"}},
		{Name: "hour", Missing: "nobody has a watch"},
		{Name: "now", Number: func(_ *thing, now des.Time) float64 { return now.Seconds() }},
	},
	Column: func(name string) (expression.Field[*thing], bool) {
		return expression.Field[*thing]{Name: name, Number: number(func(*thing) float64 { return 7 })}, name == "gpus" || name == "two words"
	},
}

func holds(t require.TestingT, text string, a *thing) bool {
	is, _, err := language.Condition(text)
	require.NoError(t, err, text)
	return is(a, 5*des.Second)
}

func TestConditionsHoldOrDoNot(t *testing.T) {
	alice := &thing{x: 3, y: 2.5, user: "alice", id: 374}
	for text, want := range map[string]bool{
		"x in 1..3": true, "x in 3..4": true, "x in 4..5": false, "x in 1..2": false, "y in 1..3": true,
		"x in [1, 3]": true, "x in [3, 1, 2]": true, "x in [-3, +4]": false, "x not in [1, 2]": true, "x in []": false, "y in [2.5]": true, "-x in [-3]": true,
		"user == 374": true, "user == 'alice'": true, "'alice' == user": true, "user == 'bob'": false, "user != 'bob'": true,
		"user in ['bob', 'alice']": true, "user in [374]": true, "user in ['bob', 'carol']": false,
		"user startsWith 'al'": true, "user endsWith 'al'": false, "user endsWith 'ice'": true, "user contains 'lic'": true, "user contains name": true,
		"user startsWith 'li'": false, "user contains 'x'": false,
		"name matches '^a.*e$'": true, "name matches '^b'": false, "not (name matches '^b')": true,
		"name < 'b'": true, "name >= 'b'": false, "upper(name) == 'ALICE'": true, "lower('BOB') == 'bob'": true, "name <= 'alice'": true, "name > 'alice'": false,
		"kind == 'a'": true, "kind != 'a'": false, "kind in ['b']": false,
		"known(x) and known(user) and known(name)": true,
		"column.gpus == 7":                         true, "column['two words'] > 7": false,
		"x > 2 and y < 2 or x == 3": true, "x > 2 and (y < 2 or x == 4)": false, "x < 4 < now": true, "now == 5": true, "x != 3": false,
		"(x > 1 ? 1 : 2) == 1": true, "true": true, "!true": false,
	} {
		require.Equal(t, want, holds(t, text, alice), text)
	}
}

func TestNothingIsTrueOfAnUnknownValueButThatItIsUnknown(t *testing.T) {
	nobody := &thing{x: math.NaN(), y: 1, id: math.NaN()}
	for _, x := range []string{"x", "y + x", "max(x, y)", "x * 0", "-x"} {
		for _, op := range []string{"<", "<=", ">", ">=", "==", "!="} {
			require.False(t, holds(t, x+op+"1", nobody))
			require.False(t, holds(t, "1"+op+x, nobody))
			require.False(t, holds(t, x+op+x, nobody))
		}
		require.False(t, holds(t, x+" in [1, 2]", nobody))
		require.False(t, holds(t, x+" in 0..100", nobody))
		require.False(t, holds(t, "y in 0.."+x, nobody))
		require.False(t, holds(t, x+" not in [1, 2]", nobody))
		require.False(t, holds(t, "("+x+") not in []", nobody))
		require.False(t, holds(t, x+" not in 0..100", nobody))
		require.False(t, holds(t, "y not in 5.."+x, nobody))
		require.True(t, holds(t, "not ("+x+" in [1, 2])", nobody), "not turns a condition round")
		require.True(t, holds(t, "not not not ("+x+" in [1, 2])", nobody))
	}
	for _, op := range []string{"<", "<=", ">", ">=", "==", "!=", " contains ", " startsWith ", " endsWith "} {
		require.False(t, holds(t, "name"+op+"'a'", nobody))
		require.False(t, holds(t, "'a'"+op+"name", nobody))
		require.False(t, holds(t, "user"+op+"upper(name)", nobody))
	}
	require.False(t, holds(t, "name matches '.*'", nobody))
	require.False(t, holds(t, "user in ['a', 'b']", nobody))
	for _, text := range []string{"user not in ['a']", "name not in ['a']", "user not in [1]", "name not matches 'b'", "name not contains 'b'", "'b' not contains name", "name not startsWith 'b'", "name not endsWith 'b'"} {
		require.False(t, holds(t, text, nobody), text)
		require.True(t, holds(t, text, &thing{user: "c", id: 7}), text)
	}
	require.True(t, holds(t, "y not in [2]", nobody))
	require.True(t, holds(t, "y + 1 not in 5..9", nobody))
	require.True(t, holds(t, "not (user in ['a'])", nobody))
	for _, field := range []string{"x", "user", "name"} {
		require.False(t, holds(t, "known("+field+")", nobody))
	}
	require.True(t, holds(t, "known(y)", nobody))
}

func TestWhatIsWrongIsToldWithItsColumn(t *testing.T) {
	for text, want := range map[string]struct {
		column  int
		problem string
	}{
		"":                              {1, "it ends too early"},
		"x > 1e400":                     {9, "1e400 is too large a number"},
		"x > 0x":                        {6, "is no number"},
		"x":                             {1, "a condition is wanted here, such as x > 3, and not x"},
		"x > 3 and y":                   {11, "a condition is wanted here"},
		"x == 'three'":                  {1, "x is a number, and a text is wanted here"},
		"'three' == x":                  {12, "x is a number, and a text is wanted here"},
		"name > 3":                      {8, "a text is wanted here, and not 3"},
		"name in [1]":                   {1, "name is a text"},
		"x in ['a']":                    {1, "x is a number"},
		"x in [1, 'a']":                 {10, "a number is wanted here"},
		"user in ['a', 1]":              {15, "a text between quotes is wanted here"},
		"user in ['']":                  {10, "a text between quotes is wanted here"},
		"x in [y]":                      {7, "a number is wanted here"},
		"x in y":                        {6, "a list or a range is wanted here, such as [1, 2] or 1..64, and not y"},
		"user == ''":                    {9, "no text is empty"},
		"kind == 'c'":                   {9, `kind is one of a, b, never "c"`},
		"'c' != kind":                   {1, `kind is one of a, b, never "c"`},
		"kind in ['a', 'd']":            {15, `kind is one of a, b, never "d"`},
		"x > hour":                      {5, "there is no hour here: nobody has a watch"},
		"known(3)":                      {7, "a field is wanted here"},
		"known(x, y)":                   {1, "known takes one field, not 2"},
		"known(z)":                      {7, `"z" is not known: a filter has + - * /`},
		"name matches '('":              {14, "missing closing )"},
		"name matches user":             {14, "a pattern is wanted here, between quotes"},
		"x matches 'a'":                 {1, "x is a number"},
		"lower(x) == 'a'":               {7, "x is a number"},
		"lower(name, name) == 'a'":      {1, "lower takes one text, not 2"},
		"lower(name) > 1 + lower(name)": {17, "a text is wanted here"},
		"1 + lower(name) > 3":           {5, "lower makes a text"},
		"column.cpus > 1":               {8, `there is no column "cpus"`},
		"columns.gpus > 1":              {9, "no arithmetic"},
		"x > 3 ? true : false":          {20, "a condition is wanted here"},
		"name matches '" + strings.Repeat("a", 1001) + "'": {14, "a pattern has 1000 bytes at most"},
	} {
		_, _, err := language.Condition(text)
		var wrong *expression.Error
		require.ErrorAs(t, err, &wrong, text)
		require.Contains(t, wrong.Problem, want.problem, text)
		require.Equal(t, want.column, wrong.Column, "%s: %s", text, wrong.Problem)
		require.Contains(t, wrong.Error(), "the filter ")
	}
	_, _, err := language.Condition(strings.Repeat("(", 1<<17))
	require.ErrorContains(t, err, "longer than 65536 bytes")
}

func TestFieldsThatAreSpokenOfAreNamed(t *testing.T) {
	_, uses, err := language.Condition("x in 1..y and (known(name) or column.gpus > 3)")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"x", "y", "name", "gpus"}, uses)
}

func TestATextCanBeCheckedBeforeItsFieldsAreKnown(t *testing.T) {
	require.NoError(t, expression.Check("filter", "whatever > 3"))
	require.ErrorContains(t, expression.Check("filter", "whatever > "), `the filter "whatever > ", column 11: it ends too early`)
}

func TestEitherAConditionHoldsOrItsOpposite(t *testing.T) {
	value := rapid.OneOf(rapid.Just(math.NaN()), rapid.Float64Range(-3, 3), rapid.Map(rapid.IntRange(-2, 2), func(n int) float64 { return float64(n) }))
	conditions := []string{"x < y", "x != 1", "x in [1, 2]", "user == 'a'", "user != 'a'", "user contains 'a'", "x in 0..y", "known(user)", "user in ['a']", "name matches 'a'"}
	rapid.Check(t, func(t *rapid.T) {
		a := &thing{x: value.Draw(t, "x"), y: value.Draw(t, "y"), user: rapid.SampledFrom([]string{"", "a", "ab", "b"}).Draw(t, "user"), id: value.Draw(t, "id")}
		e := rapid.SampledFrom(conditions).Draw(t, "e") + rapid.SampledFrom([]string{" and ", " or "}).Draw(t, "op") + rapid.SampledFrom(conditions).Draw(t, "f")
		require.NotEqual(t, holds(t, e, a), holds(t, "not ("+e+")", a), e)
	})
}

func FuzzCondition(f *testing.F) {
	for _, text := range []string{"x in 1..5 and user in ['a', 'b']", "name matches '^a+$' or not known(x)", "column['a'] > 1 ? 1 : 2", "lower(name) startsWith 'x'", "x in [1, -2.5e3]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range []*thing{{x: 1, y: 2, user: "alice", id: 3}, {x: math.NaN(), id: math.NaN()}} {
			is, _, err := language.Condition(text)
			if err != nil {
				require.NotEmpty(t, err.Error())
				return
			}
			not, _, err := language.Condition("not (" + text + ")")
			if err == nil { // the text may end in a comment
				require.NotEqual(t, is(a, 0), not(a, 0))
			}
		}
	})
}

func TestANumberThatIsTooLargeIsSaidInPlainWords(t *testing.T) {
	for _, text := range []string{"1e400", "99999999999999999999", "0x1ffffffffffffffffffff", "0b1" + strings.Repeat("0", 64)} {
		_, _, err := language.Condition("x > " + text)
		require.ErrorContains(t, err, ": "+text+" is too large a number")
		require.NotContains(t, err.Error(), "strconv")
	}
	_, _, err := language.Condition("x > 1e")
	require.ErrorContains(t, err, ": 1e is no number")
}
