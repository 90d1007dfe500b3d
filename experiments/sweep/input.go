package sweep

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

// InputFile is the file at path as an input, under that name. What can be read once
// only, such as a pipe, is none.
func InputFile(path string) (Input, error) {
	in := Input{Name: path, Path: path}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return in, &os.PathError{Op: "open", Path: path, Err: errors.New("it is no regular file")}
	}
	file, err := os.Open(path)
	if err != nil {
		return in, err
	}
	defer file.Close()
	sum := sha256.New()
	if in.Size, err = io.Copy(sum, file); err != nil {
		return in, err
	}
	in.Sum = fmt.Sprintf("%x", sum.Sum(nil))
	return in, nil
}
