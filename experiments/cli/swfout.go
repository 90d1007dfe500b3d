package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/workload"
)

// swfOutput is SWF on its way to a file that is there whole or not at all, or
// to standard output.
type swfOutput struct {
	ctx  context.Context
	to   *workload.Writer
	file *workload.FileWriter // nil for standard output
}

// createSWF begins the file path, or standard output where path is "" or "-",
// with a header.
func createSWF(cmd *cobra.Command, path string, h *workload.Header) (*swfOutput, error) {
	out := &swfOutput{ctx: cmd.Context()}
	if path == "" || path == workload.StandardInput {
		out.to = workload.NewWriter(cmd.OutOrStdout())
	} else {
		file, err := workload.CreateSWF(path)
		if err != nil {
			return nil, err
		}
		out.to, out.file = file.Writer, file
	}
	if err := out.to.WriteHeader(h); err != nil {
		out.Abort()
		return nil, err
	}
	return out, nil
}

// Write writes a record. It fails once the call is interrupted.
func (out *swfOutput) Write(rec *workload.Record) error {
	if out.ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return out.to.Write(rec)
}

// Commit completes the output.
func (out *swfOutput) Commit() error {
	if out.file != nil {
		return out.file.Commit()
	}
	return out.to.Flush()
}

// Abort throws a file away. After Commit it does nothing.
func (out *swfOutput) Abort() {
	if out.file != nil {
		out.file.Abort()
	}
}
