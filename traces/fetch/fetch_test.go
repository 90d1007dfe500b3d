package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

const name = "Test-Log-2026-1"

// swf is a log of n jobs, the same for the same seed.
func swf(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	fmt.Fprintln(&b, "; MaxProcs: 128")
	for i := range n {
		fmt.Fprintf(&b, "%d %d -1 %d %d -1 -1 -1 7200 -1 1 %d -1 -1 -1 -1 -1 -1\n", i+1, 60*i, r.IntN(7200), 1+r.IntN(128), r.IntN(40))
	}
	return b.Bytes()
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// archive is a server with one file. What it does wrong is set by a test.
type archive struct {
	*httptest.Server
	content  []byte
	etag     string
	modified time.Time
	cut      int // ends the connection after so many bytes of an answer
	sent     atomic.Int64

	mu     sync.Mutex
	handle func(http.ResponseWriter, *http.Request) (done bool) // instead
	asked  []*http.Request
}

func serve(t *testing.T, content []byte) *archive {
	a := &archive{content: content, etag: `"one"`, modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked = append(a.asked, r)
		handle := a.handle
		a.mu.Unlock()
		if handle != nil && handle(w, r) {
			return
		}
		if a.etag != "" {
			w.Header().Set("ETag", a.etag)
		}
		http.ServeContent(&counted{w, a}, r, "log.swf.gz", a.modified, bytes.NewReader(a.content))
	}))
	a.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that clients break off
	a.StartTLS()
	t.Cleanup(a.Close)
	return a
}

// does has the server answer otherwise.
func (a *archive) does(handle func(http.ResponseWriter, *http.Request) (done bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handle = handle
}

// counted counts what is sent, and cuts it.
type counted struct {
	http.ResponseWriter
	a *archive
}

func (c *counted) Write(b []byte) (int, error) {
	if left := c.a.cut - int(c.a.sent.Load()); c.a.cut > 0 && len(b) > left {
		_, _ = c.ResponseWriter.Write(b[:left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		c.a.sent.Add(int64(left))
		panic(http.ErrAbortHandler)
	}
	c.a.sent.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// options fetch from the server into dir.
func (a *archive) options(dir string) Options {
	return Options{dir: dir, URL: a.URL + "/log.swf.gz", transport: a.Client().Transport}
}

// ls are the names in a folder, but for locks.
func ls(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestALogIsFetchedWithItsRecord(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 5000))), filepath.Join(t.TempDir(), "new", "folder")
	var done, total int64
	o := a.options(dir)
	o.Progress = func(d, n int64) { done, total = d, n }
	f, err := Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, name+".swf.gz"), f.Path)
	require.Equal(t, a.content, content(t, f.Path))
	require.Equal(t, []string{name + ".swf.gz", name + ".swf.gz.json"}, ls(t, dir))
	size := int64(len(a.content))
	require.Equal(t, [2]int64{size, size}, [2]int64{done, total})
	require.Equal(t, sum(a.content), f.SHA256)
	require.False(t, f.Checked, "nothing was known of it")
	require.Equal(t, "identity", a.asked[0].Header.Get("Accept-Encoding"), "or it could come packed once more")

	var kept fetched
	require.NoError(t, readJSON(record(f.Path), &kept))
	require.Equal(t, fetched{Name: name, URL: o.URL, SHA256: f.SHA256, Size: size, ETag: `"one"`, LastModified: "Wed, 01 Jan 2020 00:00:00 GMT", Fetched: f.Fetched}, kept)
	require.WithinDuration(t, time.Now(), kept.Fetched, time.Minute)
	require.Equal(t, f.Path, traces.Cached(dir, name))

	a.content = gzipped(swf(2, 10))
	again, err := Log(t.Context(), name+".swf.gz", o)
	require.NoError(t, err)
	require.True(t, again.There)
	require.Equal(t, f.SHA256, again.SHA256)
	require.Len(t, a.asked, 1, "it was there")

	o.Force = true
	again, err = Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Equal(t, a.content, content(t, again.Path))
}

func TestAFileIsNamedByWhatItIsPackedWith(t *testing.T) {
	text, dir := swf(1, 100), t.TempDir()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	for ending, stored := range map[string][]byte{".swf": text, ".swf.gz": gzipped(text), ".swf.zst": z.EncodeAll(text, nil)} {
		o := serve(t, stored).options(dir)
		o.Force = true
		f, err := Log(t.Context(), name, o)
		require.NoError(t, err)
		require.Equal(t, []string{name + ending, name + ending + ".json"}, ls(t, dir))
		require.Equal(t, stored, content(t, f.Path))
	}
}

func TestAConnectionThatBreaksIsGoneOnWith(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
	a.cut = 30_000
	_, err := Log(t.Context(), name, a.options(dir))
	var part *partError
	require.ErrorAs(t, err, &part)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "bytes are kept, and the same call goes on from there")
	require.Equal(t, []string{name + ".part", name + ".part.json"}, ls(t, dir))
	require.EqualValues(t, 30_000, part.Kept)
	require.Equal(t, a.content[:part.Kept], content(t, filepath.Join(dir, name+".part")))

	a.cut = 0
	a.sent.Store(0)
	f, err := Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
	require.Equal(t, part.Kept, f.Resumed)
	require.EqualValues(t, int64(len(a.content))-part.Kept, a.sent.Load(), "the rest alone")
	require.Equal(t, "bytes=30000-", a.asked[1].Header.Get("Range"))
	require.Equal(t, `"one"`, a.asked[1].Header.Get("If-Range"))
	require.Equal(t, a.content, content(t, f.Path))
	require.Equal(t, []string{name + ".swf.gz", name + ".swf.gz.json"}, ls(t, dir))
}

func TestForceBeginsWithTheFirstByte(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
	a.cut = 30_000
	o := a.options(dir)
	_, err := Log(t.Context(), name, o)
	require.ErrorContains(t, err, "30000 bytes are kept")
	a.cut, o.Force = 0, true
	f, err := Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Zero(t, f.Resumed)
	require.Empty(t, a.asked[1].Header.Get("Range"))
	require.Equal(t, a.content, content(t, f.Path))
}

func TestATimeOfChangeServesWhereThereIsNoETag(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
	a.etag, a.cut = "", 30_000
	_, err := Log(t.Context(), name, a.options(dir))
	require.ErrorContains(t, err, "30000 bytes are kept")
	a.cut = 0
	f, err := Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
	require.EqualValues(t, 30_000, f.Resumed)
	require.Equal(t, a.content, content(t, f.Path))
}

// Each server has another version of the file when the rest is asked for, or cannot tell.
func TestAFileThatHasChangedIsFetchedAnew(t *testing.T) {
	long, other := gzipped(swf(1, 20_000)), gzipped(swf(2, 20_000))
	rest := func(tag, modified string, total int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Range") == "" {
				return false
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 30000-%d/%d", total-1, total))
			if tag != "" {
				w.Header().Set("ETag", tag)
			}
			w.Header().Set("Last-Modified", modified)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(other[30_000:])
			return true
		}
	}
	const then = "Wed, 01 Jan 2020 00:00:00 GMT"
	for what, change := range map[string]func(*archive){
		"by its ETag":           func(a *archive) { a.etag = `"two"` },
		"by its time":           func(a *archive) { a.etag, a.modified = "", a.modified.Add(time.Hour) },
		"without ranges":        func(a *archive) { a.does(without("Range")) },
		"If-Range not known":    func(a *archive) { a.does(rest(`"two"`, then, len(long))) },
		"nor ETags":             func(a *archive) { a.does(rest("", "Wed, 01 Jan 2020 00:00:09 GMT", len(long))) },
		"of another size":       func(a *archive) { a.does(rest(`"one"`, then, len(long)+1)) },
		"no range to be had":    func(a *archive) { a.does(status(http.StatusRequestedRangeNotSatisfiable, "Range")) },
		"another range":         func(a *archive) { a.does(header("Content-Range", fmt.Sprintf("bytes 0-9/%d", len(long)))) },
		"a range of other kind": func(a *archive) { a.does(header("Content-Range", fmt.Sprintf("lines 30000-30009/%d", len(long)))) },
	} {
		t.Run(what, func(t *testing.T) {
			a, dir := serve(t, long), t.TempDir()
			if what == "by its time" {
				a.etag = ""
			}
			a.cut = 30_000
			_, err := Log(t.Context(), name, a.options(dir))
			require.ErrorContains(t, err, "30000 bytes are kept")
			a.content, a.cut = other, 0
			change(a)
			f, err := Log(t.Context(), name, a.options(dir))
			require.NoError(t, err)
			require.True(t, bytes.Equal(other, content(t, f.Path)))
			require.Zero(t, f.Resumed)
		})
	}
}

// without has a server overlook a header.
func without(key string) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del(key)
		return false
	}
}

// status answers with a status those who send a header.
func status(code int, key string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get(key) == "" {
			return false
		}
		w.WriteHeader(code)
		return true
	}
}

// header answers those who ask for a range with that header, and nonsense.
func header(key, value string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") == "" {
			return false
		}
		w.Header().Set(key, value)
		w.WriteHeader(http.StatusPartialContent)
		_, _ = io.WriteString(w, "0123456789")
		return true
	}
}

func TestWhatCannotBeToldApartIsNotGoneOnWith(t *testing.T) {
	for what, tell := range map[string]func(*archive){
		"nothing":           func(a *archive) { a.etag, a.modified = "", time.Time{} },
		"a weak ETag":       func(a *archive) { a.etag = `W/"one"` },
		"changed right now": func(a *archive) { a.etag, a.modified = "", time.Now().Add(time.Hour) },
	} {
		t.Run(what, func(t *testing.T) {
			a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
			tell(a)
			a.cut = 30_000
			_, err := Log(t.Context(), name, a.options(dir))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.NotContains(t, err.Error(), "kept")
			a.cut = 0
			f, err := Log(t.Context(), name, a.options(dir))
			require.NoError(t, err)
			require.Empty(t, a.asked[1].Header.Get("Range"))
			require.Equal(t, a.content, content(t, f.Path))
		})
	}
}

func TestAPartOfAnotherAddressIsNotGoneOnWith(t *testing.T) {
	a, dir := serve(t, swf(1, 2000)), t.TempDir()
	a.cut = 30_000
	o := a.options(dir)
	_, err := Log(t.Context(), name, o)
	require.ErrorContains(t, err, "30000 bytes are kept")
	a.cut, a.content = 0, bytes.Replace(a.content, []byte("128"), []byte("256"), 1) // of the same size, and with the same ETag
	o.URL = a.Server.URL + "/other.swf.gz"
	f, err := Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Zero(t, f.Resumed)
	require.Equal(t, a.content, content(t, f.Path))
}

func TestAPartThatIsWholeIsNotAskedForAgain(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 100))), t.TempDir()
	o := a.options(dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".part"), a.content, 0o666))
	require.NoError(t, writeJSON(filepath.Join(dir, name+".part.json"), &meta{URL: o.URL, ETag: `"one"`, Validator: `"one"`, Size: int64(len(a.content))}))
	f, err := Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Equal(t, a.content, content(t, f.Path))
	require.Empty(t, a.asked)
}

func TestAChecksumThatIsKnownMustBeRight(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 100))), t.TempDir()
	o := a.options(dir)
	o.SHA256 = strings.Repeat("0a", 32)
	_, err := Log(t.Context(), name, o)
	require.ErrorContains(t, err, "the checksum of the file is "+sum(a.content)+", not 0a0a")
	require.Empty(t, ls(t, dir), "a wrong file is not gone on with")
	o.SHA256 = strings.ToUpper(sum(a.content))
	f, err := Log(t.Context(), name, o)
	require.NoError(t, err)
	require.True(t, f.Checked)

	require.NoError(t, os.WriteFile(f.Path, gzipped(swf(3, 3)), 0o666))
	_, err = Log(t.Context(), name, o)
	require.ErrorContains(t, err, "is there already, with the checksum "+sum(gzipped(swf(3, 3))))
	o.SHA256 = ""
	_, err = Log(t.Context(), name, o)
	require.ErrorContains(t, err, "--force fetches it again", "it is not what was fetched")
	o.SHA256 = "short"
	_, err = Log(t.Context(), name, o)
	require.ErrorContains(t, err, "64 hexadecimal digits")
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
	size := int64(len(a.content))
	o := a.options(dir)
	o.MaxSize = size - 1
	_, err := Log(t.Context(), name, o)
	require.ErrorContains(t, err, fmt.Sprintf("more than %d bytes: --max-size allows more", size-1))
	require.Empty(t, ls(t, dir))
	f, err := Log(t.Context(), "Tight", Options{dir: dir, URL: o.URL, transport: o.transport, MaxSize: size})
	require.NoError(t, err)
	require.Equal(t, size, f.Size)
	require.NoError(t, os.RemoveAll(dir))

	a.does(func(w http.ResponseWriter, _ *http.Request) bool { // no Content-Length
		for i := 0; i < len(a.content); i += 1000 {
			_, _ = w.Write(a.content[i:min(i+1000, len(a.content))])
			_ = http.NewResponseController(w).Flush()
		}
		return true
	})
	_, err = Log(t.Context(), name, o)
	require.ErrorContains(t, err, "--max-size allows more")
	require.Empty(t, ls(t, dir))
	o.MaxSize = size
	f, err = Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Equal(t, a.content, content(t, f.Path))
}

func TestAFileThatIsKnownToBeTooLargeIsNotRead(t *testing.T) {
	a, dir, sent := serve(t, gzipped(swf(1, 20_000))), t.TempDir(), make(chan struct{})
	slowly(a, 10, sent) // and it would not end
	o := a.options(dir)
	o.MaxSize = 1000
	_, err := Log(t.Context(), name, o)
	require.ErrorContains(t, err, "--max-size allows more")
	require.Empty(t, ls(t, dir))
}

func TestAServerMaySendTheRestInPieces(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
	a.cut = 30_000
	_, err := Log(t.Context(), name, a.options(dir))
	require.ErrorContains(t, err, "30000 bytes are kept")
	a.cut = 0
	a.does(func(_ http.ResponseWriter, r *http.Request) bool {
		from, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+49_999))
		return false
	})
	kept := 30_000
	for ; kept+50_000 < len(a.content); kept += 50_000 {
		_, err = Log(t.Context(), name, a.options(dir))
		require.ErrorContains(t, err, fmt.Sprintf("the server ended after %d of %d bytes; %[1]d bytes are kept", kept+50_000, len(a.content)))
	}
	require.Greater(t, kept, 30_000)
	f, err := Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
	require.EqualValues(t, kept, f.Resumed)
	require.Equal(t, a.content, content(t, f.Path))
}

func TestAnInterruptWhileTheFileIsCheckedLosesNothing(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 100))), t.TempDir()
	o := a.options(dir)
	part := filepath.Join(dir, name+".part")
	require.NoError(t, os.WriteFile(part, a.content, 0o666))
	require.NoError(t, writeJSON(record(part), &meta{URL: o.URL, Validator: `"one"`, Size: int64(len(a.content))}))
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := Log(ctx, name, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, a.content, content(t, part))
	_, err = Log(t.Context(), name, o)
	require.NoError(t, err)
	require.Empty(t, a.asked)
}

func TestAFileThatUnpacksToFarMoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	line := bytes.Repeat([]byte(" "), 90)
	copy(line, "1 0 -1 60 1 -1 -1 1 60 -1 1 -1 -1 -1 -1 -1 -1 -1")
	line[len(line)-1] = '\n'
	bomb := serve(t, gzipped(bytes.Repeat(line, 200_000))) // 18 MB out of some 40 kB
	require.Less(t, len(bomb.content)*mostRatio, 200_000*len(line))
	_, err := Log(t.Context(), name, bomb.options(dir))
	require.ErrorIs(t, err, errBomb)
	require.Empty(t, ls(t, dir))

	// The same ratio in small is no harm.
	small := serve(t, gzipped(bytes.Repeat(line, free/len(line))))
	require.Less(t, len(small.content)*mostRatio, free)
	_, err = Log(t.Context(), name, small.options(dir))
	require.NoError(t, err)

	// Packed well, but to more than sixteen times what a file may have.
	var text bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&text, "%d 0 -1 60 1 -1 -1 1 60 -1 1 -1 -1 -1 -1 -1 -1 -1%40s\n", i, "")
	}
	large := serve(t, gzipped(text.Bytes()))
	require.Less(t, mostUnpacked*len(large.content), text.Len())
	require.Greater(t, mostRatio*len(large.content), text.Len())
	o := large.options(dir)
	o.Force = true
	_, err = Log(t.Context(), name, o)
	require.NoError(t, err)
	o.MaxSize = int64(len(large.content))
	_, err = Log(t.Context(), name, o)
	require.ErrorIs(t, err, errBomb)
}

func TestOnlyTheHostThatWasAskedForIsSpokenTo(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	t.Cleanup(plain.Close)
	other := serve(t, gzipped(swf(1, 100)))
	a, dir := serve(t, gzipped(swf(1, 100))), t.TempDir()
	to := ""
	a.does(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/log.swf.gz" {
			http.Redirect(w, r, to, http.StatusFound)
			return true
		}
		return false
	})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(a.Server.URL, "https://"))
	require.NoError(t, err)
	for _, to = range []string{plain.URL + "/log.swf.gz", other.URL + "/log.swf.gz", "https://localhost:" + port + "/moved.swf.gz", strings.Replace(a.Server.URL, "https", "http", 1) + "/moved.swf.gz"} {
		_, err := Log(t.Context(), name, a.options(dir))
		require.ErrorContains(t, err, "it redirects to "+to)
		require.Empty(t, ls(t, dir))
	}
	require.Empty(t, other.asked)
	to = "/log.swf.gz"
	_, err = Log(t.Context(), name, a.options(dir))
	require.ErrorContains(t, err, "it redirects again and again")
	to = a.Server.URL + "/moved.swf.gz"
	_, err = Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
}

func TestServersAreNamedWithTheirPorts(t *testing.T) {
	u := func(text string) string {
		u, err := address(text)
		require.NoError(t, err)
		return server(u)
	}
	require.Equal(t, u("https://www.cs.huji.ac.il/a"), u("https://WWW.cs.huji.ac.il:443/b"))
	require.NotEqual(t, u("https://www.cs.huji.ac.il/a"), u("https://www.cs.huji.ac.il:8443/a"))
	require.NotEqual(t, u("https://www.cs.huji.ac.il/a"), u("https://cs.huji.ac.il/a"))
}

func TestOnlyHTTPSIsSpoken(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1/log.swf.gz", "ftp://host/log", "file:///etc/passwd", "log.swf.gz", "https:///log", "https://user:secret@host/log"} {
		_, err := Log(t.Context(), name, Options{dir: t.TempDir(), URL: address})
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "secret")
		require.Regexp(t, "https only|password", err.Error())
	}
	for _, wrong := range []string{"", "../log", "a/b", `a\b`, ".hidden", "c:log", "log\n"} {
		_, err := Log(t.Context(), wrong, Options{dir: t.TempDir(), URL: "https://127.0.0.1:1/log"})
		require.ErrorContains(t, err, "cannot be the name of a log", wrong)
	}
	_, err := Log(t.Context(), "No-Such-Log-1", Options{dir: t.TempDir()})
	require.ErrorContains(t, err, "not in the catalogue")
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	page := "\n<!DOCTYPE html>\n<html><body>1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18</body></html>\n"
	for want, stored := range map[string][]byte{
		"it is a page of HTML":           []byte(page),
		"page of HTML; is the address":   gzipped([]byte(page)),
		"it is packed by zip":            []byte("PK\x03\x04 and more"),
		"is empty":                       {},
		"none of its 1 lines":            []byte("Not found\n"),
		"the compressed file is truncat": gzipped(swf(1, 1000))[:2000],
		"it holds binary data":           {0, 1, 2, 3},
	} {
		_, err := Log(t.Context(), name, serve(t, stored).options(dir))
		require.ErrorContains(t, err, want)
		require.Empty(t, ls(t, dir), want)
	}
}

func TestFailuresOfTheServerAreToldPlainly(t *testing.T) {
	a, dir := serve(t, nil), t.TempDir()
	for code, want := range map[int]string{404: "the server has no such file (404 Not Found)", 410: "the server has no such file (410", 500: "the server answers 500 Internal Server Error", 304: "the server answers 304", 206: "the server answers 206"} {
		a.does(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(code); return true })
		_, err := Log(t.Context(), name, a.options(dir))
		require.ErrorContains(t, err, a.Server.URL+"/log.swf.gz: "+want)
		require.Empty(t, ls(t, dir))
	}
	o := a.options(dir)
	o.transport = nil
	_, err := Log(t.Context(), name, o)
	require.ErrorContains(t, err, "the server's certificate is not accepted")
	require.ErrorAs(t, err, &x509.UnknownAuthorityError{})
	a.Close()
	_, err = Log(t.Context(), name, a.options(dir))
	require.ErrorContains(t, err, "connection refused")
	unknown := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { // whatever the network here says of names
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "no-such-host.invalid", IsNotFound: true}}
	}}
	_, err = Log(t.Context(), name, Options{dir: dir, URL: "https://no-such-host.invalid/log", transport: unknown})
	require.ErrorContains(t, err, "its host cannot be found")
	require.Empty(t, ls(t, dir))
}

// slowly sends some of the file, and then nothing until the client goes away.
func slowly(a *archive, some int, sent chan<- struct{}) {
	a.does(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", a.etag)
		w.Header().Set("Content-Length", strconv.Itoa(len(a.content)))
		_, _ = w.Write(a.content[:some])
		_ = http.NewResponseController(w).Flush()
		if sent != nil {
			close(sent)
		}
		<-r.Context().Done()
		return true
	})
}

func TestAnInterruptLeavesAPartToGoOnWith(t *testing.T) {
	a, dir, sent := serve(t, gzipped(swf(1, 20_000))), t.TempDir(), make(chan struct{})
	slowly(a, 30_000, sent)
	ctx, interrupt := context.WithCancel(t.Context())
	o := a.options(dir)
	o.Progress = func(done, _ int64) {
		if done == 30_000 {
			<-sent
			interrupt()
		}
	}
	_, err := Log(ctx, name, o)
	require.ErrorIs(t, err, context.Canceled)
	var part *partError
	require.ErrorAs(t, err, &part)
	require.EqualValues(t, 30_000, part.Kept)
	a.does(nil)
	f, err := Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
	require.EqualValues(t, 30_000, f.Resumed)
	require.Equal(t, a.content, content(t, f.Path))
}

func TestAServerThatFallsSilentIsGivenUp(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 20_000))), t.TempDir()
	slowly(a, 30_000, nil)
	o := a.options(dir)
	var err error
	patiently(t, func(patience time.Duration) bool {
		o.patience = patience
		_, err = Log(t.Context(), name, o)
		var part *partError
		return errors.As(err, &part) && part.Kept == 30_000
	})
	said := fmt.Sprintf("nothing came for %v; 30000 bytes are kept", o.patience)
	require.ErrorContains(t, err, said)
	a.does(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	_, err = Log(t.Context(), name, o)
	require.ErrorContains(t, err, said, "not even a header")
	a.does(nil)
	f, err := Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
	require.EqualValues(t, 30_000, f.Resumed)
}

func TestAServerThatIsSlowIsWaitedFor(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 1000))), t.TempDir()
	var f *fetched
	patiently(t, func(patience time.Duration) bool { // it is less than all of the log takes
		a.does(func(w http.ResponseWriter, _ *http.Request) bool {
			for i := range 10 {
				time.Sleep(patience / 6)
				_, _ = w.Write(a.content[i*len(a.content)/10 : (i+1)*len(a.content)/10])
				_ = http.NewResponseController(w).Flush()
			}
			return true
		})
		o := a.options(dir)
		o.patience = patience
		var err error
		f, err = Log(t.Context(), name, o)
		return err == nil
	})
	require.Equal(t, a.content, content(t, f.Path))
}

// patiently tries with longer and longer times: a machine that has much else to do may let a
// short one pass without anybody's fault.
func patiently(t *testing.T, holds func(patience time.Duration) bool) {
	t.Helper()
	patience := 200 * time.Millisecond
	for ; !holds(patience); patience *= 4 {
		require.Less(t, patience, 10*time.Second, "it fails, however long the times are")
	}
}

func TestOneFetchesALogAtATime(t *testing.T) {
	a, dir, sent := serve(t, gzipped(swf(1, 20_000))), t.TempDir(), make(chan struct{})
	slowly(a, 30_000, sent)
	ctx, interrupt := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := Log(ctx, name, a.options(dir))
		first <- err
	}()
	<-sent
	_, err := Log(t.Context(), name, a.options(dir))
	var busy *busyError
	require.ErrorAs(t, err, &busy)
	require.ErrorContains(t, err, "another gridslot is fetching "+name)
	other, err := Log(t.Context(), "Another-Log", serve(t, gzipped(swf(3, 10))).options(dir))
	require.NoError(t, err)
	require.FileExists(t, other.Path)
	interrupt()
	require.ErrorIs(t, <-first, context.Canceled)
	a.does(nil)
	_, err = Log(t.Context(), name, a.options(dir))
	require.NoError(t, err)
}

func TestAFolderThatCannotBeWrittenIsToldOf(t *testing.T) {
	a, dir := serve(t, gzipped(swf(1, 100))), t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := Log(t.Context(), name, a.options(filepath.Join(file, "folder")))
	require.ErrorContains(t, err, "making the folder for logs")
	require.ErrorContains(t, err, file)
	if os.Getuid() == 0 {
		t.Skip("root writes into any folder")
	}
	require.NoError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) }) // or nobody but root can remove the file in it
	_, err = Log(t.Context(), name, a.options(dir))
	require.ErrorIs(t, err, os.ErrPermission)
	require.Empty(t, a.asked)
}

func TestTheSettingsOfTheEnvironmentsProxyHold(t *testing.T) {
	require.NotNil(t, http.DefaultTransport.(*http.Transport).Proxy)
}

func TestWhatIsFetchedCanBeRead(t *testing.T) {
	text := swf(1, 300)
	f, err := Log(t.Context(), name, serve(t, gzipped(text)).options(t.TempDir()))
	require.NoError(t, err)
	trace, err := workload.OpenSWF(f.Path)
	require.NoError(t, err)
	n := 0
	for range trace.Jobs() {
		n++
	}
	require.Equal(t, 300, n)
}
