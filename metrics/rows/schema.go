package rows

// What people and programs can ask about the files of a run: what they hold, and their names.

import (
	"fmt"
	"slices"
	"strings"
)

// schema describes one kind of file.
type schema struct {
	// Name, when, text and notes have the same meaning as in File.
	Name, when, text, notes string
	// Columns stand in the order of the file.
	Columns []meaning
}

// schema returns what people and programs can ask about the file.
func (f File[T]) schema() schema {
	s := schema{Name: f.Name, when: f.when, text: f.text, notes: f.notes, Columns: make([]meaning, 0, len(f.Columns))}
	for _, c := range f.Columns {
		s.Columns = append(s.Columns, c.meaning)
	}
	return s
}

// Header returns the columns that the first line of a file names, or an error if one of them
// is not known or out of order.
func (s *schema) Header(names []string) ([]meaning, error) {
	var found []meaning
	at := 0
	for _, name := range names {
		i := slices.IndexFunc(s.Columns[at:], func(m meaning) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %q at this place", s.Name, name)
		}
		at += i + 1
		found = append(found, s.Columns[at-1])
	}
	return found, nil
}

// Schemas returns the schemas of all files with columns that a run may leave, in the order of the
// reference page. (requests.csv is a job file, which package workload/jobfile explains.)
func Schemas() []schema {
	phase := slurmEvents
	phase.Name = "slurm-events-POLICY.csv"
	phase.when = "for each [phase](slurm.md#rules-exact-phase-unknown), such as `slurm:phase=17`"
	all, allOfPhase := slurmEvents, phase
	all.Name, all.when = "controller-events.csv", "with all events, if slurm-events.csv is plain; for a phase, controller-events-POLICY.csv"
	allOfPhase.Name = "controller-events-POLICY.csv"
	allOfPhase.when = all.when + ", for each phase"
	return []schema{
		Jobs.schema(), Attempts.schema(), Events.schema(), Decisions.schema(), Queue.schema(), slurmEvents, phase, all, allOfPhase, Spreads.schema(),
		Capacities.schema(), Power.schema(), Energies.schema(), Summaries.schema(), Accuracies.schema(), Clusters.schema(),
		Nodes.schema(), Tasks.schema(), OwnTasks.schema(), Accounts.schema(), Owners.schema(), Prices.schema(), Outages.schema(),
		Cycles.schema(), Combinations.schema(), Alternatives.schema(),
	}
}

// SchemaOf returns the schema of the file with that name, such as "jobs-easy.csv"; ok is false of
// a file that Schemas does not have.
func SchemaOf(name string) (s schema, ok bool) {
	for _, s := range Schemas() {
		prefix, more := strings.CutSuffix(s.Name, policyMark+".csv")
		if name == s.Name || more && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ".csv") {
			return s, true
		}
	}
	return schema{}, false
}

// policyMark stands in names of files for the name of a policy.
const policyMark = "POLICY"

// names returns the names of all files that a run may leave beside its manifest: those of Schemas,
// and those without columns of results. It is the one list by which files are begun, removed, kept
// and told apart.
func names() []string {
	var all []string
	for _, s := range Schemas() {
		all = append(all, s.Name)
	}
	return append(all, "requests.csv", "log-POLICY.txt", "perfetto-POLICY.json")
}

// perSite are the kinds of files that each site of a grid has as well.
var perSite = []string{"jobs", "events", "decisions"}

// KindOf returns the kind of a file by its name, which is what stands before the first - or dot:
// "jobs" for jobs-easy.csv. It does not look whether there is such a kind; see Kinds.
func KindOf(name string) string { return name[:strings.IndexAny(name+".", "-.")] }

// Kinds returns the kinds of all files that a run may leave beside its manifest, each once.
func Kinds() []string {
	var all []string
	for _, name := range names() {
		if kind := KindOf(name); !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// FileName returns the name of the file of a kind under a policy, or of one site of a grid if site
// is not "". It returns "" for a kind that has no file for each policy.
func FileName(kind, policy, site string) string {
	for _, name := range names() {
		if KindOf(name) == kind && strings.Contains(name, policyMark) {
			if site != "" {
				policy += "-" + site
			}
			return strings.Replace(name, policyMark, policy, 1)
		}
	}
	return ""
}

// OfPolicy returns the names of all files that the run of a policy may leave, with those of its
// sites.
func OfPolicy(policy string, sites ...string) []string {
	var all, kinds []string
	for _, name := range names() {
		if kind := KindOf(name); strings.Contains(name, policyMark) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
			all = append(all, strings.Replace(name, policyMark, policy, 1))
		}
	}
	for _, site := range sites {
		for _, kind := range perSite {
			all = append(all, FileName(kind, policy, site))
		}
	}
	return all
}

// OfAllPolicies returns the names of the files that a run has once for all policies.
func OfAllPolicies() []string {
	return slices.DeleteFunc(names(), func(name string) bool { return strings.Contains(name, policyMark) })
}
