package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// part is the part of a file that has come so far. meta identifies the file. It stands beside the
// part, so that a later call asks for the rest of that file and no other.
type part struct {
	Options
	url  *url.URL
	path string

	meta meta
	// size is the number of bytes that are there, resumed the number of them from a call before.
	size    int64
	resumed int64
}

// meta says which file a part is of.
type meta struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Validator is the value by which the server recognises this version of the file (If-Range); ""
	// if it gave none that tells versions apart.
	Validator string `json:"validator,omitempty"`
	// Size is the size of the whole file, in bytes; -1 if the server did not tell.
	Size int64 `json:"size"`
}

// drop removes the part and its record.
func (p *part) drop() {
	os.Remove(p.path)
	os.Remove(record(p.path))
	p.size = 0
}

// load takes up what a call before has left, if it is of the same file and can be continued;
// otherwise it drops it.
func (p *part) load() {
	info, err := os.Stat(p.path)
	if err == nil {
		err = readJSON(record(p.path), &p.meta)
	}
	if err != nil || info.Size() == 0 || p.meta.URL != p.url.String() || p.meta.Validator == "" {
		p.drop()
		return
	}
	p.size = info.Size()
}

// fetch makes the part the whole file.
func (p *part) fetch(ctx context.Context) error {
	// Phase 1: ask for what is missing.
	p.load()
	p.resumed = p.size
	if p.size > 0 && p.size == p.meta.Size { // only its name was missing
		return p.withinBounds(p.size)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := time.AfterFunc(p.patience, func() { cancel(fmt.Errorf("nothing came for %v", p.patience)) })
	defer waiting.Stop()
	resp, err := p.ask(ctx)
	if err != nil {
		return p.failed(ctx, err)
	}
	defer resp.Body.Close()
	if err := p.begin(resp); err != nil {
		return err
	}
	// Phase 2: append what comes. What was written before an error stays for the next call.
	out, err := os.OpenFile(p.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("writing %s: %w", p.path, err)
	}
	defer out.Close()
	for buf := make([]byte, 64<<10); ; {
		n, err := resp.Body.Read(buf)
		waiting.Reset(p.patience)
		if n > 0 {
			if err := p.withinBounds(p.size + int64(n)); err != nil {
				out.Close()
				p.drop()
				return err
			}
			if _, err := out.Write(buf[:n]); err != nil {
				return p.failed(ctx, err)
			}
			p.size += int64(n)
			if p.Progress != nil {
				p.Progress(p.size, p.meta.Size)
			}
		}
		switch {
		case err == nil:
			continue
		case err != io.EOF:
			return p.failed(ctx, err)
		case p.meta.Size >= 0 && p.size != p.meta.Size:
			return p.failed(ctx, fmt.Errorf("the server ended after %d of %d bytes", p.size, p.meta.Size))
		}
		return out.Close()
	}
}

// withinBounds returns an error if size, in bytes, is more than the file may have.
func (p *part) withinBounds(size int64) error {
	if size > p.MaxSize {
		return fmt.Errorf("%s: the file has more than %d bytes: --max-size allows more", p.url, p.MaxSize)
	}
	return nil
}

// ask asks for the file, or for what is missing of it.
func (p *part) ask(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // the file as it is stored: what comes is counted and summed
	req.Header.Set("User-Agent", "gridslot")
	if p.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		req.Header.Set("If-Range", p.meta.Validator)
	}
	client := http.Client{Transport: p.transport, CheckRedirect: p.follow}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	// The server cannot send the rest: ask for the whole.
	again := false
	switch {
	case resp.StatusCode == http.StatusOK:
		return resp, nil
	case p.size > 0 && resp.StatusCode == http.StatusPartialContent:
		if p.goesOn(resp) {
			return resp, nil
		}
		again = true
	case p.size > 0 && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		again = true
	}
	resp.Body.Close()
	if again { // without what is there, so that this comes once
		p.drop()
		return p.ask(ctx)
	}
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		return nil, fmt.Errorf("the server has no such file (%s)", resp.Status)
	}
	return nil, fmt.Errorf("the server answers %s", resp.Status)
}

// rangeForm is the form of Content-Range: the first byte of what is sent, and the size of the
// file, if the server knows it.
var rangeForm = regexp.MustCompile(`^bytes (\d+)-\d+/(\d+|\*)$`)

// goesOn reports whether an answer is the rest of the file that the part is of. A server may
// ignore If-Range, and send the rest of another version.
func (p *part) goesOn(resp *http.Response) bool {
	m := rangeForm.FindStringSubmatch(resp.Header.Get("Content-Range"))
	if m == nil || m[1] != strconv.FormatInt(p.size, 10) {
		return false
	}
	if m[2] != "*" && p.meta.Size >= 0 && m[2] != strconv.FormatInt(p.meta.Size, 10) {
		return false
	}
	same := func(header, was string) bool {
		now := resp.Header.Get(header)
		return now == "" || was == "" || now == was
	}
	return same("ETag", p.meta.ETag) && same("Last-Modified", p.meta.LastModified)
}

// begin prepares the part for what an answer brings: nothing if it is the rest, otherwise the file
// from its first byte.
func (p *part) begin(resp *http.Response) error {
	if resp.StatusCode == http.StatusPartialContent {
		return nil
	}
	p.drop()
	p.resumed = 0
	p.meta = meta{
		URL: p.url.String(), ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified"),
		Validator: validator(resp.Header), Size: resp.ContentLength,
	}
	if err := p.withinBounds(p.meta.Size); err != nil {
		return err
	}
	return writeJSON(record(p.path), &p.meta)
}

// validator returns what surely tells one version of a file from another (RFC 9110, 8.8 and
// 13.1.5): a strong ETag or, if there is no ETag at all, a time of change at least a second before
// the file was sent.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" {
		if strings.HasPrefix(tag, "W/") {
			return ""
		}
		return tag
	}
	changed, err := http.ParseTime(h.Get("Last-Modified"))
	sent, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil || sent.Sub(changed) < time.Second {
		return ""
	}
	return h.Get("Last-Modified")
}

// follow allows redirections only to other places of the same server.
func (p *part) follow(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Scheme != "https" || server(req.URL) != server(p.url):
		return fmt.Errorf("it redirects to %s, and not by https to the same host: give that address (--url), if you trust it", req.URL.Redacted())
	case len(via) >= 10:
		return errors.New("it redirects again and again")
	}
	return nil
}

// server returns the host and port of an address.
func server(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// failed returns err in plainer words: a *partError if a part is kept that the next call can
// continue.
func (p *part) failed(ctx context.Context, err error) error {
	var certificate *tls.CertificateVerificationError
	var lookup *net.DNSError
	var request *url.Error
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.As(err, &request) {
		err = request.Err // without the address, which stands in front
	}
	switch {
	case errors.As(err, &certificate):
		err = fmt.Errorf("the server's certificate is not accepted: %w", certificate.Err)
	case errors.As(err, &lookup):
		err = fmt.Errorf("its host cannot be found: %w; is there a network, or a proxy to be set (HTTPS_PROXY)?", err)
	}
	if p.size > 0 && p.meta.Validator != "" {
		return &partError{p.url.String(), p.size, err}
	}
	return fmt.Errorf("%s: %w", p.url, err)
}
