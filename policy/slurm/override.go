package slurm

// Values that stand in place of values of slurm.conf, so that one file and a few numbers make many set-ups.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// Override is a value that replaces a value of slurm.conf. Key is a key of the file, as
// PriorityWeightFairshare; one of SchedulerParameters, as SchedulerParameters.bf_interval; or a
// key of a partition, as PartitionName.long.MaxTime. A parameter without a value, as
// SchedulerParameters.defer, is given by yes and taken away by no.
type Override struct{ Key, Value string }

// OverrideError reports an override whose key or value means nothing, or means nothing in its file.
type OverrideError struct {
	Override
	Err error
}

func (e *OverrideError) Error() string { return e.Key + ": " + e.Err.Error() }
func (e *OverrideError) Unwrap() error { return e.Err }

// Parts of an Override's key.
const (
	parametersKey = "SchedulerParameters"
	partitionKey  = "PartitionName"
	nodeKey       = "NodeName"
)

// partitionKeys are the keys of a partition that may be overridden: those that readPartitions simulates, as
// Slurm's manual spells them. Check knows the first one, whose value names nodes.
var partitionKeys = []string{"Nodes", "Default", "OverSubscribe", "MaxTime", "MaxNodes", "PriorityTier", "PriorityJobFactor", "TRESBillingWeights"}

// Check reports what is wrong with an override, whatever the file: its key does not exist, or bears on no
// schedule here, or its value cannot be read. Its error is an *OverrideError. It overrides a file that has
// nothing but the partition of the override, if it is about one.
func (o Override) Check() error {
	f := configFile{general: map[string]setting{}}
	if row, key, is := o.ofPartition(); is {
		f.partitions = [][]setting{{{partitionKey, row, 0}}}
		if key == partitionKeys[0] { // whether there are such nodes, the file tells
			_, err := Hosts(o.Value)
			return o.failed(err)
		}
	}
	if err := f.override(o); err != nil {
		return err
	}
	_, err := f.config()
	if wrong := new(ConfigError); !errors.As(err, &wrong) { // there is no node, which does not matter
		err = nil
	}
	return f.blame(err, []Override{o})
}

// failed is the *OverrideError for err, or nil if err is nil.
func (o Override) failed(err error) error {
	if err == nil {
		return nil
	}
	return &OverrideError{o, err}
}

// ofPartition is the name of the partition and the key that an override is about; is is false if it is about
// no partition. Names of partitions may have dots, keys have none.
func (o Override) ofPartition() (row, key string, is bool) {
	rest, is := strings.CutPrefix(o.Key, partitionKey+".")
	if at := strings.LastIndexByte(rest, '.'); is && at > 0 {
		return rest[:at], rest[at+1:], true
	}
	return "", "", false
}

// override puts a value in place of the value in the file. The new setting has line 0: see blame.
func (f *configFile) override(o Override) error {
	if row, key, is := o.ofPartition(); is {
		if !slices.Contains(partitionKeys, key) {
			return o.failed(fmt.Errorf("a partition has no key %q that is simulated%s", key, enum.SuggestionOrAll(key, partitionKeys)))
		}
		at := slices.IndexFunc(f.partitions, func(p []setting) bool { return p[0].value == row })
		if at < 0 {
			return o.failed(fmt.Errorf("%s has no partition %q", f.name, row))
		}
		f.partitions[at] = append(slices.Clone(f.partitions[at]), setting{key, o.Value, 0})
		return nil
	}
	if part, is := strings.CutPrefix(o.Key, parametersKey+"."); is {
		return f.overrideParameter(o, part)
	}
	switch lower := strings.ToLower(o.Key); {
	case lower == strings.ToLower(nodeKey) || lower == strings.ToLower(partitionKey):
		return o.failed(fmt.Errorf("want %s.PARTITION.KEY, or another slurm.conf with other nodes", partitionKey))
	case slices.Contains(generalKeys(), o.Key):
		f.general[lower] = setting{o.Key, o.Value, 0}
		return nil
	case ignored[lower]:
		return o.failed(errors.New("it bears on no schedule"))
	}
	known := generalKeys()
	if at := slices.IndexFunc(known, func(key string) bool { return strings.EqualFold(key, o.Key) }); at >= 0 {
		return o.failed(fmt.Errorf("the key is written %s here", known[at]))
	}
	return o.failed(fmt.Errorf("no such key of slurm.conf is simulated%s", enum.Suggestion(o.Key, known)))
}

// overrideParameter sets one of SchedulerParameters, in place of its value in the file, and leaves the others.
func (f *configFile) overrideParameter(o Override, part string) error {
	parameters := new(Scheduling).parameters()
	to, there := parameters[part]
	switch {
	case timeless[part]:
		return o.failed(errors.New("it acts where a pass takes time, and a pass takes none here"))
	case !there:
		var known []string
		for name := range parameters {
			known = append(known, name)
		}
		slices.Sort(known)
		return o.failed(fmt.Errorf("no such parameter is simulated%s", enum.SuggestionOrAll(part, known)))
	}
	all := f.general[strings.ToLower(parametersKey)]
	words := slices.DeleteFunc(strings.Split(all.value, ","), func(word string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(word), "=")
		return name == "" || strings.EqualFold(name, part)
	})
	if to.flag == nil {
		words = append(words, part+"="+o.Value)
	} else if given := f.yes(setting{o.Key, o.Value, 0}); given {
		words = append(words, part)
	}
	f.general[strings.ToLower(parametersKey)] = setting{parametersKey, strings.Join(words, ","), all.line}
	return nil
}

// blame returns the error of reading the file, or if it comes from an override the *OverrideError. Settings of
// overrides have line 0, by which they are told from settings of the file. A value that is not simulated is an
// error in an override, while in the file it is only reported.
func (f *configFile) blame(err error, all []Override) error {
	// The override that a key is about, or nil. A key may have a value behind it, and a parameter is reported
	// by its own name or as SchedulerParameters.
	about := func(key string) *Override {
		key, _, _ = strings.Cut(key, "=")
		at := slices.IndexFunc(all, func(o Override) bool {
			return o.Key == key || o.Key == parametersKey || strings.HasSuffix(o.Key, "."+key)
		})
		if at < 0 {
			return nil
		}
		return &all[at]
	}
	if wrong := new(ConfigError); errors.As(err, &wrong) && wrong.Line == 0 {
		if o := about(wrong.Key); o != nil {
			return o.failed(wrong.Err)
		}
	}
	for _, u := range f.unknown {
		if o := about(u.Key); err == nil && u.Line == 0 && o != nil {
			return o.failed(fmt.Errorf("%q is not simulated", o.Value))
		}
	}
	return err
}

// generalKeys are the keys of slurm.conf that are simulated, except keys of nodes and partitions, as Slurm's
// manual spells them, in alphabetical order. They are the keys that the reader asks for when it reads an empty
// file, so that no list can differ from the reader.
func generalKeys() []string {
	f := configFile{general: map[string]setting{}}
	_, _ = f.config() // that there are no nodes does not matter
	slices.Sort(f.asked)
	return f.asked
}
