package slurm

// Accounts as sacctmgr itself writes them, as the commands that would make them.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Commands is the text of a file of accounts as commands of sacctmgr, line by line: what stands there as such stays, rows of
// `sacctmgr dump CLUSTER file=...` and of the table that `sacctmgr -P show qos` prints become the commands that make the
// same. Both are as Slurm 22.05 and later write them; a file may have all of it, one after the other.
func Commands(text string) string {
	d := dump{parent: rootAccount}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(d.command(strings.TrimRight(line, "\r\n")))
		b.WriteByte('\n')
	}
	return b.String()
}

// dump is what the lines so far say about those that follow.
type dump struct {
	parent  string   // the account to which rows belong
	columns []string // of a table of QoSs; nil: there is none
	users   []string // user and account, of the rows so far
}

// command is the command for a line.
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

// outsideQuotes splits a row of a dump at the colons that are in no quotes, which go.
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

// likeParent is what a dump has for fairshare=parent.
const likeParent = "2147483647"

// row is the command for a row of a dump: 'NAME':KEY=VALUE:KEY=VALUE.
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
	if name == rootAccount && d.parent == rootAccount { // who is there from the beginning
		return ""
	}
	if user := name + " " + d.parent; slices.Contains(d.users, user) { // in another partition
		return with("modify", "user", name, "account="+d.parent, "set")
	} else {
		d.users = append(d.users, user)
	}
	return with("add", "user", name, "account="+d.parent)
}

// columnsOfQOS are the columns of a table of QoSs that have other names than the options that set them.
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
		if key == "gracetime" { // which commands have in seconds
			if grace, err := Duration(cell); err == nil {
				cell = fmt.Sprint(int64(grace / des.Second))
			}
		}
		words = append(words, key+"="+cell)
	}
	return strings.Join(words, " ")
}
