package sweep

// The checksums of the files that a unit leaves, beside them: such as sha256sum writes, and
// 'sha256sum -c' reads, with their number at the end.
//
//	9c..  jobs-easy.csv
//	77..  summary.csv
//	# 2 files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// SumsName is the file with the checksums of the files that a unit has left.
const SumsName = "files.sha256"

// writeSums writes the checksums of the files in dir, a folder of root, into dir/SumsName. What is
// neither a file nor a folder in there is an error, as is a name that does not fit on a line of
// sha256sum without escapes.
func writeSums(root *os.Root, dir string) error {
	var b strings.Builder
	files := 0
	err := fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		rest := strings.TrimPrefix(name, dir+"/")
		switch {
		case err != nil || e.IsDir() || rest == SumsName:
			return err
		case !e.Type().IsRegular() || strings.ContainsAny(rest, "\n\r\\"):
			return fmt.Errorf("keeping the files of a unit: %q is no regular file with a name on one line", rest)
		}
		sum, err := fileSum(root, name)
		files++
		fmt.Fprintf(&b, "%s  %s\n", sum, rest)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "# %d files\n", files)
	return root.WriteFile(path.Join(dir, SumsName), []byte(b.String()), 0o666)
}

// hasKept reports whether the files that a unit has left are there, as it left them. The number at
// the end tells a list that was cut off at a line. Files that stand beside them, such as the page
// of a report, do not count.
func (f *Folder) hasKept(key string) bool {
	dir := runsName + "/" + key
	text, err := f.read(dir + "/" + SumsName)
	if text == nil || err != nil {
		return false
	}
	files := 0
	for line := range strings.Lines(string(text)) {
		want, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !found {
			return line == fmt.Sprintf("# %d files\n", files)
		}
		if sum, err := fileSum(f.root, path.Join(dir, name)); err != nil || sum != want {
			return false
		}
		files++
	}
	return false // its end is missing
}

// fileSum returns the checksum of a file below root, in hexadecimal.
func fileSum(root *os.Root, name string) (string, error) {
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum, _, err := sumOfAll(file)
	return sum, err
}

// sumOfAll returns the checksum of all that can be read, in hexadecimal, and how many bytes that
// is.
func sumOfAll(from io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, from)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
