package light

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

const (
	module = "github.com/gridslot/gridslot"
	name   = "gridslot-full"
	folder = "experiments/" + name // of the module
)

// kept is how many builds stay in the cache folder, those used last.
const kept = 3

// find is the gridslot-full that belongs to this program. Where it is only to be built, the error
// is a notBuiltError.
func find() (path string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	own, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("this program does not know what it was built from; use " + name + " in its place")
	}
	beside := filepath.Join(filepath.Dir(self), executable(name))
	other, err := buildinfo.ReadFile(beside)
	if err == nil {
		if err = same(own, other); err == nil {
			return beside, nil
		}
		err = fmt.Errorf("%s does not belong to this program: %w", beside, err)
	} else {
		err = nil
	}
	if root := source(); root != "" {
		return fromSource(root, self, own)
	}
	how := fmt.Errorf("it is not beside this program, whose source is not here: run 'go install %s/%s@%s'", module, folder, cmp.Or(released(own), "latest"))
	return "", cmp.Or(err, how)
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// same reports, as an error, whether other is not gridslot-full of the version that own is.
func same(own, other *debug.BuildInfo) error {
	if other.Path != module+"/"+folder {
		return fmt.Errorf("it is %s", cmp.Or(other.Path, "no program of Go modules"))
	}
	a, b := released(own), released(other)
	switch {
	case a == "" || b == "":
		return fmt.Errorf("of builds from a source without a commit, or with changes, nobody can tell whether they are the same; use %s in place of this program", name)
	case a != b:
		return fmt.Errorf("it is version %s, and this is %s", b, a)
	case own.GoVersion != other.GoVersion:
		return fmt.Errorf("it was built by %s, and this by %s", other.GoVersion, own.GoVersion)
	}
	return nil
}

// released is the version of a build whose source everybody can get again: a release, or
// a commit. It is "" of others.
func released(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "(devel)" || strings.Contains(version, "+dirty") || setting(info, "vcs.modified") == "true" {
		return ""
	}
	return cmp.Or(version, setting(info, "vcs.revision"))
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// source is the folder of this program's module as it was compiled, if it is still there;
// "" where it is not, or was a version in Go's module cache.
func source() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !filepath.IsAbs(root) || strings.Contains(filepath.Base(root), "@") || !bytes.HasPrefix(text, []byte("module "+module+"\n")) {
		return ""
	}
	return root
}

// notBuiltError is that gridslot-full of a source has not been built yet.
type notBuiltError struct {
	root  string // of the source
	path  string // where it is to be
	flags []string
}

func (e *notBuiltError) Error() string { return "it has not been built yet from " + e.root }

// fromSource is the build of the source as it is now, which is to be that of this
// program, or a notBuiltError.
func fromSource(root, self string, own *debug.BuildInfo) (string, error) {
	state, changed, err := stateOf(root)
	if err != nil {
		return "", err
	}
	program, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	if changed.After(program.ModTime()) && !runByGo(self) {
		return "", fmt.Errorf("the source in %s has changed since this program was built from it: build it again, with 'go build'", root)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", noFolder(root, err)
	}
	fmt.Fprintln(state, own.GoVersion, own.Settings)
	path := filepath.Join(cache, "gridslot", "full", hex.EncodeToString(state.Sum(nil)[:12]), executable(name))
	if _, err := os.Stat(path); err == nil {
		now := time.Now()
		_ = os.Chtimes(filepath.Dir(path), now, now) // it is used; the folder may be another user's
		return path, nil
	}
	flags := []string{"build", "-o", executable(name)}
	if setting(own, "vcs.revision") == "" {
		flags = append(flags, "-buildvcs=false") // nor does this program know its commit
	}
	return "", &notBuiltError{root, path, append(flags, "./"+folder)}
}

// noFolder is err, that no build of root can be kept, with what to do about it.
func noFolder(root string, err error) error {
	variable := "XDG_CACHE_HOME"
	switch {
	case runtime.GOOS == "windows":
		variable = "LocalAppData"
	case runtime.GOOS == "darwin" || os.Getenv("HOME") == "": // without which go build has no folders either
		variable = "HOME"
	}
	return fmt.Errorf("there is no folder to keep it in (%w): set %s to one that you can write to, or run 'go build ./%s' in %s and use that program in place of this one",
		err, variable, folder, root)
}

// stateOf is a checksum of the source, to which more can be written, and when it was last changed.
func stateOf(root string) (state interface {
	io.Writer
	Sum([]byte) []byte
}, changed time.Time, err error) {
	state = sha256.New()
	for _, part := range []string{"go.mod", "go.sum", "des", "entity", "policy", "workload", "metrics", "traces", "experiments"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case !entry.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if info.ModTime().After(changed) {
				changed = info.ModTime()
			}
			fmt.Fprintln(state, path, info.Size())
			if ext := filepath.Ext(path); ext != ".go" && part != "go.mod" && part != "go.sum" {
				fmt.Fprintln(state, info.ModTime()) // it may be large
				return nil
			}
			text, err := os.ReadFile(path)
			if err == nil {
				_, err = state.Write(text)
			}
			return err
		}))
	}
	return state, changed, err
}

// runByGo reports whether a program is one that go run has just built from its source.
func runByGo(path string) bool {
	return regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\]|[/\\][0-9a-f]{64}-d[/\\]`).MatchString(path)
}

// build builds gridslot-full, and calls begin when nothing is in its way. Two processes may
// do so side by side: the first one's stays.
func (e *notBuiltError) build(ctx context.Context, begin func()) (path string, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("it is built from %s by the command go, which is not there: install Go, or build %s where Go is, and use it in place of this program", e.root, name)
	}
	to := filepath.Dir(e.path)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return "", noFolder(e.root, err)
	}
	under, err := os.MkdirTemp(filepath.Dir(to), "building-*")
	if err != nil {
		return "", noFolder(e.root, err)
	}
	defer os.RemoveAll(under)
	work, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "gridslot-*") // go leaves its files there when it is interrupted
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	begin()
	flags := slices.Clone(e.flags)
	flags[2] = filepath.Join(under, flags[2])
	cmd := exec.CommandContext(ctx, "go", flags...)
	cmd.Dir = e.root
	cmd.Env = append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOTMPDIR="+work)
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("'go %s' in %s: %w\n%s", strings.Join(e.flags, " "), e.root, err, bytes.TrimSpace(said))
	}
	if err := os.Rename(under, to); err != nil {
		if _, there := os.Stat(e.path); there != nil {
			return "", err
		}
	}
	tidy(filepath.Dir(to))
	return e.path, nil
}

// tidy removes builds that were not used for longest, and what is left of such as were
// interrupted. What cannot be removed stays.
func tidy(dir string) {
	type build struct {
		path string
		used time.Time
	}
	var builds []build
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			builds = append(builds, build{filepath.Join(dir, entry.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(builds, func(a, b build) int { return b.used.Compare(a.used) })
	for _, b := range builds[min(kept, len(builds)):] {
		_ = os.RemoveAll(b.path)
	}
}
