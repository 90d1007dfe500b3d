package sweep

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test's executable is built without a commit, so that its checksum must tell it.
func TestAProgramOfNoCommitIsToldByItsChecksum(t *testing.T) {
	path, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	build := Build("gridslot 9.9")
	require.Contains(t, build, "gridslot 9.9 ")
	require.Contains(t, build, fmt.Sprintf(" executable %x", sha256.Sum256(text))[:40])
	require.Equal(t, build, Build("gridslot 9.9"))
}
