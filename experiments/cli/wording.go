package cli

// Wrong usage in the command's own words, and words of files that go to a terminal.

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridslot/gridslot/internal/enum"
)

// harmless returns a message without characters that control a terminal, except ends of lines and
// tabs: errors quote what stands in other people's files.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) {
			return '?'
		}
		return r
	}, text)
}

// shown is a writer of text for people that is harmless to a terminal: names of files and words
// from logs are in it.
type shown struct{ to io.Writer }

// Write reports the length of what it was given: a character may become one of another length.
func (s shown) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.to, harmless(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// teller returns a function that tells what a user should know, a line at a time.
func teller(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		fmt.Fprintln(w, "gridslot: "+harmless(fmt.Sprintf(format, args...)))
	}
}

// onceTeller returns a teller that says no line twice: validate, for one, opens a log anew for each
// schedule of it. Several goroutines may tell at a time.
func onceTeller(w io.Writer) func(format string, args ...any) {
	var said sync.Map
	tell := teller(w)
	return func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		if _, before := said.LoadOrStore(line, true); !before {
			tell("%s", line)
		}
	}
}

// byUsage accepts as many arguments as the usage of a command shows, "DIR [JOB]" or "LOG... OUT",
// none of them empty. What stands in brackets may be left out, and dots mean that there may be
// more.
func byUsage(cmd *cobra.Command, args []string) error {
	_, what, _ := strings.Cut(cmd.Use, " ")
	what, _, _ = strings.Cut(what, " --") // flags that are needed
	words := strings.Fields(what)
	most, least := len(words), len(slices.DeleteFunc(words, func(word string) bool { return word[0] == '[' }))
	// How the number of arguments is said in an error.
	number := fmt.Sprintf("%d argument", most)
	switch {
	case strings.Contains(what, "..."):
		number = fmt.Sprintf("%d or more argument", least)
		most = max(most, len(args))
	case least == 0:
		number = "at most " + number
	case least < most:
		number = fmt.Sprintf("between %d and %d argument", least, most)
	}
	if most != 1 {
		number += "s"
	}
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
	return namesFiles(cmd)
}

// namesFiles refuses a flag of a file or folder whose name is empty. Most such calls come from a
// script whose variable is not set (--out "$RESULTS"), and without an error their results are lost.
func namesFiles(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, folder := f.Annotations[cobra.BashCompSubdirsInDir]
		_, file := f.Annotations[cobra.BashCompFilenameExt]
		if err == nil && (folder || file) && f.Value.String() == "" {
			err = usagef("--%s needs the name of a %s, and its value is empty", f.Name, map[bool]string{true: "folder", false: "file"}[folder])
		}
	})
	return err
}

// flagError words errors of the reader of flags: what is wanted, and the flag that was probably
// meant.
func flagError(cmd *cobra.Command, err error) error {
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
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return usagef("unknown flag: %s%s", name, enum.Suggestion(name, known))
	case errors.As(err, &needs):
		return usagef("--%s needs a value: %s", needs.GetFlag().Name, needs.GetFlag().Usage)
	}
	return &usageError{err}
}
