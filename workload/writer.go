package workload

import (
	"io"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/blocks"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// This file writes the Standard Workload Format: what a Reader read comes out
// with the same header and the same records, one blank between fields.

// Writer writes a header and records. The first error ends it: every later
// call returns the same one.
type Writer struct {
	text blocks.Writer
}

// NewWriter writes to w, in large blocks: Flush it at the end.
func NewWriter(w io.Writer) *Writer {
	return &Writer{blocks.NewWriter(w, blockSize)}
}

// WriteHeader writes the header's lines verbatim.
func (w *Writer) WriteHeader(h *Header) error {
	for _, l := range h.lines {
		w.text.Text = append(append(w.text.Text, l.text...), '\n')
	}
	return w.text.Spill()
}

// Write writes a record.
func (w *Writer) Write(rec *Record) error {
	b := w.text.Text
	for i, n := range rec.fields() {
		if timeFields>>i&1 != 0 {
			b = des.Time(n).Append(b)
		} else {
			b = strconv.AppendInt(b, n, 10)
		}
		b = append(b, ' ')
	}
	b[len(b)-1] = '\n'
	w.text.Text = b
	return w.text.Spill()
}

// Flush writes the text that the writer still holds.
func (w *Writer) Flush() error { return w.text.Flush() }

// RecordOf returns the record of a job: what the job asks for. All else is unknown. Fields 17 and
// 18 express that a job comes after the end of one other job. They cannot express several
// predecessors, or a predecessor that must finish well (see TellsAfter).
func RecordOf(j *entity.Job) Record {
	rec := Record{
		Job: j.ID, Submit: j.Submit, Wait: UnknownTime, Runtime: j.Runtime,
		Allocated: int64(j.Request.Nodes), CPUTime: UnknownTime, UsedMemory: Unknown,
		Requested: int64(j.Request.Nodes), Estimate: j.Request.Length, RequestedMemory: Unknown,
		Status: StatusCompleted, User: int64(j.User), Group: int64(j.Group), Executable: Unknown,
		Queue: int64(j.Queue), Partition: Unknown, Preceding: Unknown, ThinkTime: UnknownTime,
	}
	if len(j.After) > 0 && TellsAfter(j.After) {
		rec.Preceding, rec.ThinkTime = j.After[0].Job, j.After[0].Think
	}
	return rec
}

// TellsAfter reports whether fields 17 and 18 of SWF can express after: at most one predecessor,
// of which any end will do.
func TellsAfter(after []entity.Dependency) bool {
	return len(after) == 0 || len(after) == 1 && !after[0].OK && !after[0].Submitted
}

// RecordOfRun is RecordOf with the outcome of the run: its wait if it has started, and whether it
// was killed.
func RecordOfRun(r *entity.Run) Record {
	rec := RecordOf(r.Job)
	switch r.State {
	case entity.Running, entity.Finished:
		rec.Wait = r.Wait()
	case entity.Killed:
		rec.Wait, rec.Status = r.Wait(), StatusFailed
	}
	return rec
}

// PackedFile is a file that appears whole or not at all. It is compressed if its name asks for
// that.
//
//	f, err := workload.CreatePacked("out.swf.gz")
//	...
//	defer f.Abort() // does nothing after Commit
//	w := workload.NewWriter(f)
//	w.WriteHeader(header)
//	for rec := range records {
//		w.Write(rec)
//	}
//	if err := w.Flush(); err != nil {
//		return err
//	}
//	return f.Commit()
type PackedFile struct {
	io.Writer
	packed io.Closer // nil where the text is plain
	file   *atomicfile.Pending
}

// CreatePacked begins a file at path, packed by gzip if the name ends in .gz, by zstd if it ends in
// .zst. The file gets its name by Commit.
func CreatePacked(path string) (*PackedFile, error) {
	f, err := atomicfile.CreateNamed(path)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(path, ".gz"):
		z := gzip.NewWriter(f)
		return &PackedFile{z, z, f}, nil
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
		if err != nil {
			f.Abort()
			return nil, err
		}
		return &PackedFile{z, z, f}, nil
	}
	return &PackedFile{f, nil, f}, nil
}

// Commit completes the file. If any writing has failed, it removes the file and returns the error.
func (p *PackedFile) Commit() error {
	if p.packed != nil {
		if err := p.packed.Close(); err != nil {
			p.file.Abort()
			return err
		}
	}
	return p.file.Commit()
}

// Abort removes the unfinished file. After Commit it does nothing.
func (p *PackedFile) Abort() { p.file.Abort() }
