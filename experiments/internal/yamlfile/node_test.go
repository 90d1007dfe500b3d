package yamlfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATreeKeepsTheOrderOfKeysAndTextsAsTheyStand(t *testing.T) {
	n, err := Read([]byte("# a comment\nz: [0.70, \"a b\", yes, ~, 1e3]\na: {y: 1, x: 2}\nlist:\n- one\n- two: |\n    lines\n"))
	require.NoError(t, err)
	require.Equal(t, Settings, n.Kind)
	require.Equal(t, []string{"z", "a", "list"}, []string{n.Keys[0].Name, n.Keys[1].Name, n.Keys[2].Name})
	var texts []string
	for _, item := range n.Get("z").Items {
		texts = append(texts, item.Text)
	}
	require.Equal(t, []string{"0.70", "a b", "yes", "", "1e3"}, texts)
	require.Equal(t, Nothing, n.Get("z").Items[3].Kind)
	require.Equal(t, "y", n.Get("a").Keys[0].Name)
	require.Equal(t, "lines\n", n.Get("list").Items[1].Get("two").Text)
	require.Nil(t, n.Get("b"))
	require.EqualError(t, n.Get("a").Get("x").Errorf("want %d", 3), "line 3, column 14: want 3")
	require.EqualError(t, n.Keys[2].Errorf("no"), "line 4, column 1: no")
}

func TestNamesOfOtherValuesAreFollowed(t *testing.T) {
	n, err := Read([]byte("a: &loads [0.7, 0.9]\nb: *loads\n"))
	require.NoError(t, err)
	require.Equal(t, "0.9", n.Get("b").Items[1].Text)
	require.EqualError(t, n.Get("b").Errorf("no"), "line 2, column 4: no", "a value that has a name is where it is used")
	require.EqualError(t, n.Get("b").Items[1].Errorf("no"), "line 1, column 17: no")
	_, err = Read([]byte("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n"))
	require.ErrorContains(t, err, "line 3, column 3: settings cannot be merged here: write them out")
}

func TestWhatIsNoTreeIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "the file is empty",
		"# only a comment\n": "the file is empty",
		"a: 1\na: 2":         `line 2, column 1: the key "a" is there twice`,
		"a: [1":              "this is no YAML",
		"- 1\n- 2":           "want settings",
		"a: 1\n---\nb: 2":    "line 2, column 1: a second document begins here (---): want one",
		"just a word":        "want settings",
		"a: *b":              "b",
		"a: " + strings.Repeat("[", 60) + strings.Repeat("]", 60): "line 1, column 54: it goes deeper than 50 levels",
	} {
		_, err := Read([]byte(text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestAFewLinesOfNamesDoNotTakeAllMemory(t *testing.T) {
	text := "a0: &a0 [x, y, z]\n"
	for i := 1; i < 12; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	_, err := Read([]byte(text))
	require.ErrorContains(t, err, "names of other values (*NAME) make more than 1000000 values of it")

	text = "a: &a [" + strings.Repeat("x, ", 1000) + "]\n"
	_, err = Read([]byte(text + "b: [" + strings.Repeat("*a, ", 1000) + "]\n"))
	require.ErrorContains(t, err, "make more than 1000000 values of it")
}

func TestAMarkOfTheByteOrderIsNoPartOfAKey(t *testing.T) {
	n, err := Read([]byte("\ufeffa: 1\n"))
	require.NoError(t, err)
	require.Equal(t, "a", n.Keys[0].Name)
	require.EqualError(t, n.Get("a").Errorf("no"), "line 1, column 4: no")
}

func FuzzRead(f *testing.F) {
	f.Add("a: &x [0.7, {b: *x}]\nc: {d: ~, e: |\n  text\n}")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := Read([]byte(text)); err == nil && n.Kind != Settings {
			t.Fatal(n)
		}
	})
}

func TestNestingIsBoundedBeforeItIsParsed(t *testing.T) {
	for name, text := range map[string]string{
		"brackets":          "policies: " + strings.Repeat("[", 40_000),
		"braces":            "a: " + strings.Repeat("{a: ", 40_000),
		"over lines":        "a:\n" + strings.Repeat(" [\n", 40_000),
		"dashes":            strings.Repeat("- ", 40_000) + "a",
		"behind a text":     "a: \"it's\"\nb: " + strings.Repeat("[", 40_000),
		"behind a sharp":    "a: [\"# \", " + strings.Repeat("[", 40_000),
		"questions of keys": strings.Repeat("? ", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read([]byte(text))
			require.ErrorContains(t, err, "within each other more than 500 deep")
			require.ErrorContains(t, err, "line ")
		})
	}
	for _, text := range []string{
		strings.Repeat("# it holds over [0, 10)\n", 2_000) + "a: 1\n",
		"a: [" + strings.Repeat("[1], ", 2_000) + "[2]]\n",
		"a:\n" + strings.Repeat("- {a: [1, 2]}\n", 2_000),
	} {
		_, err := Read([]byte(text))
		require.NoError(t, err)
	}
}

func TestTheDepthOfNestingIsCountedExactly(t *testing.T) {
	deep := func(n int) string { return "a: " + strings.Repeat("[", n) + "1" + strings.Repeat("]", n) }
	read := func(text string) error {
		_, err := Read([]byte(text))
		return err
	}
	require.Zero(t, tooDeep([]byte(deep(mostNested))))
	require.ErrorContains(t, read(deep(mostNested+1)), "line 1: lists and maps stand within each other more than 500 deep")
	require.NoError(t, read(deep(deepest-1)))
	require.ErrorContains(t, read(deep(deepest+1)), "it goes deeper than 50 levels")
	err := read("text: \"" + strings.Repeat("]", 100) + "\"\n" + deep(mostNested+1))
	require.ErrorContains(t, err, "line 2: ", "brackets that close in a text make no room for others")
}
