// The folder of fetched logs.

package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CacheVariable is the environment variable that names the folder of fetched logs, in place
// of gridslot/traces in the user's cache folder.
const CacheVariable = "GRIDSLOT_TRACE_CACHE"

// Cache returns the folder of fetched logs: the folder that CacheVariable names, or
// gridslot/traces in the user's cache folder. The folder need not exist.
func Cache() (dir string, err error) {
	if dir = os.Getenv(CacheVariable); dir != "" {
		return dir, nil
	}
	if dir, err = os.UserCacheDir(); err != nil {
		return "", fmt.Errorf("there is no folder for logs (%w): set %s to one", err, CacheVariable)
	}
	return filepath.Join(dir, "gridslot", "traces"), nil
}

// endings are the endings that a log's file may have in the folder, by what it is packed with. Of
// several files of one log, the first ending counts.
var endings = []string{packed, ".swf.zst", ".swf"}

// Stem returns a log's name without the ending of its file: .swf, .swf.gz or .swf.zst.
func Stem(name string) string {
	for _, ending := range endings {
		if stem, ok := strings.CutSuffix(name, ending); ok {
			return stem
		}
	}
	return name
}

// Cached returns the path of a log in the folder dir. The name may be the log's or its file's. The
// path is empty if the folder does not have the log.
func Cached(dir, name string) (path string) {
	names := []string{name}
	if Stem(name) == name {
		names = names[:0]
		for _, ending := range endings {
			names = append(names, name+ending)
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// notFetchedError reports that a log of the catalogue is not in the cache. Its text has the command
// that fetches the log.
type notFetchedError struct {
	Path string // as it was given
	Log  Log
}

func (e *notFetchedError) Error() string {
	return fmt.Sprintf("%s: there is no such file, and the log has not been fetched: run 'gridslot trace fetch %s', and ask for it by that name", e.Path, e.Log.Name)
}

// NamesakesError reports a name that is neither a file nor a log of the catalogue, but a part
// of the names of such logs: "KTH-SP2".
type NamesakesError struct {
	path string // as it was given
	Logs []Log  // whose names contain it, at least one
}

func (e *NamesakesError) Error() string {
	names := make([]string, len(e.Logs))
	for i, log := range e.Logs {
		names[i] = log.Name
	}
	return fmt.Sprintf("%s: there is no such file; the archive has %s: run 'gridslot trace fetch %s', and ask for it by that name", e.path, strings.Join(names, ", "), names[len(names)-1])
}

// namesakes returns the logs of the catalogue whose names contain a name of three letters or more,
// in any case of letters.
func namesakes(name string) (logs []Log) {
	name = strings.ToLower(Stem(name))
	if len(name) < 3 {
		return nil
	}
	for _, log := range Catalogue() {
		if strings.Contains(strings.ToLower(log.Name), name) {
			logs = append(logs, log)
		}
	}
	return logs
}

// Find returns the path of a log that is named by a path or by its name: the file at path if there
// is one, otherwise the log of that name in the cache. Find fetches nothing.
//
// If there is neither, a name of the catalogue gives a *notFetchedError, a part of such names gives
// a *NamesakesError, and any other path is returned unchanged.
func Find(path string) (string, error) { return FindBeside("", path) }

// FindBeside is Find for a path that is relative to the folder dir, for example a path in a study
// file of that folder.
func FindBeside(dir, path string) (string, error) {
	file := path
	if dir != "" && !filepath.IsAbs(path) {
		file = filepath.Join(dir, path)
	}
	if _, err := os.Lstat(file); err == nil || path == "" {
		return file, nil
	}
	base := filepath.Base(path)
	if cache, err := Cache(); err == nil && base == path {
		if found := Cached(cache, path); found != "" {
			return found, nil
		}
	}
	if log, ok := Known(base); ok {
		return "", &notFetchedError{file, log}
	}
	if logs := namesakes(base); base == path && len(logs) > 0 {
		return "", &NamesakesError{file, logs}
	}
	return file, nil
}
