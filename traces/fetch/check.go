package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gridslot/gridslot/workload"
)

// What a file may be unpacked to: mostUnpacked times the size that it may have, and mostRatio
// times its own, but a megabyte in any case. Logs of the archive are packed to a twelfth at best.
const (
	mostUnpacked = 16
	mostRatio    = 100
	free         = 1 << 20
)

// check reads the whole part: its checksum must be right, it must unpack within bounds, and be a
// log. It returns the ending that the log's name is to have, and the checksum.
func (p *part) check(ctx context.Context) (ending, sum string, err error) {
	file, err := os.Open(p.path)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	if sum, _, err = sumOf(file); err != nil {
		return "", "", err
	}
	if p.SHA256 != "" && sum != p.SHA256 {
		return "", "", fmt.Errorf("the checksum of the file is %s, not %s: it has been damaged, or changed", sum, p.SHA256)
	}
	// Phase 2: it unpacks, and every line is one of a log.
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", "", err
	}
	text, err := workload.Decompress(file)
	if err != nil {
		return "", "", err
	}
	defer text.Close()
	unpacked := bufio.NewReader(&bounded{ctx: ctx, from: text, left: min(mostUnpacked*p.MaxSize, max(mostRatio*p.size, free))})
	head, err := unpacked.Peek(512)
	if err != nil && err != io.EOF {
		return "", "", err
	}
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) {
		return "", "", fmt.Errorf("%w: it is a page of HTML; is the address that of the file itself?", workload.ErrNotSWF)
	}
	log := workload.NewReader(unpacked)
	log.Name = "the file"
	for range log.Records() {
	}
	if log.Err() != nil {
		return "", "", log.Err()
	}
	return endingOf(file), sum, nil
}

// endingOf returns the ending for a file by its first bytes: the magic numbers of gzip and zstd.
func endingOf(file io.ReaderAt) string {
	var head [4]byte
	_, _ = file.ReadAt(head[:], 0) // it has been read before
	switch {
	case bytes.HasPrefix(head[:], []byte("\x1F\x8B")):
		return ".swf.gz"
	case bytes.Equal(head[:], []byte("\x28\xB5\x2F\xFD")):
		return ".swf.zst"
	}
	return ".swf"
}

// sumOf returns the SHA-256 of what r holds, in hexadecimal, and its size in bytes.
func sumOf(r io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// errBomb reports a packed file that unpacks to more than a log does.
var errBomb = errors.New("it unpacks to far more than it has, and more than a log would: it is refused")

// bounded reads at most left bytes, and until ctx is done.
type bounded struct {
	ctx  context.Context
	from io.Reader
	left int64
}

func (b *bounded) Read(to []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.from.Read(to)
	if b.left -= int64(n); b.left < 0 {
		return 0, errBomb
	}
	return n, err
}
