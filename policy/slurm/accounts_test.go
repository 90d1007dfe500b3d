package slurm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two accounts without shares tie at the level 0. Slurm does not rank their users together: those of the second
// account come behind those of the first, and only the best of them ties with whoever was ranked last.
func TestUsersOfAccountsThatTieAreNotRankedTogether(t *testing.T) {
	a, _, err := ReadAccounts("f", strings.NewReader("add account a fairshare=0\nadd account b fairshare=0\n"+
		"add user a1 account=a\nadd user a2 account=a\nadd user b1 account=b\nadd user b2 account=b\n"))
	require.NoError(t, err)
	for _, account := range []string{"a", "b"} {
		a.find(account, account+"1").charge(1)
		a.find(account, account+"2").charge(2)
	}
	a.rankShares()
	got := map[string]float64{}
	for at := range a.all {
		if at.isUser {
			got[at.name] = at.factor
		}
	}
	require.Equal(t, map[string]float64{"root": 1, "a1": 4. / 5, "a2": 3. / 5, "b1": 3. / 5, "b2": 1. / 5}, got)
}

// The answers of associationOf are remembered, until an account gets another user or a user another default account.
func TestOwnersAreRememberedUntilAccountsChange(t *testing.T) {
	a, _, err := ReadAccounts("f", strings.NewReader("add account a\nadd account b\nadd user u account=b\n"))
	require.NoError(t, err)
	ofUser, ofAccount := &Job{User: "u"}, &Job{User: "u", Account: "a"}
	for range 2 {
		require.Same(t, a.find("b", "u"), a.associationOf(ofUser))
		require.Nil(t, a.associationOf(ofAccount))
	}
	for _, step := range []struct{ command, of string }{{"add user u account=a", "a"}, {"modify user u set defaultaccount=b", "b"}} {
		_, err := a.command(strings.Fields(step.command))
		require.NoError(t, err)
		require.Same(t, a.find(step.of, "u"), a.associationOf(ofUser), step.command)
		require.Same(t, a.find("a", "u"), a.associationOf(ofAccount), step.command)
	}
}
