package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/traces/fetch"
)

// newTraceFetch is `gridslot trace fetch`, the only command that speaks to a network. Package fetch
// decides what may be accepted, and how a download goes on that was cut off.
func newTraceFetch() *cobra.Command {
	var f fetch.Options
	cmd := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Fetch a log of the " + traces.Archive,
		Long: `Fetch a log of the ` + traces.Archive + ` by its name in 'gridslot trace list',
or any log by --url, under a name of your own. The cache keeps the log, and simulate and
other commands find it there by its name; the variable ` + traces.CacheVariable + ` can
name another folder as the cache. An interrupted download continues where it stopped, if
the file on the server has not changed. The command uses https only, and only the host of
the address.

It prints the checksum of the file in front of its path, as sha256sum does.`,
		Example: `  gridslot trace fetch KTH-SP2-1996-2.1-cln
  gridslot simulate KTH-SP2-1996-2.1-cln
  gridslot trace fetch ours --url https://example.org/ours.swf.gz --max-size 2G`,
		ValidArgsFunction: completeLogs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := traces.Known(args[0]); !ok && f.URL == "" {
				names, _ := completeLogs(cmd, nil, "")
				var same *traces.NamesakesError // "KTH-SP2"
				if _, err := traces.Find(args[0]); errors.As(err, &same) {
					logs := make([]string, len(same.Logs))
					for i, log := range same.Logs {
						logs[i] = log.Name
					}
					return usagef("%s is not the whole name of a log; the archive has %s", args[0], strings.Join(logs, ", "))
				}
				return usagef("%s is not in the catalogue ('gridslot trace list'): give its address with --url%s", args[0], enum.Suggestion(args[0], names))
			}
			if f.MaxSize < 0 {
				return usagef("--max-size must not be negative")
			}
			return fetchLog(cmd, args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.URL, "url", "", "address of the file, https://HOST/PATH (default: the address in the archive)")
	parsedFlag(cmd, &f.MaxSize, "max-size", "1G", "SIZE", "greatest size of the file", hostmem.ParseSize)
	flags.StringVar(&f.SHA256, "sha256", "", "checksum that the file must have")
	flags.BoolVar(&f.Force, "force", false, "fetch the log again, from its first byte")
	return cmd
}

// fetchLog fetches a log and tells what became of it, whom to thank and what to cite. The checksum
// and the path go to standard output, the rest to standard error.
func fetchLog(cmd *cobra.Command, name string, f fetch.Options) error {
	tell, hide := teller(cmd.ErrOrStderr()), func() {}
	var done atomic.Int64
	bar := false
	// How long the file is, and so the bar, is known when the first bytes are there.
	f.Progress = func(now, total int64) {
		done.Store(now)
		if !bar && total > 0 {
			bar, hide = true, showProgress(cmd.ErrOrStderr(), func() string { return name }, total, done.Load)
		}
	}
	file, err := fetch.Log(cmd.Context(), name, f)
	hide()
	if err != nil {
		if cmd.Context().Err() != nil {
			tell("%v", err) // with what is kept, which "interrupted" does not say
		}
		return err
	}
	switch {
	case file.There:
		tell("it was there already: --force fetches it again")
	case file.Resumed > 0:
		tell("fetched %d bytes, %d of them before", file.Size, file.Resumed)
	default:
		tell("fetched %d bytes", file.Size)
	}
	if !file.Checked {
		tell("its checksum is not known: nothing tells whether this is the file that others have")
	}
	if log, ok := traces.Known(name); ok {
		if log.Acknowledge != "" {
			tell("thank %s", log.Acknowledge)
		}
		for _, paper := range log.Citations() {
			tell("cite %s", paper)
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", file.SHA256, file.Path)
	return err
}
