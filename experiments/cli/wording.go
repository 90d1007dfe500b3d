package cli

// Wrong usage in the command's own words, and words of files that go to a terminal.

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/policy/window"
)

// harmless is a message without characters that control a terminal, but for ends of lines
// and tabs: errors quote what stands in files of others.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) {
			return '?'
		}
		return r
	}, text)
}

// arguments accepts from least to most arguments, none of them empty; what they
// are is as in the command's usage.
func arguments(least, most int, what string) cobra.PositionalArgs {
	number := fmt.Sprintf("%d argument", most)
	switch {
	case least == 0:
		number = "at most " + number
	case least < most:
		number = fmt.Sprintf("between %d and %d argument", least, most)
	}
	if most != 1 {
		number += "s"
	}
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case most == 0 && len(args) > 0:
			return usagef("%s takes no arguments, only flags: %s", cmd.CommandPath(), strings.Join(args, " "))
		case len(args) < least && len(args) == 0:
			return usagef("%s takes %s (%s), and there is none", cmd.CommandPath(), number, what)
		case len(args) < least || len(args) > most:
			return usagef("%s takes %s (%s), not %d: %s", cmd.CommandPath(), number, what, len(args), strings.Join(args, " "))
		case slices.Contains(args, ""):
			return usagef("%s: an argument is empty: name a file", cmd.CommandPath())
		}
		return nil
	}
}

// flagError words what the reader of flags says.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var needs *pflag.ValueRequiredError
	switch {
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		want := ""
		switch f.Value.Type() {
		case "int", "int64":
			want = "a whole number"
		case "uint64":
			want = "a whole number of 0 or more"
		case "float64":
			want = "a number"
		case "bool":
			want = "true or false"
		default:
			return usagef("--%s: %w", f.Name, invalid.Unwrap())
		}
		return usagef("--%s: want %s, not %q", f.Name, want, invalid.GetValue())
	case errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1:
		return usagef("unknown flag: --%s", unknown.GetSpecifiedName())
	case errors.As(err, &needs):
		return usagef("--%s needs a value: %s", needs.GetFlag().Name, needs.GetFlag().Usage)
	}
	return &usageError{err}
}

// jsonError words what is wrong with a file of window problems where a value is
// of another type than wanted; otherwise it is nil.
func jsonError(text []byte) error {
	var wrong *json.UnmarshalTypeError
	var many struct {
		Instances []window.Problem `json:"instances"`
	}
	if !errors.As(json.Unmarshal(text, &many), &wrong) && !errors.As(json.Unmarshal(text, new(window.Problem)), &wrong) {
		return nil
	}
	want := `settings, {"KEY": VALUE}`
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "text"
	case reflect.Bool:
		want = "true or false"
	case reflect.Float64:
		want = "a number"
	case reflect.Int, reflect.Int32, reflect.Int64:
		want = "a whole number"
	case reflect.Slice, reflect.Array:
		want = "a list, [A, B]"
	}
	what := "the file"
	if wrong.Field != "" {
		what = wrong.Field
	}
	line := 1 + strings.Count(string(text[:min(int(wrong.Offset), len(text))]), "\n")
	return fmt.Errorf("line %d: %s: want %s, not %s", line, what, want, wrong.Value)
}
