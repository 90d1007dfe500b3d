package slurmcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/policy/slurm"
)

// Two accounts without shares tie, since both have the level 0. Slurm ranks the users of one account behind
// those of the other all the same, where only the best user ties with whoever was ranked last
// (_count_tied_accounts of fair_tree.c stops at the next account, so that nothing is merged).
func TestUsersOfAccountsThatTieAreNotRankedTogether(t *testing.T) {
	b := newBook("add account a fairshare=0\nadd account b fairshare=0\nadd user a1 account=a\nadd user a2 account=a\nadd user b1 account=b\nadd user b2 account=b\n", &slurm.Config{}, 0)
	for user, used := range map[owner]float64{{"a1", "a"}: 1, {"a2", "a"}: 2, {"b1", "b"}: 1, {"b2", "b"}: 2} {
		b.find[user].usage = used
	}
	b.share()
	got := map[string]float64{}
	for _, u := range b.users {
		got[u.name] = u.factor
	}
	require.Equal(t, map[string]float64{"root": 1, "a1": 4. / 5, "a2": 3. / 5, "b1": 3. / 5, "b2": 1. / 5}, got)
}
