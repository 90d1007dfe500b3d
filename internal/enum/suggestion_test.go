package enum_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/internal/enum"
)

func TestANameThatIsWrittenWronglyIsToldTheOneThatIsMeant(t *testing.T) {
	known := []string{"fcfs", "easy", "easy-sjbf", "conservative", "kill", "on", "0.9"}
	for name, want := range map[string]string{
		"esay":         `: did you mean "easy"?`, // two letters swapped
		"eas":          `: did you mean "easy"?`, // one left out
		"easyy":        `: did you mean "easy"?`, // one too many
		"kil":          `: did you mean "kill"?`,
		"easy_sjfb":    `: did you mean "easy-sjbf"?`,
		"consrvativee": `: did you mean "conservative"?`,
		"conservation": `: did you mean "conservative"?`,
		"consrvatio":   "",
		"fast":         "", // half of the letters are others
		"no":           "", // a short name is another name
		"0.8":          "", // a number is another number
		"":             "",
	} {
		require.Equal(t, want, enum.Suggestion(name, known), name)
	}
	require.Empty(t, enum.Suggestion("easy", nil))
	for name, known := range map[string]string{"policy": "policies", "policies": "policy"} { // three mistakes
		require.Equal(t, `: did you mean "`+known+`"?`, enum.Suggestion(name, []string{"price", known}))
	}
}

func TestAnUnknownNameSuggestsAKnownOne(t *testing.T) {
	require.EqualError(t, enum.Unknown("figure", "gant", []string{"gantt", "queue"}), `figure "gant": want gantt, queue: did you mean "gantt"?`)
	_, err := colours.Parse("geren")
	require.EqualError(t, err, `colour "geren": want red, green or blue: did you mean "green"?`)
}
