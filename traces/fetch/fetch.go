package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/traces"
)

// defaultMaxSize is the largest number of bytes of a file if no other limit is given.
const defaultMaxSize = 1 << 30

// Options say where a log comes from and goes to. The zero value fetches logs of the catalogue
// from the archive.
type Options struct {
	// dir is the folder for the log; "" means traces.Cache.
	dir string
	// URL is the address of the file, in place of the archive's. Its scheme must be https.
	URL string
	// SHA256 is the checksum that the file must have, in hexadecimal. If it and URL are empty, the
	// catalogue's checksum counts, if it has one.
	SHA256 string
	// MaxSize is the largest number of bytes of the file; 0 means 1 GiB. It may be unpacked to
	// sixteen times that, and to a hundred times its own size.
	MaxSize int64
	// Force fetches a log that is there already, from its first byte.
	Force bool
	// Progress, if set, is told now and then how many bytes have come, and of how many; -1 if the
	// server does not tell.
	Progress func(done, total int64)
	// patience is for how long nothing may come; 0 means a minute.
	patience time.Duration
	// transport speaks to the server; nil means http.DefaultTransport, which goes through the
	// proxies that the environment names.
	transport http.RoundTripper
}

// fetched describes a fetched log. Its fields with JSON names stand beside the log in
// NAME.swf.gz.json.
type fetched struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// SHA256 and Size, in bytes, are of the file as it is stored, packed.
	SHA256       string    `json:"sha256"`
	Size         int64     `json:"size"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Fetched      time.Time `json:"fetched"`

	// Path is the path of the log.
	Path string `json:"-"`
	// There tells that it was there already, and nothing was fetched.
	There bool `json:"-"`
	// Checked tells that its checksum was known, and is right.
	Checked bool `json:"-"`
	// Resumed is the number of bytes that were there from a call before.
	Resumed int64 `json:"-"`
}

// busyError reports that another process is fetching the log.
type busyError struct{ Name, Dir string }

func (e *busyError) Error() string {
	return fmt.Sprintf("another gridslot is fetching %s into %s: wait until it has ended", e.Name, e.Dir)
}

// partError reports that fetching ended too early. A part of the file was kept, and the same call
// continues from there.
type partError struct {
	URL string
	// Kept is the number of bytes that were kept.
	Kept int64
	Err  error
}

func (e *partError) Error() string {
	return fmt.Sprintf("%s: %v; %d bytes are kept, and the same call goes on from there", e.URL, e.Err, e.Kept)
}

func (e *partError) Unwrap() error { return e.Err }

// sound is the form of a log's name, and so of the name of a file on every system; checksum is the
// form of Options.SHA256.
var (
	sound    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`) // and so it is the name of a file, on every system
	checksum = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Log fetches a log by its name: a log of the catalogue, or any log if Options.URL gives its
// address. A log that is there already is not fetched again, unless Options.Force is set.
//
// If the network fails or ctx ends, and a part of the file was kept, the error is a *partError, and
// the same call continues. The error is a *busyError if another process is fetching the log.
func Log(ctx context.Context, name string, o Options) (*fetched, error) {
	name = traces.Stem(name)
	from, err := o.complete(name)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder for logs: %w", err)
	}
	unlock, err := lock(o.dir, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if path := traces.Cached(o.dir, name); path != "" && !o.Force {
		return there(name, path, o.SHA256)
	}
	p := &part{url: from, path: filepath.Join(o.dir, name+".part"), Options: o}
	if o.Force {
		p.drop()
	}
	if err := p.fetch(ctx); err != nil {
		return nil, err
	}
	ending, sum, err := p.check(ctx)
	if err != nil {
		if ctx.Err() == nil {
			p.drop() // or the next call would stumble over it again
		}
		return nil, fmt.Errorf("%s: %w", o.URL, err)
	}
	return p.keep(name, ending, sum)
}

// complete checks the options for a log of that name, fills in what is left open, and returns the
// address to fetch from.
func (o *Options) complete(name string) (*url.URL, error) {
	if !sound.MatchString(name) {
		return nil, fmt.Errorf("%q cannot be the name of a log: letters, digits and . _ + - are wanted", name)
	}
	log, known := traces.Known(name)
	if o.URL == "" {
		if !known {
			return nil, fmt.Errorf("%s is not in the catalogue ('gridslot trace list'): give its address (--url)", name)
		}
		o.URL, o.SHA256 = log.URL, cmp.Or(o.SHA256, log.SHA256)
	}
	from, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	o.SHA256 = strings.ToLower(o.SHA256)
	if o.SHA256 != "" && !checksum.MatchString(o.SHA256) {
		return nil, fmt.Errorf("a checksum has 64 hexadecimal digits, not %q", o.SHA256)
	}
	if o.dir == "" {
		if o.dir, err = traces.Cache(); err != nil {
			return nil, err
		}
	}
	o.MaxSize = cmp.Or(o.MaxSize, defaultMaxSize)
	o.patience = cmp.Or(o.patience, time.Minute)
	return from, nil
}

// keep gives the part, which is the whole file and was checked, the name of the log, and writes its
// record. The record comes first: a log without one would look as if somebody had put it there by
// hand. A file of the same log that was packed in another way goes.
func (p *part) keep(name, ending, sum string) (*fetched, error) {
	f := &fetched{
		Name: name, URL: p.URL, SHA256: sum, Size: p.size, ETag: p.meta.ETag, LastModified: p.meta.LastModified, Fetched: time.Now().UTC().Truncate(time.Second),
		Path: filepath.Join(p.dir, name+ending), Checked: p.SHA256 != "", Resumed: p.resumed,
	}
	old := traces.Cached(p.dir, name)
	if err := writeJSON(record(f.Path), f); err != nil {
		return nil, err
	}
	if err := os.Rename(p.path, f.Path); err != nil {
		return nil, fmt.Errorf("giving the log its name: %w", err)
	}
	p.drop()
	if old != "" && old != f.Path {
		os.Remove(old)
		os.Remove(record(old))
	}
	return f, nil
}

// address checks where a file is to come from.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no address: https://HOST/PATH is wanted", text)
	case u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%s: logs are fetched by https only: https://HOST/PATH is wanted", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%s: an address with a password would be kept beside the log", u.Redacted())
	}
	return u, nil
}

// lock keeps other processes from fetching a log of that name into the folder. The lock's file
// stays: if it were removed, one process could lock it while another one makes a new one.
func lock(dir, name string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, "."+name+".lock"), flock.SetPermissions(0o666)) // the folder may be several users'
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking the folder for logs: %w", err)
	}
	if !held {
		return nil, &busyError{name, dir}
	}
	return func() { _ = l.Close() }, nil // nothing was written through it
}

// record returns the file in which a Fetched is kept, by the path of the log.
func record(path string) string { return path + ".json" }

// there returns a log that has been fetched before. Its checksum, computed anew, must be sum or,
// if that is "", the one of its record.
func there(name, path, sum string) (*fetched, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &fetched{Name: name}
	_ = readJSON(record(path), f) // whoever put the log there by hand wrote no record
	sum = cmp.Or(sum, f.SHA256)
	if f.SHA256, f.Size, err = sumOf(file); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if sum != "" && sum != f.SHA256 {
		return nil, fmt.Errorf("%s is there already, with the checksum %s, not %s: --force fetches it again", path, f.SHA256, sum)
	}
	f.Path, f.There, f.Checked = path, true, sum != ""
	return f, nil
}

// writeJSON writes v as JSON for people: addresses keep their & as it is.
func writeJSON(path string, v any) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	})
}

// readJSON reads what writeJSON writes.
func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}
