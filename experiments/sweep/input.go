package sweep

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
)

// InputFile is the file at path as an input, under that name.
func InputFile(path string) (Input, error) {
	in := Input{Name: path, Path: path}
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
