package cli

import (
	"crypto/rand"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
)

// cleaning has the changes that `gridslot trace convert` makes to records besides choosing and
// moving them.
type cleaning struct {
	// after and before are instants as ParseInstant reads them; "" sets no bound.
	after, before string
	wholeWeeks    bool
	// flurries and anonymise are nil if they are not asked for.
	flurries  *clean.Flurries
	anonymise []int // fields
	// columns are the columns beyond SWF that anonymising leaves out: nobody knows what they tell.
	columns []string
	// key is the path of a file, randomKey, or "" for numbers in the order in which they come.
	key       string
	dropLines []string
	// steps has what each flag left out, filled in as the records go by.
	steps []cleaningStep
}

// cleaningStep is a flag with the records that it left out.
type cleaningStep struct {
	flag    string
	removed *clean.Removed
}

// randomKey asks --key for a key that nobody keeps.
const randomKey = "random"

// add defines the flags.
func (c *cleaning) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.after, "after", "", "keep what was submitted from then on: seconds of the log, or 1996-10-01[T08:00:00]")
	f.StringVar(&c.before, "before", "", "keep what was submitted before this instant")
	f.BoolVar(&c.wholeWeeks, "whole-weeks", false, "keep the weeks, from Monday on, that the log has as a whole")
	parsedFlag(cmd, &c.flurries, "flurries", "", "jobs=N:within=T:same=FIELD+FIELD", "leave out N or more equal jobs of one user within T (jobs=1000:within=1d:same=procs)", optional(func(text string) (*clean.Flurries, error) {
		f, err := clean.ParseFlurries(text)
		return &f, err
	}))
	f.Lookup("flurries").NoOptDefVal = "default"
	parsedFlag(cmd, &c.anonymise, "anonymise", "", "FIELD,FIELD", "other numbers, and no names, for users, groups, executables, queues, partitions or all", optional(clean.ParseFields))
	f.Lookup("anonymise").NoOptDefVal = "all"
	f.StringVar(&c.key, "key", "", "with --anonymise: permute numbers by the key in this file, or a random one (as they come)")
	f.StringSliceVar(&c.dropLines, "drop-lines", nil, "leave out the header's lines of these keys, such as Acknowledge,Note")
}

// apply returns the transformations of a log with that header, in the order in which they are
// carried out.
func (c *cleaning) apply(h *workload.Header) (apply []func(clean.Records) clean.Records, err error) {
	// step notes that a flag leaves records out, and returns where they are counted.
	step := func(flag string) *clean.Removed {
		removed := &clean.Removed{}
		c.steps = append(c.steps, cleaningStep{flag, removed})
		return removed
	}
	if c.after != "" || c.before != "" {
		from, to := des.Time(math.MinInt64), des.Forever
		if c.after != "" {
			if from, err = clean.ParseInstant(c.after, h); err != nil {
				return nil, usagef("--after: %w", err)
			}
		}
		if c.before != "" {
			if to, err = clean.ParseInstant(c.before, h); err != nil {
				return nil, usagef("--before: %w", err)
			}
		}
		apply = append(apply, clean.Between(from, to, step("--after, --before")))
	}
	if c.wholeWeeks {
		start, err := h.Start()
		if err != nil {
			return nil, fmt.Errorf("--whole-weeks: %w", err)
		}
		apply = append(apply, clean.WholeWeeks(start, step("--whole-weeks")))
	}
	if c.flurries != nil {
		remove, err := c.flurries.Remove(step("--flurries"))
		if err != nil {
			return nil, usagef("--flurries: %w", err)
		}
		apply = append(apply, remove)
	}
	return apply, nil
}

// records returns the header and the records of a trace, cleaned as asked.
func (c *cleaning) records(t *workload.Trace) (*workload.Header, iter.Seq2[*workload.Record, error], error) {
	apply, err := c.apply(t.Header)
	if err != nil {
		return nil, nil, err
	}
	anonymiser, err := c.anonymiser()
	if err != nil {
		return nil, nil, err
	}
	h := t.Header.Clone()
	h.Drop(c.dropLines...)
	if anonymiser == nil {
		return h, t.Selected(apply...), nil
	}
	for _, column := range h.Columns {
		c.columns = append(c.columns, column.Name)
	}
	anonymiser.Header(h)
	return h, func(yield func(*workload.Record, error) bool) {
		for rec, err := range t.Selected(apply...) {
			if err == nil {
				err = anonymiser.Record(rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}, nil
}

// anonymiser returns nil if no anonymising is asked for.
func (c *cleaning) anonymiser() (*clean.Anonymiser, error) {
	if c.anonymise == nil {
		if c.key != "" {
			return nil, usagef("--key is for --anonymise")
		}
		return nil, nil
	}
	var key []byte
	var err error
	switch c.key {
	case "":
	case randomKey:
		key = make([]byte, 2*clean.MinKey)
		_, err = rand.Read(key)
	default:
		// An empty file is a key that is too short, not the lack of one.
		if key, err = os.ReadFile(c.key); err == nil && key == nil {
			key = []byte{}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	a, err := clean.NewAnonymiser(c.anonymise, key)
	if err != nil {
		return nil, usagef("--key: %w", err)
	}
	return a, nil
}

// account returns what was left out, for people, or "". It is complete when all records have gone
// by.
func (c *cleaning) account(t *workload.Trace) string {
	var b strings.Builder
	if t.Options.Where != nil {
		fmt.Fprintf(&b, "%s: --where leaves out %d records\n", t.Name, t.Report().Count(workload.Filtered))
	}
	for _, s := range c.steps {
		fmt.Fprintf(&b, "%s: %s leaves out %d records\n", t.Name, s.flag, s.removed.Records)
		for i, f := range s.removed.Flurries {
			if i == maxListed {
				fmt.Fprintf(&b, "  and %d more flurries\n", len(s.removed.Flurries)-i)
				break
			}
			fmt.Fprintf(&b, "  %v\n", f)
		}
	}
	if len(c.columns) > 0 {
		fmt.Fprintf(&b, "%s: --anonymise leaves out columns beyond SWF: %s\n", t.Name, strings.Join(c.columns, ", "))
	}
	return b.String()
}

// maxListed is the number of flurries that are listed one by one.
const maxListed = 50
