package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder of results may be one that others can write to: what a link in it leads to is neither
// written nor read, and the folder itself may be a link, as to a file system for large files.
func TestLinksInAFolderOfResultsAreNotFollowed(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.csv")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o666))
	link := func(name string) {
		t.Helper()
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		require.NoError(t, os.Symlink(secret, filepath.Join(dir, name)))
	}
	link("summary.csv")
	link("jobs-easy.csv")
	link("manifest.json")
	trace := write(t, "a.swf", swf("0 100 1 100", "10 100 2 200"))
	scratch := filepath.Join(t.TempDir(), "scratch")
	require.NoError(t, os.Symlink(dir, scratch))
	got := succeed(t, "simulate", trace, "--policy", "easy", "--out", scratch)
	require.Equal(t, "secret", read(t, outside, "secret.csv"))
	require.Contains(t, read(t, dir, "summary.csv"), "easy,")
	jobs := filepath.Join(dir, "jobs-easy.csv")
	for _, args := range [][]string{{"report", scratch}, {"explain", scratch}, {"plot", scratch, "policies"}, {"validate", jobs, trace}} {
		succeed(t, args...)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "figures")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "figures")))
	got = exits(t, exitFailed, "plot", dir, "policies")
	require.Contains(t, got.stderr, filepath.Join(dir, "figures")+" leads out of its folder")
	link("report.html")
	require.Equal(t, exitOK, call("report", dir).code)
	require.Equal(t, []string{"secret.csv"}, files(t, outside))
	require.Equal(t, "secret", read(t, outside, "secret.csv"))

	own := filepath.Join(t.TempDir(), "page.html") // a link that the user names is followed
	require.NoError(t, os.Symlink(filepath.Join(outside, "page.html"), own))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "page.html"), nil, 0o666))
	require.Equal(t, exitOK, call("report", dir, "-o", own).code)
	require.NotEmpty(t, read(t, outside, "page.html"))

	for name, readers := range map[string][][]string{
		"jobs-easy.csv":  {{"report", dir}, {"explain", dir}, {"validate", jobs, trace}},
		"queue-easy.csv": {{"report", dir}},
		"summary.csv":    {{"report", dir}, {"plot", dir, "-o", t.TempDir()}},
		"manifest.json":  {{"report", dir}, {"plot", dir, "-o", t.TempDir()}, {"explain", dir}, {"explain", dir, "1"}},
	} {
		kept := read(t, dir, name)
		link(name)
		for _, args := range readers {
			got := exits(t, exitFailed, args...)
			require.Contains(t, got.stderr, filepath.Join(dir, name)+" leads out of its folder", args)
		}
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(kept), 0o666))
	}

	// Nor is a name that leads out, in a manifest or in a plan.
	manifest := read(t, dir, "manifest.json")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "jobs-"), 0o777))
	out := "../" + filepath.Base(outside) + "/secret"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(strings.ReplaceAll(manifest, `"jobs-easy.csv"`, `"jobs-/../`+out+`.csv"`)), 0o666))
	got = exits(t, exitFailed, "report", dir)
	require.Contains(t, got.stderr, "leads out of its folder")
}

func TestAKeyOfAPlanIsNoPath(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.csv"), []byte("policy,seed,mean_wait\neasy,1,5\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.csv"), []byte("index,key,seed,policy\n0,../../x,1,easy\n"), 0o666))
	got := exits(t, exitFailed, "report", dir, "--table", "markdown")
	require.Contains(t, got.stderr, filepath.Join(dir, "plan.csv")+`: line 2: column key: want 32 hexadecimal digits, not "../../x"`)
}
