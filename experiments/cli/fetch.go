package cli

import (
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/internal/command"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/traces/fetch"
)

// fetchLog is the work of trace fetch.
func fetchLog(cmd *cobra.Command, name string, f command.Fetch) error {
	tell, hide := command.Teller(cmd.ErrOrStderr()), func() {}
	var done atomic.Int64
	bar := false
	file, err := fetch.Log(cmd.Context(), name, fetch.Options{
		Dir: f.Dir, URL: f.URL, SHA256: f.SHA256, MaxSize: f.MaxSize, Force: f.Force,
		Progress: func(now, total int64) {
			done.Store(now)
			if !bar && total > 0 {
				bar, hide = true, command.ShowProgress(cmd.ErrOrStderr(), func() string { return name }, total, done.Load)
			}
		},
	})
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
