// Package schema says what is in the files of a simulation: of every column its name,
// type, unit and meaning. The reference page docs/reference/schema.md is made from it, and the
// tests hold what is really written against it.
//
//	file, ok := schema.Of("jobs-easy.csv")
//	for _, c := range file.Columns {
//		fmt.Println(c.Name, c.Type, c.Unit, c.Text)
//	}
package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// Type is what the values of a column are. A value may be missing in any column, which
// is an empty field.
type Type uint8

const (
	Text    Type = iota
	Integer      // whole, of at most 64 bits
	Number       // with decimals
	Bit          // 0 or 1
)

var types = enum.Of[Type]("type of a column", "text", "integer", "number", "bit")

func (t Type) String() string { return types.Name(t) }

// The units.
const (
	none    = ""
	seconds = "s"
	area    = "processor-s" // a node is a processor
	units   = "cost units"
	joules  = "J"
	watts   = "W"
)

// Column is one column of a file.
type Column struct {
	Name string
	Type Type
	Unit string // "s", "J", "cost units", ...; "" where there is none
	Text string // what it is
	// When is where the column is there; "" for always.
	When string
}

// File is one kind of file. Columns are in their order.
type File struct {
	// Name is the file's, with POLICY in place of the policy's name.
	Name    string
	Text    string // what a row is
	Columns []Column
}

// prefix is what names of such files begin with, and whether more follows.
func (f *File) prefix() (prefix string, more bool) { return strings.CutSuffix(f.Name, "POLICY.csv") }

// policyMark stands in names of files for the name of a policy.
const policyMark = "POLICY"

// Names are the names of all files that a run may leave beside its manifest, with POLICY in
// place of the policy's name: those of Files, and those that are no tables of results. It is
// the one list by which files are begun, removed, kept and told apart.
func Names() []string {
	var all []string
	for _, f := range Files() {
		all = append(all, f.Name)
	}
	return append(all, "requests.csv", "log-POLICY.txt", "perfetto-POLICY.json")
}

// perSite are the kinds of which there is a file for each site of a grid as well.
var perSite = []string{"jobs", "events", "decisions"}

// KindOf is the kind of a file of that name, which is what stands before the first - or dot:
// "jobs" of jobs-easy.csv. Whether there is such a kind is not looked at; see Kinds.
func KindOf(name string) string { return name[:strings.IndexAny(name+".", "-.")] }

// Kinds are the kinds of the files of Names, in their order.
func Kinds() []string {
	var all []string
	for _, name := range Names() {
		if kind := KindOf(name); !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// FileName is the name of the file of a kind under a policy, or for one site of a grid; ""
// where there are no files of that kind, or they are for all policies.
func FileName(kind, policy, site string) string {
	for _, name := range Names() {
		if KindOf(name) == kind && strings.Contains(name, policyMark) {
			if site != "" {
				policy += "-" + site
			}
			return strings.Replace(name, policyMark, policy, 1)
		}
	}
	return ""
}

// OfPolicy are the names of all files that the run of a policy may leave, of which some
// stand for each of its sites as well.
func OfPolicy(policy string, sites ...string) []string {
	var all []string
	for _, kind := range Kinds() {
		if name := FileName(kind, policy, ""); name != "" {
			all = append(all, name)
		}
	}
	for _, site := range sites {
		for _, kind := range perSite {
			all = append(all, FileName(kind, policy, site))
		}
	}
	return all
}

// OfAllPolicies are the names of the files that are one for all policies of a run.
func OfAllPolicies() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return strings.Contains(name, policyMark) })
}

// Of is the file of that name, such as "jobs-easy.csv", or false where it is none of
// those described here.
func Of(name string) (File, bool) {
	for _, f := range Files() {
		prefix, more := f.prefix()
		if name == f.Name || more && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ".csv") {
			return f, true
		}
	}
	return File{}, false
}

// Header are the columns that a first line names, or an error where one of them is not
// known or out of order.
func (f *File) Header(names []string) ([]Column, error) {
	var found []Column
	at := 0
	for _, name := range names {
		i := slices.IndexFunc(f.Columns[at:], func(c Column) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %q at this place", f.Name, name)
		}
		at += i + 1
		found = append(found, f.Columns[at-1])
	}
	return found, nil
}

// Markdown is a page about all files.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# The columns of every file

Made from ` + "`metrics/schema`" + ` (` + "`go test ./metrics/schema -rewrite`" + `), which programs can ask as well. What the
values mean is said at more length in [files](files.md). Any value can be missing: its field is empty.
An ` + "`integer`" + ` has at most 64 bits, a ` + "`bit`" + ` is 0 or 1, and a ` + "`number`" + ` has at most as many decimals as are needed. Times are seconds of the trace.
`)
	for _, f := range Files() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| column | type | unit | |\n| --- | --- | --- | --- |\n", f.Name, f.Text)
		for _, c := range f.Columns {
			text := c.Text
			if c.When != "" {
				text += " *(" + c.When + ")*"
			}
			fmt.Fprintf(&b, "| `%s` | %v | %s | %s |\n", c.Name, c.Type, c.Unit, text)
		}
	}
	return b.String()
}
