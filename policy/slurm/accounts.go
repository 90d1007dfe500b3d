package slurm

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Accounts is the tree of accounts and users with their shares and what they have used.
type Accounts struct {
	qos   map[string]*qos
	root  *association
	users int // associations of users, root's own among them
	// limitsMinutes reports whether anybody has a limit on minutes (GrpTRESRunMins).
	limitsMinutes bool
	// defaults are the accounts of users who name none, where that is not the first one that they are in.
	defaults map[string]string
}

// association is an account, or a user within one. Usage is in seconds of billing.
type association struct {
	name     string
	isUser   bool
	parent   *association
	children []*association
	shares   float64
	usage    float64 // of all below it, decayed up to the last computation of priorities
	level    float64 // shares over usage, each as a part of the siblings'
	factor   float64 // of a user: the fair share, 0 to 1
	group
}

// likeItsParent is what Fairshare says of who takes part in the shares of an account as if the account's were theirs.
const likeItsParent = "parent"

// rootAccount is the name of the account above all, and of its own user.
const rootAccount = "root"

// NewAccounts is a tree of nobody but root, whose user counts among the users.
func NewAccounts() *Accounts {
	a := &Accounts{qos: map[string]*qos{}, defaults: map[string]string{}, root: &association{name: rootAccount, shares: 1}}
	a.add(a.root, rootAccount, true, 1)
	return a
}

func (a *Accounts) add(parent *association, name string, isUser bool, shares float64) *association {
	child := &association{name: name, isUser: isUser, parent: parent, shares: shares}
	parent.children = append(parent.children, child)
	if isUser {
		a.users++
	}
	return child
}

// find is the account, or the user where user is not empty, or nil.
func (a *Accounts) find(account, user string) *association {
	var search func(at *association) *association
	search = func(at *association) *association {
		if at.name == account && !at.isUser {
			if user == "" {
				return at
			}
			for _, child := range at.children {
				if child.isUser && child.name == user {
					return child
				}
			}
			return nil
		}
		for _, child := range at.children {
			if found := search(child); found != nil {
				return found
			}
		}
		return nil
	}
	return search(a.root)
}

// associationOf is the user's association in the account that the job names, or in the first one
// that the user has; nil if there is none.
func (a *Accounts) associationOf(j *Job) *association {
	if j.Account != "" {
		return a.find(j.Account, j.User)
	}
	if at := a.find(a.defaults[j.User], j.User); at != nil && at.isUser {
		return at
	}
	for at := range a.all {
		if at.isUser && at.name == j.User {
			return at
		}
	}
	return nil
}

// mayUse reports whether the user, or the nearest account above that says so, may use a QoS; any
// where nobody says.
func (a *association) mayUse(name string) bool {
	for at := a; at != nil; at = at.parent {
		if at.allowed != nil {
			return slices.Contains(at.allowed, name)
		}
	}
	return true
}

// ReadAccounts reads the commands of sacctmgr that made the accounts, one a line:
//
//	add account NAME [parent=ACCOUNT] [fairshare=SHARES]
//	add user NAME account=ACCOUNT [fairshare=SHARES]
//	add qos NAME [priority=N] [LIMIT=...]
//	modify account|user|qos NAME set LIMIT=...
//
// or what Commands makes such commands of. It returns as well the limits that are not simulated.
func ReadAccounts(name string, r io.Reader) (*Accounts, []Unknown, error) {
	a := NewAccounts()
	var unknown []Unknown
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := bufio.NewScanner(strings.NewReader(Commands(string(text))))
	lines.Buffer(nil, len(text)+bufio.MaxScanTokenSize) // an account can have many users
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		keys, err := a.command(words)
		if err != nil {
			return nil, nil, &ConfigError{name, n, strings.Join(words[:min(len(words), 3)], " "), err}
		}
		for _, key := range keys {
			unknown = missed(unknown, key, n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, unknown, nil
}

// command carries one command of sacctmgr out. It returns the limits that are not simulated.
func (a *Accounts) command(words []string) (missed []string, err error) {
	if len(words) < 3 || words[0] != "add" && words[0] != "modify" {
		return nil, fmt.Errorf("want add or modify, then account, user or qos, a name and KEY=VALUE")
	}
	options := map[string]string{}
	var order []string // of the keys: a key may come several times, with other kinds of amounts
	for _, word := range words[3:] {
		key, value, found := strings.Cut(word, "=")
		switch {
		case word == "set" && words[0] == "modify":
		case !found:
			return nil, fmt.Errorf("%q: want KEY=VALUE", word)
		default:
			key = strings.ToLower(key)
			options[key] = value
			order = append(order, key+"="+value)
		}
	}
	of, err := a.named(words[0] == "add", words[1], words[2], options)
	if err != nil {
		return nil, err
	}
	for _, option := range order {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "description", "organization", "account", "parent":
			continue
		case "fairshare":
			if strings.EqualFold(value, likeItsParent) {
				missed = append(missed, option)
			}
			continue
		case "defaultaccount":
			a.defaults[words[2]] = value
			continue
		}
		for _, l := range of {
			known, err := l.set(key, value)
			if err != nil {
				return nil, fmt.Errorf("%s=%s: %w", key, value, err)
			}
			a.limitsMinutes = a.limitsMinutes || len(l.minutes) > 0
			if !known {
				missed = append(missed, key+"="+value)
			}
		}
	}
	return missed, nil
}

// named is the limits of the account, the user's associations or the QoS of that name. One that
// is to be added is added first.
func (a *Accounts) named(add bool, kind, name string, options map[string]string) ([]*limits, error) {
	switch kind {
	case "qos":
		if add {
			a.qos[name] = &qos{name: name, group: group{limits: limits{usageFactor: 1}}}
		}
		if a.qos[name] == nil {
			return nil, fmt.Errorf("there is no QoS %q", name)
		}
		return []*limits{&a.qos[name].limits}, nil
	case "account", "user":
	default:
		return nil, fmt.Errorf("%q: want account, user or qos", kind)
	}
	if !add {
		var all []*limits
		for at := range a.all {
			within, said := options["account"]
			if at.name == name && at.isUser == (kind == "user") && !(said && at.isUser && at.parent.name != within) {
				all = append(all, &at.limits)
			}
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("there is no %s %q", kind, name)
		}
		return all, nil
	}
	shares := 1.0
	if text, said := options["fairshare"]; said && !strings.EqualFold(text, likeItsParent) {
		if _, err := fmt.Sscanf(text, "%g", &shares); err != nil || !(shares >= 0) || math.IsInf(shares, 0) {
			return nil, fmt.Errorf("fairshare=%s: want a number of 0 or more", text)
		}
	}
	within, user := options["account"], name
	if kind == "account" {
		within, user = cmp.Or(options["parent"], rootAccount), ""
		if a.find(name, "") != nil {
			return nil, fmt.Errorf("the account is there already")
		}
	}
	parent := a.find(within, "")
	switch {
	case parent == nil:
		return nil, fmt.Errorf("there is no account %q", within)
	case user != "" && a.find(within, user) != nil:
		return nil, fmt.Errorf("the user is there already, in account %q", within)
	}
	return []*limits{&a.add(parent, name, kind == "user", shares).limits}, nil
}

// all yields all associations, each before those below it.
func (a *Accounts) all(yield func(*association) bool) {
	var each func(at *association) bool
	each = func(at *association) bool {
		if !yield(at) {
			return false
		}
		for _, child := range at.children {
			if !each(child) {
				return false
			}
		}
		return true
	}
	each(a.root)
}

// decay multiplies what everybody has used.
func (a *Accounts) decay(by float64) {
	for at := range a.all {
		at.usage *= by
	}
}

// charge adds to the usage of a user and of all accounts above.
func (u *association) charge(amount float64) {
	for at := u; at != nil; at = at.parent {
		at.usage += amount
	}
}

// rankShares computes each user's fair share by Slurm's fair tree: siblings are ranked by their
// level, an account's users are ranked where their account is, and a user's factor is the rank as
// a part of the users. Users that tie have the better one's rank.
func (a *Accounts) rankShares() {
	ranks := fairRanks{all: a.users, tied: a.users, free: a.users}
	ranks.descend(a.root.children, false)
}

// fairRanks counts ranks down while the tree is walked.
type fairRanks struct {
	all  int // users
	tied int // the rank of who ties with the one before
	free int // the rank of who does not
}

// descend ranks siblings. The first of them ties with whoever came before where firstTied.
func (r *fairRanks) descend(siblings []*association, firstTied bool) {
	if len(siblings) == 0 {
		return
	}
	shares := 0.0
	for _, s := range siblings {
		shares += s.shares
	}
	of := siblings[0].parent.usage
	for _, s := range siblings {
		used := 0.0
		if of > 0 {
			used = s.usage / of
		}
		switch {
		case s.shares == 0:
			s.level = 0
		case used == 0:
			s.level = math.Inf(1)
		default:
			s.level = s.shares / shares / used
		}
	}
	order := slices.Clone(siblings)
	slices.SortStableFunc(order, func(a, b *association) int {
		if by := cmp.Compare(b.level, a.level); by != 0 {
			return by
		}
		switch { // users before accounts
		case a.isUser == b.isUser:
			return 0
		case a.isUser:
			return -1
		}
		return 1
	})
	for i, s := range order {
		tied := i == 0 && firstTied || i > 0 && order[i-1].level == s.level
		if !s.isUser {
			r.descend(s.children, tied)
			continue
		}
		if !tied {
			r.tied = r.free
		}
		s.factor = float64(r.tied) / float64(r.all)
		r.free--
	}
}
