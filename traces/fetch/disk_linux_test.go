package fetch

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFullDiskLeavesAPartThatIsGoneOnWithWhenThereIsRoom(t *testing.T) {
	a, disk := serve(t, gzipped(swf(1, 50_000))), t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "none", disk).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	require.Greater(t, len(a.content), 256<<10)
	_, err := Log(t.Context(), name, a.options(disk))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "are kept, and the same call goes on from there")
	require.NoError(t, exec.Command("mount", "-o", "remount,size=16m", disk).Run())
	f, err := Log(t.Context(), name, a.options(disk))
	require.NoError(t, err)
	require.Positive(t, f.Resumed)
	require.Equal(t, a.content, content(t, f.Path))
}
