package indir

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoLinkAndNoNameLeadsOutOfAFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own"), []byte("o"), 0o666))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "whole")))
	require.NoError(t, os.Symlink(filepath.Join("..", filepath.Base(outside), "secret"), filepath.Join(dir, "relative")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "runs")))
	require.NoError(t, os.Symlink("own", filepath.Join(dir, "inside")))
	for name, link := range map[string]string{"whole": "whole", "relative": "relative", "runs/secret": "runs", "../" + filepath.Base(outside) + "/secret": ".."} {
		_, err := ReadFile(dir, name)
		var escapes *LinkError
		require.ErrorAs(t, err, &escapes, name)
		require.Equal(t, filepath.Join(dir, link), escapes.Path)
		require.ErrorContains(t, err, filepath.Join(dir, link)+" leads out of its folder")
		_, err = Open(dir, name)
		require.ErrorAs(t, err, &escapes, name)
	}
	for _, name := range []string{"own", "inside"} {
		text, err := ReadFile(dir, name)
		require.NoError(t, err)
		require.Equal(t, "o", string(text))
	}
	_, err := ReadFile(dir, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "open "+filepath.Join(dir, "none")+": no such file or directory")
}

func TestTheFolderItselfMayBeALink(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "scratch")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own"), []byte("o"), 0o666))
	require.NoError(t, os.Symlink(dir, link))
	text, err := ReadFile(link, "own")
	require.NoError(t, err)
	require.Equal(t, "o", string(text))
}
