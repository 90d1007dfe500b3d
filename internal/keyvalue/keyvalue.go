// Package keyvalue reads settings that are a text of names and values, and says in plain words
// what is wrong with them:
//
//	err := keyvalue.Read("gap=5m:jobs=ten",
//		keyvalue.To("jobs", "N", &f.Jobs, count),
//		keyvalue.To("gap", "T", &f.Gap, number.Length))
//	                                     jobs: want a whole number of 1 or more, not "ten"
//
// Package policy reads texts that begin with a name of a table, such as a policy, in front of
// these.
package keyvalue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// Key is a name that may be given, and how its value is read. Form says in an error what the
// value is: N, T, on|off.
type Key struct {
	Name, Form string
	// Set reads the value. Its error says what is wanted, and not the name.
	Set func(value string) error
}

// To returns a key whose value parse reads into a variable, unless there is an error.
func To[T any](name, form string, to *T, parse func(value string) (T, error)) Key {
	return Key{name, form, func(value string) error {
		v, err := parse(value)
		if err == nil {
			*to = v
		}
		return err
	}}
}

// Read reads NAME=VALUE:NAME=VALUE in any order, each name at most once. An error names the key
// that is wrong.
func Read(text string, keys ...Key) error {
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ":") {
		name, value, ok := strings.Cut(part, "=")
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
		switch {
		case !ok:
			return fmt.Errorf("want NAME=VALUE, not %q: %s", part, forms(keys))
		case i < 0:
			return fmt.Errorf("there is no %q: want %s%s", name, forms(keys), enum.Suggestion(name, names(keys)))
		case given[name]:
			return fmt.Errorf("%s is given twice", name)
		}
		given[name] = true
		if err := keys[i].Set(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func names(keys []Key) (all []string) {
	for _, k := range keys {
		all = append(all, k.Name)
	}
	return all
}

// forms lists what may stand in a text.
func forms(keys []Key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.Name+"="+k.Form)
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
