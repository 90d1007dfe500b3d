package slurm

// Accounts as sacctmgr itself writes them, turned into the commands that would make them.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Commands turns the text of a file of accounts into commands of sacctmgr, one line for each line, so that line
// numbers stay: an empty line if a row needs no command. Commands stay as they are. Rows of `sacctmgr dump
// CLUSTER file=...` and of the table that `sacctmgr -P show qos` prints become the commands that make the same.
// Both are as Slurm 22.05 and later write them. A file may have all three, one after the other.
func Commands(text string) string {
	d := dump{parent: rootAccount}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(d.command(strings.TrimRight(line, "\r\n")))
		b.WriteByte('\n')
	}
	return b.String()
}

// dump is the state of the reader of a dump: what the lines so far say about the lines that follow.
type dump struct {
	parent  string   // the account to which rows belong; root at first
	columns []string // the names of the columns of a table of QoSs, in lower case; nil: no table has begun
	users   []string // "USER ACCOUNT" of each row of a user so far
}

// command is the command for a line, or the line itself if it is none of a dump or a table. Any such line
// ends a table.
func (d *dump) command(line string) string {
	switch kind, rest, found := strings.Cut(line, " - "); {
	case found && slices.Contains([]string{"Cluster", "Parent", "Account", "User"}, kind):
		d.columns = nil
		return d.row(kind, outsideQuotes(rest))
	case strings.HasPrefix(line, "Name|"):
		d.columns = strings.Split(strings.ToLower(line), "|")
		return ""
	case d.columns != nil && strings.Contains(line, "|"):
		return d.qos(strings.Split(line, "|"))
	}
	d.columns = nil
	return line
}

// outsideQuotes splits a row of a dump at the colons outside quotes, and takes the quotes away.
func outsideQuotes(row string) (fields []string) {
	quoted := false
	for field := range strings.FieldsFuncSeq(row, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ':' && !quoted
	}) {
		fields = append(fields, strings.ReplaceAll(field, "'", ""))
	}
	return fields
}

// likeParent is the number that a dump writes for fairshare=parent (SLURMDB_FS_USE_PARENT).
const likeParent = "2147483647"

// row is the command for a row of a dump, whose fields are 'NAME', KEY=VALUE, KEY=VALUE ... kind is the word
// before them: Cluster has the limits of root, Parent says to which account the rows belong that follow, and
// Account and User are members of that account.
func (d *dump) row(kind string, fields []string) string {
	if len(fields) == 0 {
		return kind + " without a name"
	}
	name := fields[0]
	var options []string
	for _, option := range fields[1:] {
		key, value, _ := strings.Cut(option, "=")
		switch strings.ToLower(key) {
		case "description", "organization", "adminlevel", "coordinator", "defaultwckey", "wckeys":
			continue
		case "fairshare":
			if value == likeParent {
				value = likeItsParent
			}
		}
		options = append(options, strings.ToLower(key)+"="+strings.ReplaceAll(value, " ", ""))
	}
	with := func(words ...string) string { return strings.Join(append(words, options...), " ") }
	switch kind {
	case "Parent":
		d.parent = name
		return ""
	case "Cluster":
		options = slices.DeleteFunc(options, func(o string) bool { return strings.HasPrefix(o, "fairshare=") })
		return with("modify", "account", rootAccount, "set")
	case "Account":
		return with("add", "account", name, "parent="+d.parent)
	}
	if name == rootAccount && d.parent == rootAccount { // NewAccounts has the user
		return ""
	}
	if user := name + " " + d.parent; slices.Contains(d.users, user) { // a further row, for another partition
		return with("modify", "user", name, "account="+d.parent, "set")
	} else {
		d.users = append(d.users, user)
	}
	return with("add", "user", name, "account="+d.parent)
}

// columnsOfQOS are the options that set the columns of a table of QoSs, by column, where the names differ. PU
// stands for per user, PA for per account.
var columnsOfQOS = map[string]string{
	"grpsubmit": "grpsubmitjobs", "maxtres": "maxtresperjob", "maxtrespu": "maxtresperuser", "maxjobspu": "maxjobsperuser", "maxsubmitpu": "maxsubmitjobsperuser",
	"maxtrespa": "maxtresperaccount", "maxjobspa": "maxjobsperaccount", "maxsubmitpa": "maxsubmitjobsperaccount", "mintres": "mintresperjob", "usagethres": "usagethreshold",
}

// qos is the command for a row of a table of QoSs.
func (d *dump) qos(cells []string) string {
	words := []string{"add", "qos", cells[0]}
	for i, cell := range cells[1:] {
		if i+1 >= len(d.columns) || cell == "" {
			continue
		}
		key := d.columns[i+1]
		if to, there := columnsOfQOS[key]; there {
			key = to
		}
		if key == "gracetime" { // a table has it as a duration, a command in seconds
			if grace, err := Duration(cell); err == nil {
				cell = fmt.Sprint(int64(grace / des.Second))
			}
		}
		words = append(words, key+"="+cell)
	}
	return strings.Join(words, " ")
}
