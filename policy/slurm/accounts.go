package slurm

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Accounts is the database of slurmdbd for a cluster: the tree of accounts and users with their shares, limits
// and use, and the QoSs. A controller changes the use, so that two runs must not share one.
type Accounts struct {
	qos   map[string]*qos // by name
	root  *association    // the account above all
	users int             // number of associations of users, root's own among them (g_user_assoc_count)
	// limitsUse reports whether anybody has a limit on use (GrpTRESMins, MaxTRESMins, GrpWall): only then is use counted.
	// limitsMinutes reports whether anybody has a limit that is reckoned at ticks: a limit on use, or GrpTRESRunMins.
	limitsUse, limitsMinutes bool
	// defaults is by user the account of jobs that name none (DefaultAccount). A user who is not there has
	// the first account that lists the user.
	defaults map[string]string
	// owners are the answers of associationOf so far. A controller adds neither accounts nor users.
	owners map[owner]*association
	// tracked are the limits on kinds of TRES that Slurm counts only if AccountingStorageTRES names them, as
	// KEY=KIND with their lines.
	tracked []Unknown
}

// owner is an account and a user as a job names them.
type owner struct{ account, user string }

// association is an account, or a user within an account. Its group has its limits, and the jobs of all
// users below it.
type association struct {
	name     string
	isUser   bool
	parent   *association // nil of the root alone
	children []*association
	shares   float64 // Fairshare, 0 or more; 1 if nobody says
	// usage is the billing times seconds of all jobs of the association and of those below it (usage_raw),
	// decayed up to the last tick.
	usage  float64
	level  float64 // level_fs of the fair tree: see rankShares; +Inf: nothing used. Valid right after rankShares
	factor float64 // of a user: its fair share (fs_factor), above 0 and up to 1; 0 before the first tick
	group
	amountLimits map[*qos][]amountLimit // of a user, by the QoS of its jobs: see Job.amountLimits. Made when first asked for
}

// likeItsParent is the value of Fairshare for users or accounts that use the shares of their account as if
// these were their own. It is not simulated: they have one share.
const likeItsParent = "parent"

// rootAccount is the name of the account above all, and of its own user.
const rootAccount = "root"

// NewAccounts returns what slurmdbd has of a new cluster: a tree of the account root and its user root, who counts among the users
// when shares are ranked, and UsualQOS, the only QoS that jobs may use.
func NewAccounts() *Accounts {
	a := &Accounts{qos: map[string]*qos{}, defaults: map[string]string{}, root: &association{name: rootAccount, shares: 1}}
	a.add(a.root, rootAccount, true, 1)
	a.addQOS(UsualQOS)
	a.root.allowed = []string{UsualQOS}
	return a
}

// addQOS adds a QoS without limits, in place of one of that name.
func (a *Accounts) addQOS(name string) {
	a.qos[name] = &qos{name: name, group: group{limits: limits{usageFactor: 1}}}
}

// add adds an account or a user to an account.
func (a *Accounts) add(parent *association, name string, isUser bool, shares float64) *association {
	child := &association{name: name, isUser: isUser, parent: parent, shares: shares}
	parent.children = append(parent.children, child)
	a.owners = nil
	if isUser {
		a.users++
	}
	return child
}

// find is the account of that name, or its user if user is not empty; nil if there is none.
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

// associationOf is the association of the job's user in the account that the job names. If the job names
// none, it is in the user's default account, or else in the first account of the tree that lists the user.
// It is nil if there is no such association.
func (a *Accounts) associationOf(j *Job) *association {
	who := owner{j.Account, j.User}
	at, known := a.owners[who]
	if !known {
		if a.owners == nil {
			a.owners = map[owner]*association{}
		}
		at = a.findOwner(j)
		a.owners[who] = at
	}
	return at
}

// findOwner looks for what associationOf returns.
func (a *Accounts) findOwner(j *Job) *association {
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

// account returns the name of the account to which the job belongs, even if the job itself names none.
func (j *Job) account() string {
	if j.assoc != nil && j.assoc.isUser {
		return j.assoc.parent.name
	}
	return j.Account
}

// usable returns the QoSs that jobs of the association may use: the list of the nearest association upwards that has one.
func (a *association) usable() []string {
	for at := a; at != nil; at = at.parent {
		if at.allowed != nil {
			return at.allowed
		}
	}
	return nil
}

// usualQOS returns the name of the QoS of a job of the association that names none (assoc_mgr_get_default_qos_info): the default of
// the nearest association upwards that has one, if the job may use it; the only QoS that the job may use; the default of
// root; UsualQOS. The association may be nil.
func (a *Accounts) usualQOS(of *association) string {
	usable := of.usable()
	for at := of; at != nil; at = at.parent {
		if at.defaultQOS != "" {
			if slices.Contains(usable, at.defaultQOS) {
				return at.defaultQOS
			}
			break
		}
	}
	if len(usable) == 1 {
		return usable[0]
	}
	return cmp.Or(a.root.defaultQOS, UsualQOS)
}

// ReadAccounts reads the commands of sacctmgr that made the accounts, one a line:
//
//	add account NAME [parent=ACCOUNT] [fairshare=SHARES]
//	add user NAME account=ACCOUNT [fairshare=SHARES]
//	add qos NAME [priority=N] [LIMIT=...]
//	modify account|user|qos NAME set LIMIT=...
//
// or the text that Commands makes such commands of. Lines that begin with # are comments. In front of a
// command may stand how a shell calls it (sacctmgr -i). It returns the
// settings that are not simulated, too. An error names the file and is a *ConfigError with the line if a
// command is wrong.
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
		if words[0] == "sacctmgr" {
			for words = words[1:]; len(words) > 0 && strings.HasPrefix(words[0], "-"); {
				words = words[1:]
			}
		}
		keys, err := a.command(words)
		if err != nil {
			return nil, nil, &ConfigError{name, n, strings.Join(words[:min(len(words), 3)], " "), err}
		}
		for _, key := range keys {
			unknown = missed(unknown, key, n)
		}
		for _, word := range words[3:] {
			for _, key := range namedKinds(word) {
				a.tracked = missed(a.tracked, key, n)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, unknown, nil
}

// namedKinds are the kinds of TRES of an option that not every Slurm counts, each as KEY=KIND; none if the option is no
// limit on amounts.
func namedKinds(option string) (all []string) {
	key, value, _ := strings.Cut(strings.ToLower(option), "=")
	if _, is := tresLimitOf(key); !is {
		return nil
	}
	for part := range strings.SplitSeq(value, ",") {
		if kind, _, _ := strings.Cut(part, "="); labelOf(kind) != "" && !slices.Contains(usualTRES, kind) {
			all = append(all, key+"="+kind)
		}
	}
	return all
}

// Uncounted returns the limits on kinds of TRES that a controller of the configuration does not count: Slurm holds no job
// to them.
func (a *Accounts) Uncounted(conf *Config) (all []Unknown) {
	kinds := kindsOf(conf)
	for _, u := range a.tracked {
		_, kind, _ := strings.Cut(u.Key, "=")
		if !slices.ContainsFunc(kinds, func(k tresKind) bool { return k.name == kind }) {
			all = append(all, u)
		}
	}
	return all
}

// command carries out one command of sacctmgr. It returns the settings, as key=value, that are not
// simulated.
func (a *Accounts) command(words []string) (missed []string, err error) {
	if len(words) < 3 || words[0] != "add" && words[0] != "modify" {
		return nil, fmt.Errorf("want add or modify, then account, user or qos, a name and KEY=VALUE")
	}
	// Options: named needs the last value of each key, the loop below all of them, since a key may come
	// several times with other kinds of amounts (grptres=node=2 grptres=cpu=5).
	options := map[string]string{}
	var order []string
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
		case "description", "organization", "account":
			continue
		case "parent":
			if words[0] == "modify" {
				missed = append(missed, option)
			}
			continue
		case "fairshare":
			if strings.EqualFold(value, likeItsParent) {
				missed = append(missed, option)
			}
			continue
		case "defaultaccount":
			a.defaults[words[2]], a.owners = value, nil
			continue
		}
		for _, l := range of {
			known, err := l.set(key, value)
			if err != nil {
				return nil, fmt.Errorf("%s=%s: %w", key, value, err)
			}
			a.limitsUse = a.limitsUse || len(l.asked[grpTRESMins]) > 0 || len(l.asked[maxTRESMinsPerJob]) > 0 || l.wallTogether.limited
			a.limitsMinutes = a.limitsMinutes || a.limitsUse || len(l.asked[grpTRESRunMins]) > 0
			if !known {
				missed = append(missed, key+"="+value)
			}
		}
	}
	return missed, nil
}

// named returns the limits that a command is about: of the account, of all associations of the user (those
// in one account if the command names it), or of the QoS. With add it adds what the command is about first.
func (a *Accounts) named(add bool, kind, name string, options map[string]string) ([]*limits, error) {
	switch kind {
	case "qos":
		if add {
			a.addQOS(name)
		}
		if a.qos[name] == nil {
			return nil, fmt.Errorf("there is no QoS %q", name)
		}
		return []*limits{&a.qos[name].limits}, nil
	case "account", "user":
	default:
		return nil, fmt.Errorf("%q: want account, user or qos", kind)
	}
	shares, said, err := sharesOf(options)
	if err != nil {
		return nil, err
	}
	if !add {
		var all []*limits
		for at := range a.all {
			within, named := options["account"]
			if at.name == name && at.isUser == (kind == "user") && !(named && at.isUser && at.parent.name != within) {
				if all = append(all, &at.limits); said {
					at.shares = shares
				}
			}
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("there is no %s %q", kind, name)
		}
		return all, nil
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

// sharesOf returns the shares that options of a command give, 1 if they give none, and whether they do.
func sharesOf(options map[string]string) (shares float64, said bool, err error) {
	text, said := options["fairshare"]
	if !said || strings.EqualFold(text, likeItsParent) {
		return 1, false, nil
	}
	if shares, err = strconv.ParseFloat(text, 64); err != nil || !(shares >= 0) || math.IsInf(shares, 0) {
		return 0, true, fmt.Errorf("fairshare=%s: want a number of 0 or more", text)
	}
	return shares, true, nil
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

// decay multiplies what everybody has used by a factor from 0 to 1 (_apply_decay).
func (a *Accounts) decay(by float64) {
	for at := range a.all {
		at.usage *= by
		if a.limitsUse {
			at.used.decay(by)
		}
	}
	for _, q := range a.qos {
		if a.limitsUse && !q.keeps {
			q.used.decay(by)
		}
	}
}

// charge adds an amount, billing times seconds, to the usage of the association and of all above it.
func (u *association) charge(amount float64) {
	for at := u; at != nil; at = at.parent {
		at.usage += amount
	}
}

// rankShares computes each user's fair share by Slurm's fair tree (plugins/priority/multifactor/
// fair_tree.c). Siblings are ranked by their level fair share
//
//	LF = S / U,   S = shares / sum of the siblings' shares,   U = usage / the parent's usage
//
// An account's users are ranked at the place of their account, so that no user of an account with a lower LF
// comes before them. A user's factor is its rank, counted down from the number of users, divided by that
// number. Users that tie get the better rank.
func (a *Accounts) rankShares() {
	ranks := fairRanks{all: a.users, tied: a.users, free: a.users}
	ranks.descend(a.root.children, false)
}

// fairRanks counts ranks down while the tree is walked. Invariant: 0 <= free <= tied <= all.
type fairRanks struct {
	all  int // number of users (g_user_assoc_count)
	tied int // the rank of a user who ties with the user before (rank of _calc_tree_fs)
	free int // the rank of a user who does not: users that have no rank yet (rnt)
}

// descend ranks siblings and all below them (_calc_tree_fs). With firstTied the first sibling ties with
// whoever was ranked before.
func (r *fairRanks) descend(siblings []*association, firstTied bool) {
	if len(siblings) == 0 {
		return
	}
	// LF of each sibling (_calc_assoc_fs). No shares: 0, the last; nothing used: infinity, the first.
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
	// The highest LF comes first (_cmp_level_fs).
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
	// Ranks. Slurm's comments say that the users of tied accounts are merged and ranked together, but
	// _count_tied_accounts stops at the next account, so that they are not.
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
