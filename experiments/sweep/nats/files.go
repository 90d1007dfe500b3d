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
	"os"
	"path/filepath"
	"regexp"
	"strings"

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
	info, err := store.Put(ctx, jetstream.ObjectMeta{Name: in.Sum}, file)
	if err != nil {
		return fmt.Errorf("giving %s to the workers: %w", in.Name, err)
	}
	if sumOf(info) != in.Sum {
		return fmt.Errorf("%s has changed since the study began: let it stand as it is until the study is done, and call again", in.Name)
	}
	return nil
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

// download gives the path of a copy of an input in the cache: CACHE/SUM/NAME. What is
// there already is believed where its checksum is right. A server's words make no path:
// checksums are checked, and of the name only its last part counts, in letters that
// have no meaning to any system.
func download(ctx context.Context, store jetstream.ObjectStore, cache string, in sweep.Input) (string, error) {
	if !sumForm.MatchString(in.Sum) {
		return "", fmt.Errorf("the server's checksum %q of %q is none", in.Sum, in.Name)
	}
	path := filepath.Join(cache, in.Sum, fileName(in.Name))
	if sum, err := sumOfFile(path); err == nil && sum == in.Sum {
		return path, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking into the cache: %w", err)
	}
	object, err := store.Get(ctx, in.Sum)
	if err != nil {
		return "", fmt.Errorf("getting %s from the server: %w", in.Name, err)
	}
	defer object.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	err = atomicfile.Write(path, func(to io.Writer) error {
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(to, h), object); err != nil {
			return fmt.Errorf("getting %s from the server: %w", in.Name, err)
		}
		if sum := hex.EncodeToString(h.Sum(nil)); sum != in.Sum {
			return fmt.Errorf("the server's copy of %s has the checksum %s, not %s", in.Name, sum, in.Sum)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return path, nil
}

func fileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, name)
	if name = strings.TrimLeft(name, "."); name == "" {
		return "input"
	}
	return name[max(0, len(name)-100):] // the ending tells what it is
}

func sumOfFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
