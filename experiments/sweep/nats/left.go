package nats

// Files that units leave, where the study keeps them: a worker packs them, and the
// coordinator gives them their place before it takes the result down.

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridslot/gridslot/experiments/sweep"
)

func leftBy(dir, key string) string { return (&sweep.Folder{Path: dir}).Files(key) }

// send puts the files of a folder on the server, under the unit's key.
func send(ctx context.Context, store jetstream.ObjectStore, key, dir string) error {
	from, to := io.Pipe()
	go func() {
		zip := gzip.NewWriter(to)
		pack := tar.NewWriter(zip)
		err := pack.AddFS(os.DirFS(dir))
		to.CloseWithError(errors.Join(err, pack.Close(), zip.Close()))
	}()
	defer from.Close() // so that the writer ends whatever befell the reader
	_, err := store.Put(ctx, jetstream.ObjectMeta{Name: key}, from)
	return err
}

// receive gives the files of a unit their place in the study's folder, all or none.
func receive(ctx context.Context, store jetstream.ObjectStore, key, place string) error {
	info, err := store.GetInfo(ctx, key)
	if err != nil {
		return err
	}
	ctx, cancel := travel(ctx, int64(info.Size))
	defer cancel()
	object, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer object.Close()
	short := filepath.Join(filepath.Dir(place), fmt.Sprintf(".%s.%d.tmp", key, os.Getpid()))
	defer os.RemoveAll(short)
	if err := errors.Join(os.RemoveAll(short), os.MkdirAll(short, 0o777)); err != nil {
		return &storeError{err}
	}
	zip, err := gzip.NewReader(object)
	if err != nil {
		return err
	}
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) || (h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir) {
			return fmt.Errorf("a worker sent what is no file of a run: %q", h.Name)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if err := copyTo(filepath.Join(short, filepath.FromSlash(h.Name)), files); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(place), os.Rename(short, place)); err != nil {
		return &storeError{err}
	}
	return nil
}

// copyTo makes a file; a storeError where the disk is at fault.
func copyTo(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return &storeError{err}
	}
	file, err := os.Create(path)
	if err != nil {
		return &storeError{err}
	}
	_, err = io.Copy(file, from)
	var disk *os.PathError
	if closing := file.Close(); closing != nil || errors.As(err, &disk) {
		return &storeError{errors.Join(err, closing)}
	}
	return err
}
