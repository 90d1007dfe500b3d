package hostmem

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Memory returns how many bytes of memory there are for this process: those of the host, or fewer
// where one of its control groups may have fewer. It is 0 where that is not known.
func Memory() int64 {
	total := totalMemory()
	for _, file := range limitFiles() {
		if limit := limitIn(file); limit > 0 && (total == 0 || limit < total) {
			total = limit
		}
	}
	return total
}

// totalMemory returns what /proc/meminfo says of the host, in bytes, or 0; the file counts in KiB.
func totalMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// limitFiles returns the files that limit the memory of the control groups of this process and of
// those above them: each of them limits it. In a container the path that the kernel tells may not
// be there; then the container's own group stands at the top, which is among them.
func limitFiles() (all []string) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		// A line is "0::/PATH" in version 2, and "NUMBER:CONTROLLERS:/PATH" in version 1.
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for p := path.Clean("/" + f[2]); ; p = path.Dir(p) {
			switch {
			case f[0] == "0" && f[1] == "": // version 2
				dir := path.Join("/sys/fs/cgroup", p)
				all = append(all, dir+"/memory.max")
			case strings.Contains(","+f[1]+",", ",memory,"):
				dir := path.Join("/sys/fs/cgroup/memory", p)
				all = append(all, dir+"/memory.limit_in_bytes")
			}
			if p == "/" {
				break
			}
		}
	}
	return all
}

// limitIn returns the limit that a file states, in bytes, or 0 where no limit is set: a file of
// version 2 then says "max", one of version 1 has a number that no host reaches.
func limitIn(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil || n > math.MaxInt64/2 {
		return 0
	}
	return n
}
