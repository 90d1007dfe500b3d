package atomicfile

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var ns []string
	for _, e := range entries {
		ns = append(ns, e.Name())
	}
	return ns
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestCommitPutsTheFileInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	f, err := Create(path)
	require.NoError(t, err)
	_, err = io.WriteString(f, "whole")
	require.NoError(t, err)
	require.NoFileExists(t, path, "before Commit")
	require.NoError(t, f.Commit())
	f.Abort()
	require.Equal(t, "whole", content(t, path))
	require.Equal(t, []string{"a.csv"}, names(t, filepath.Dir(path)))
}

func TestAbortLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	f, err := Create(path)
	require.NoError(t, err)
	_, err = io.WriteString(f, "ne")
	require.NoError(t, err)
	f.Abort()
	require.Error(t, f.Commit())
	require.Equal(t, "old", content(t, path))
	require.Equal(t, []string{"a.csv"}, names(t, filepath.Dir(path)))
}

func TestFailedWriteIsToldByCommitAndLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	f, err := Create(path)
	require.NoError(t, err)
	require.NoError(t, f.file.Close()) // whatever is written now fails
	_, err = io.WriteString(f, "lost")
	require.ErrorContains(t, err, "writing "+path)
	require.Equal(t, err, f.Commit())
	require.Empty(t, names(t, filepath.Dir(path)))
}

func TestFullDiskIsNamedByItsPath(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	f, err := Create("/dev/full")
	require.NoError(t, err)
	_, err = io.WriteString(f, "lost")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.EqualError(t, f.Commit(), "writing /dev/full: no space left on device")
}

func TestMissingFolderIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "a.csv")
	_, err := Create(path)
	require.EqualError(t, err, "writing "+path+": no such file or directory")
}

func TestUnwritableFolderIsNamed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	_, err := Create(filepath.Join(dir, "a.csv"))
	require.ErrorIs(t, err, os.ErrPermission)
}

func TestFolderIsNoFile(t *testing.T) {
	_, err := Create(t.TempDir())
	require.ErrorContains(t, err, "is a directory")
}

func TestALinkIsReplacedAndWhatItLeadsToStays(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	target, link := filepath.Join(outside, "secret"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o666))
	for _, write := range []func(string, func(io.Writer) error) error{
		Write,
		func(path string, write func(io.Writer) error) error {
			root, err := os.OpenRoot(filepath.Dir(path))
			require.NoError(t, err)
			defer root.Close()
			return WriteIn(root, filepath.Base(path), write)
		},
	} {
		require.NoError(t, os.Symlink(target, link))
		require.NoError(t, write(link, text("new")))
		require.Equal(t, "new", content(t, link))
		require.Equal(t, "old", content(t, target))
		require.Equal(t, []string{"link"}, names(t, dir))
		require.Equal(t, []string{"secret"}, names(t, outside))
		require.NoError(t, os.Remove(link))
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestALinkThatAUserNamesIsFollowed(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	target, link := filepath.Join(outside, "real"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o666))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, WriteNamed(link, text("new")))
	require.Equal(t, "new", content(t, target))
	require.Equal(t, []string{"link"}, names(t, dir))
	require.Equal(t, []string{"real"}, names(t, outside))
	if _, err := os.Stat("/dev/null"); err == nil {
		null := filepath.Join(dir, "null")
		require.NoError(t, os.Symlink("/dev/null", null))
		require.NoError(t, WriteNamed(null, text("new")))
		require.Equal(t, "", content(t, null), "it is written in place")
		require.NoError(t, Write(null, text("new")))
		require.Equal(t, "new", content(t, null), "in a folder of results it is replaced")
	}
}

func TestALinkOnTheWayLeadsNoWriteOutOfARoot(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "runs")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.ErrorContains(t, WriteIn(root, "runs/a.csv", text("new")), "writing "+filepath.Join(dir, "runs/a.csv"))
	require.ErrorContains(t, WriteIn(root, "../a.csv", text("new")), "writing ")
	require.Empty(t, names(t, outside))
}

func TestCompressedWriterOnTop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gz")
	f, err := Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = io.WriteString(z, "packed")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Commit())
	in, err := os.Open(path)
	require.NoError(t, err)
	defer in.Close()
	r, err := gzip.NewReader(in)
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "packed", string(text))
}

// Whoever reads a file and writes it by another name loses it; a device may be both.
func TestOneFileIsKnownByAllItsPaths(t *testing.T) {
	dir := t.TempDir()
	path, other, link := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.NoError(t, os.WriteFile(other, nil, 0o666))
	require.NoError(t, os.Symlink(path, link))
	require.True(t, Same(path, link))
	require.False(t, Same(path, other), "both are empty, and two files")
	require.False(t, Same(path, filepath.Join(dir, "none")))
	require.False(t, Same(dir, dir), "no regular file")
}
