package workload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zstandard(t *testing.T, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return z.EncodeAll([]byte(text), nil)
}

func stored(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path
}

// longText is a trace of a few blocks.
func longText() string {
	var b strings.Builder
	b.WriteString("; MaxProcs: 10\n")
	for i := range 10_000 {
		b.WriteString(line(i+1, i, 9, 1, 1, 10, 1) + "\n")
	}
	return b.String()
}

func TestTraceIsReadHoweverItIsPacked(t *testing.T) {
	text := longText()
	half := strings.Index(text[len(text)/2:], "\n") + len(text)/2
	for name, data := range map[string][]byte{
		"plain.swf":      []byte(text),
		"a.swf.gz":       gzipped(t, text),
		"a.swf.zst":      zstandard(t, text),
		"misnamed.swf":   gzipped(t, text),
		"misnamed.gz":    []byte(text),
		"two-members.gz": append(gzipped(t, text[:half]), gzipped(t, text[half:])...),
	} {
		path := stored(t, name, data)
		trace, err := OpenSWF(path)
		require.NoError(t, err)
		require.Equal(t, 10, trace.MaxProcs)
		require.Equal(t, name, trace.Name)
		require.Len(t, jobsOf(t, trace), 10_000, name)
		sum := sha256.Sum256(data)
		hash, err := trace.SHA256()
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(sum[:]), hash)

		piped, err := Options{Reading: Reading{Stdin: bytes.NewReader(data)}}.Open(StandardInput)
		require.NoError(t, err)
		for range 2 { // standard input can be read again
			require.Len(t, jobsOf(t, piped), 10_000, name)
		}
		again, err := piped.SHA256()
		require.NoError(t, err)
		require.Equal(t, hash, again)
	}
}

func TestTruncatedArchiveIsAnErrorThatNamesTheLine(t *testing.T) {
	text := longText()
	for name, data := range map[string][]byte{"a.swf.gz": gzipped(t, text), "a.swf.zst": zstandard(t, text)} {
		for _, cut := range []int{len(data) / 2, len(data) - 1, len(data) - 6} {
			trace, err := OpenSWF(stored(t, name, data[:cut]))
			if err == nil {
				for range trace.Jobs() {
				}
				err = trace.Err()
			}
			require.ErrorIs(t, err, errTruncated, "%s cut at %d of %d", name, cut, len(data))
			require.ErrorContains(t, err, name+": after line ")
		}
	}
}

func TestTruncatedArchiveHeaderIsAnError(t *testing.T) {
	_, err := OpenSWF(stored(t, "a.swf.gz", gzipped(t, sound)[:5]))
	require.ErrorIs(t, err, errTruncated)
}

func TestDamagedArchiveIsAnError(t *testing.T) {
	data := gzipped(t, longText())
	data[len(data)-5] ^= 1 // in the checksum
	trace, err := OpenSWF(stored(t, "a.swf.gz", data))
	require.NoError(t, err)
	for range trace.Jobs() {
	}
	require.ErrorContains(t, trace.Err(), "damaged")
}

func TestForeignArchiveIsNamed(t *testing.T) {
	for magic, name := range map[string]string{"BZh91AY": "bzip2", "\xFD7zXZ\x00\x00": "xz", "PK\x03\x04\x14\x00": "zip", "\x1F\x9D\x90": "compress"} {
		_, err := OpenSWF(stored(t, "a.swf", []byte(magic)))
		require.ErrorIs(t, err, ErrNotSWF)
		require.ErrorContains(t, err, name)
	}
}

func TestWhatCannotBeOpenedIsNamed(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenSWF(dir)
	require.ErrorContains(t, err, dir+" is a directory")
	_, err = OpenSWF(filepath.Join(dir, "none.swf"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "none.swf")
	_, err = OpenSWF(stored(t, "empty.swf", nil))
	require.ErrorIs(t, err, ErrNotSWF)
	require.EqualError(t, err, "empty.swf: not an SWF file: it is empty")
	_, err = Options{Reading: Reading{Stdin: strings.NewReader("")}}.Open(StandardInput)
	require.EqualError(t, err, "standard input: not an SWF file: it is empty")
}

func TestHeaderAloneIsATraceWithoutJobs(t *testing.T) {
	trace, err := OpenSWF(stored(t, "a.swf", []byte("; MaxNodes: 7")))
	require.NoError(t, err)
	require.Empty(t, jobsOf(t, trace))
	require.Equal(t, 7, trace.MaxProcs, "nodes where processors are not given")
}

// A header that names two sizes does not tell which is the machine's. MaxNodes does not count beside MaxProcs.
func TestAHeaderWithTwoSizesNeedsProcs(t *testing.T) {
	for head, want := range map[string]string{
		"; MaxProcs: 4\n; MaxProcs: 8\n":                "a.swf: its header has MaxProcs 4 and MaxProcs 8: give the number of processors (--procs N)",
		"; MaxNodes: 4\n; Maxnodes: 2 (two)\n":          "a.swf: its header has MaxNodes 4 and MaxNodes 2: give",
		"; MaxProcs: 4\n; MaxProcs: 4 (2 x 2)\n":        "",
		"; MaxNodes: 9\n; MaxProcs: 4\n; MaxNodes: 7\n": "",
		"; MaxProcs: 4\n; MaxProcs: unknown\n":          "",
	} {
		path := stored(t, "a.swf", []byte(head+sound))
		trace, err := OpenSWF(path)
		require.NoError(t, err)
		procs, err := trace.Procs()
		if want == "" {
			require.NoError(t, err, head)
			require.Equal(t, 4, procs)
			continue
		}
		require.ErrorContains(t, err, want)
		trace, err = Options{Reading: Reading{Procs: 5}}.Open(path)
		require.NoError(t, err)
		procs, err = trace.Procs()
		require.NoError(t, err)
		require.Equal(t, 5, procs)
	}
}

func TestProcessorsMustComeFromSomewhere(t *testing.T) {
	path := stored(t, "a.swf", []byte(sound))
	trace, err := OpenSWF(path)
	require.NoError(t, err)
	_, err = trace.Procs()
	require.EqualError(t, err, "a.swf: its header has neither MaxProcs nor MaxNodes: give the number of processors (--procs N)")

	trace, err = Options{Reading: Reading{Procs: 5}}.Open(path)
	require.NoError(t, err)
	procs, err := trace.Procs()
	require.NoError(t, err)
	require.Equal(t, 5, procs)
}

func TestFileThatChangesUnderATraceIsAnError(t *testing.T) {
	path := stored(t, "a.swf", []byte(sound))
	trace, err := OpenSWF(path)
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	_, err = trace.Open()
	require.ErrorContains(t, err, "has changed")
}

func TestBytesReadReachTheSize(t *testing.T) {
	trace, err := OpenSWF(stored(t, "a.swf.gz", gzipped(t, longText())))
	require.NoError(t, err)
	s, err := trace.Open()
	require.NoError(t, err)
	for range s.Jobs() {
	}
	require.Equal(t, trace.Size(), s.BytesRead())
}

func TestWhatIsReadOnceIsKeptInMemoryOrInAFile(t *testing.T) {
	for _, inMemory := range []int64{0, 4, 5, 6} {
		t.Setenv("TMPDIR", t.TempDir())
		s := &Stored{}
		require.NoError(t, s.keep(strings.NewReader("12345"), inMemory))
		require.EqualValues(t, 5, s.size)
		for range 2 { // any number of times
			r, err := s.open()
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, "12345", string(text))
		}
		left, err := os.ReadDir(os.TempDir())
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestAnUnreadableSizeOfTheMachineIsNamed(t *testing.T) {
	trace, err := Options{Reading: Reading{Stdin: strings.NewReader("; MaxProcs: abc\n" + sound)}}.Open(StandardInput)
	require.NoError(t, err)
	_, err = trace.Procs()
	require.ErrorContains(t, err, `MaxProcs is "abc"`)
}

// The beginning of "1,024" is a number, 1, and a machine of one processor would reject most of the
// log without a word about the header.
func TestAHeaderWhoseSizeIsWrittenOtherwiseIsNoSize(t *testing.T) {
	for _, size := range []string{"1,024", "1.024", "1e3", "1_024", "512x2", "2147483648", "99999999999", "9223372036854775808", "0", "-1"} {
		trace, err := ReadSWF("a.swf", strings.NewReader("; MaxProcs: "+size+"\n"+sound))
		require.NoError(t, err)
		require.Zero(t, trace.MaxProcs, size)
		_, err = trace.Procs()
		require.EqualError(t, err, `a.swf: its header's MaxProcs is "`+size+`", not a whole number of 1 to 2147483647: give the number of processors (--procs N)`)
	}
	for _, size := range []string{"1024 (512 x 2)", "1024\tof 2048", "1024, of which 24 are spare", "1024.", "2147483647"} {
		trace, err := ReadSWF("a.swf", strings.NewReader("; MaxProcs: "+size+"\n"+sound))
		require.NoError(t, err)
		require.NotZero(t, trace.MaxProcs, size)
	}
}

func TestATraceIsReadUnderAName(t *testing.T) {
	trace, err := ReadSWF("some.swf", strings.NewReader("; MaxProcs: 8\n"+sound))
	require.NoError(t, err)
	require.Equal(t, "some.swf", trace.Name)
	require.Equal(t, 8, trace.MaxProcs)
	for range 2 {
		require.NotEmpty(t, slices.Collect(trace.Jobs()))
		require.NoError(t, trace.Err())
	}
	_, err = ReadSWF("some.swf", strings.NewReader(""))
	require.ErrorContains(t, err, "some.swf")
}

// A trace that is open and not being read keeps what its header tells, and no block of its text.
func TestAnOpenTraceKeepsNoBlockOfItsText(t *testing.T) {
	path := stored(t, "log.swf", []byte("; MaxProcs: 10\n"+line(1, 0, 9, 1, 1, 10, 1)+"\n"))
	const traces = 50
	var before, after runtime.MemStats
	open := make([]*Trace, traces)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range open {
		var err error
		open[i], err = Options{}.Open(path)
		require.NoError(t, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc-before.HeapAlloc)/traces, int64(64<<10), "bytes of each")
	runtime.KeepAlive(open)
}
