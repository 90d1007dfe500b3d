package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxHosts is the largest number of names in one host list: more than any machine has nodes, and few enough that
// a typing error does not take all memory.
const maxHosts = 1 << 20

// Hosts reads a host list of Slurm, as n[1-3,07],login, and returns its names in the order of the list; none for
// an empty list. A name may have one bracket, at its end. It returns an error for a bracket that is not
// closed, an empty name, a range that falls, and a list of more than maxHosts names.
func Hosts(list string) ([]string, error) {
	var names []string
	for rest := list; rest != ""; { // a name, or a name with a bracket, up to the comma behind it
		end, open := len(rest), strings.IndexByte(rest, '[')
		comma := strings.IndexByte(rest, ',')
		if open >= 0 && (comma < 0 || open < comma) {
			shut := strings.IndexByte(rest, ']')
			if shut < open {
				return nil, fmt.Errorf("host list %q: [ without ]", list)
			}
			if end = shut + 1; end < len(rest) && rest[end] != ',' {
				return nil, fmt.Errorf("host list %q: want a comma after ]", list)
			}
			more, err := numbered(rest[:open], rest[open+1:shut], maxHosts-len(names))
			if err != nil {
				return nil, fmt.Errorf("host list %q: %w", list, err)
			}
			names = append(names, more...)
		} else {
			if comma >= 0 {
				end = comma
			}
			if end == 0 {
				return nil, fmt.Errorf("host list %q: a name is empty", list)
			}
			names = append(names, rest[:end])
		}
		rest = strings.TrimPrefix(rest[end:], ",")
	}
	return names, nil
}

// numbered returns the names that prefix makes with the numbers of ranges, as 1-3,07, at most limit of them.
// A number has at least as many digits as the low end of its range, as 08-11 for 08, 09, 10 and 11.
func numbered(prefix, ranges string, limit int) ([]string, error) {
	var names []string
	for part := range strings.SplitSeq(ranges, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", low)
		}
		to, err := strconv.ParseUint(high, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", high)
		}
		if to < from || to-from >= uint64(limit-len(names)) {
			return nil, fmt.Errorf("%q: want a range from low to high, of at most %d names in all", part, maxHosts)
		}
		for i := from; i <= to; i++ {
			names = append(names, fmt.Sprintf("%s%0*d", prefix, len(low), i))
		}
	}
	return names, nil
}

// HostList returns the host list of names, as n[1-3,7],login: names that differ only in the
// number at their end share one bracket, and neighbours in it a range. Hosts reads it; names
// that share no bracket keep their order.
func HostList(names []string) string {
	type run struct {
		prefix string
		width  int      // digits of each number; 0: as many as it takes
		ranges [][2]int // first and last numbers; nil: the name has no number
	}
	// Which names share a bracket? Of a number of more than nine digits, those before the last nine count as
	// part of the name, so that the number fits into an int.
	var runs []run
	for _, name := range names {
		digits := len(name)
		for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' && len(name)-digits < 9 {
			digits--
		}
		number, err := strconv.Atoi(name[digits:])
		if err != nil {
			runs = append(runs, run{prefix: name})
			continue
		}
		long, padded := len(name)-digits, name[digits] == '0'
		at := slices.IndexFunc(runs, func(r run) bool {
			return r.prefix == name[:digits] && r.ranges != nil && (r.width == long || r.width == 0 && !padded)
		})
		if at < 0 {
			width := 0 // as many digits as it takes
			if padded {
				width = long
			}
			runs = append(runs, run{prefix: name[:digits], width: width, ranges: [][2]int{{number, number}}})
			continue
		}
		if last := &runs[at].ranges[len(runs[at].ranges)-1]; last[1] == number-1 {
			last[1] = number
		} else {
			runs[at].ranges = append(runs[at].ranges, [2]int{number, number})
		}
	}
	// Their text. A single number needs no bracket.
	var text strings.Builder
	for i, r := range runs {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(r.prefix)
		single := len(r.ranges) == 1 && r.ranges[0][0] == r.ranges[0][1]
		if r.ranges != nil && !single {
			text.WriteByte('[')
		}
		for k, of := range r.ranges {
			if k > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, "%0*d", r.width, of[0])
			if of[1] > of[0] {
				fmt.Fprintf(&text, "-%0*d", r.width, of[1])
			}
		}
		if r.ranges != nil && !single {
			text.WriteByte(']')
		}
	}
	return text.String()
}
