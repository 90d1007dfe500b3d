package cli

import (
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/workload"
)

// logOutput is a log on its way to standard output, or to a file that is there whole or not at all.
type logOutput struct {
	workload.RecordWriter
	cmd  *cobra.Command
	file *workload.PackedFile // nil for standard output
}

// createLog begins the file of a path, or standard output if path is "" or "-", in a format, with a
// header. The caller must Commit or Abort it.
func createLog(cmd *cobra.Command, path string, format workload.Writable, h *workload.Header) (*logOutput, error) {
	out := &logOutput{cmd: cmd}
	var to io.Writer = cmd.OutOrStdout()
	var err error
	if path != "" && path != workload.StandardInput {
		if out.file, err = workload.CreatePacked(path); err != nil {
			return nil, err
		}
		to = out.file
	}
	if out.RecordWriter, err = format.Write(to, h); err != nil {
		out.Abort()
		return nil, err
	}
	return out, nil
}

// Write writes a record. It fails once the call is interrupted.
func (out *logOutput) Write(rec *workload.Record) error {
	if err := out.cmd.Context().Err(); err != nil {
		return err
	}
	return out.RecordWriter.Write(rec)
}

// writeAll writes records and completes the text. Commit comes after it.
func (out *logOutput) writeAll(records iter.Seq2[*workload.Record, error]) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		if err := out.Write(rec); err != nil {
			return err
		}
	}
	return out.Close()
}

// Commit gives a file its name. It comes after Close.
func (out *logOutput) Commit() error {
	if out.file != nil {
		return out.file.Commit()
	}
	return nil
}

// Abort throws a file away. After Commit it does nothing.
func (out *logOutput) Abort() {
	if out.file != nil {
		out.file.Abort()
	}
}
