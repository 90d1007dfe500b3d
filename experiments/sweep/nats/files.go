package nats

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// upload puts an input on the server under its checksum, where it is not there yet.
func upload(ctx context.Context, store jetstream.ObjectStore, in sweep.Input) error {
	if info, err := store.GetInfo(ctx, in.Sum); err == nil && sumOf(info) == in.Sum {
		return nil
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return fmt.Errorf("giving %s to the workers: %w", in.Name, err)
	}
	defer file.Close()
	ctx, cancel := travel(ctx, in.Size)
	defer cancel()
	info, err := store.Put(ctx, jetstream.ObjectMeta{Name: in.Sum}, file)
	if err != nil {
		return fmt.Errorf("giving %s to the workers: %w", in.Name, err)
	}
	if sumOf(info) != in.Sum {
		return fmt.Errorf("%s has changed since the study began: let it stand as it is until the study is done, and call again", in.Name)
	}
	return nil
}

// slowest is how fast files must travel at least, in bytes a second.
const slowest = 100_000

// travel is the context for a file of so many bytes to travel in: without a deadline the
// library gives any file no more than it gives a request.
func travel(ctx context.Context, bytes int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience+time.Duration(bytes/slowest)*time.Second)
}

// sumOf is the SHA-256 of an object in hexadecimal.
func sumOf(info *jetstream.ObjectInfo) string {
	sum, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(info.Digest, "SHA-256="))
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum)
}

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// unpack gives a worker the study with copies of its inputs, in its cache:
//
//	CACHE/files/SUM                    what was fetched, once for all studies
//	CACHE/studies/ID/home/ann/log.swf  the same, as /home/ann/log.swf of the coordinator
//
// A study is in the place that it has at the coordinator's, below a root of its own, so
// names of files mean what they mean there. A server's words lead nowhere else:
// checksums are checked, and paths are cleaned of what leads upwards.
func unpack(ctx context.Context, store jetstream.ObjectStore, cache string, n names, job *Job) error {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return fmt.Errorf("finding the cache: %w", err)
	}
	root := filepath.Join(cache, "studies", n.id)
	job.Portable.Root, job.Portable.Dir = root, below(root, job.Portable.Dir)
	for i := range job.Basis.Inputs {
		in := &job.Basis.Inputs[i]
		file, err := download(ctx, store, filepath.Join(cache, "files"), *in)
		if err != nil {
			return err
		}
		in.Path = below(root, in.Path)
		if path.Base(in.Name) == in.Name { // what the coordinator has fetched stands beside the study here
			in.Path = below(job.Portable.Dir, in.Name)
		}
		if err := link(file, in.Path); err != nil {
			return fmt.Errorf("putting %s into the cache: %w", in.Name, err)
		}
	}
	return nil
}

// below is a path of another machine below a root here.
func below(root, name string) string {
	name = strings.NewReplacer(`\`, "/", ":", "").Replace(name)
	return filepath.Join(root, filepath.FromSlash(path.Clean("/"+name)))
}

// download gives the path of a copy of an input in dir, named by its checksum. One
// that is there is believed where its checksum is right.
func download(ctx context.Context, store jetstream.ObjectStore, dir string, in sweep.Input) (string, error) {
	if !sumForm.MatchString(in.Sum) {
		return "", fmt.Errorf("the server's checksum %q of %q is none", in.Sum, in.Name)
	}
	file := filepath.Join(dir, in.Sum)
	if there, err := sweep.InputFile(file); err == nil && there.Sum == in.Sum {
		return file, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking into the cache: %w", err)
	}
	ctx, cancel := travel(ctx, in.Size)
	defer cancel()
	object, err := store.Get(ctx, in.Sum)
	if err != nil {
		return "", fmt.Errorf("getting %s from the server: %w", in.Name, err)
	}
	defer object.Close()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	return file, atomicfile.Write(file, func(to io.Writer) error {
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(to, h), object); err != nil {
			return fmt.Errorf("getting %s from the server: %w", in.Name, err)
		}
		if sum := hex.EncodeToString(h.Sum(nil)); sum != in.Sum {
			return fmt.Errorf("the server's copy of %s has the checksum %s, not %s", in.Name, sum, in.Sum)
		}
		return nil
	})
}

// link gives a file another name, or a copy where that cannot be. Other workers may be
// reading what stands there: it is replaced at once, and only where it is another file.
func link(file, name string) error {
	there, err := os.Stat(name)
	if from, errFrom := os.Stat(file); err == nil && errFrom == nil && os.SameFile(there, from) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	short := fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32())
	if os.Link(file, short) == nil {
		defer os.Remove(short) // renaming a file to its own other name leaves both
		return os.Rename(short, name)
	}
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	return atomicfile.Write(name, func(to io.Writer) error {
		_, err := io.Copy(to, from)
		return err
	})
}
