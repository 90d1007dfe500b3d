package window_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/policy/window"
)

// Whoever chooses a search by its name reads there what it returns, and no two searches return
// the same in the same words.
func TestEverySearchSaysWhatItReturns(t *testing.T) {
	for _, kind := range []window.Kind{window.Rough, window.Square} {
		named := map[string]string{}
		for _, name := range window.Names(kind) {
			text := window.Text(kind, name)
			require.NotEmpty(t, text, name)
			require.Empty(t, named[text], "%s and %s", name, named[text])
			named[text] = name
		}
	}
	require.Empty(t, window.Text(window.Rough, "dep"))
}
