package enum_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/internal/enum"
)

type colour uint8

var colours = enum.Of[colour]("colour", "red", "green", "blue")

func TestNamesGoBothWays(t *testing.T) {
	for i, name := range []string{"red", "green", "blue"} {
		v, err := colours.Parse(name)
		require.NoError(t, err)
		require.Equal(t, colour(i), v)
		require.Equal(t, name, colours.Name(v))
	}
	require.Equal(t, "colour(3)", colours.Name(3))
}

func TestAnUnknownNameSaysWhatThereIs(t *testing.T) {
	_, err := colours.Parse("pink")
	var unknown *enum.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "red, green or blue", unknown.Want)
	require.EqualError(t, err, `colour "pink": want red, green or blue`)
	require.Equal(t, "on or off", enum.Of[colour]("switch", "on", "off").Want())
	require.Equal(t, "only", enum.Of[colour]("switch", "only").Want())
}
