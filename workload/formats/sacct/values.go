package sacct

import (
	"bytes"
	"math"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/internal/scan"
)

// This file reads what stands in the fields of a row.

// maxTime bounds every length and instant, in seconds: some 31,000 years, as in SWF.
const maxTime = 1_000_000_000_000

// whole reads a whole number from 0 to limit, in digits alone.
func whole(text []byte, limit int64) (n int64, why workload.Reason, ok bool) {
	n, fault := number.Count(text, limit)
	if fault == number.OutOfRange {
		return 0, workload.OutOfRange, false
	}
	return n, workload.NotANumber, fault == number.Sound
}

// isUnknown reports whether a field says that there is nothing to say: empty, or in one of the words
// that Slurm has for it in different columns.
func isUnknown(text []byte) bool {
	switch string(text) {
	case "", "Unknown", "None", "N/A", "NONE", "INVALID":
		return true
	}
	return false
}

// read reads seconds since 1970 (sacct prints them with SLURM_TIME_FORMAT=%s), or a date and time as
// the clock shows it; notBefore is as in clock.instant.
func (c *clock) read(text []byte, notBefore int64) (at int64, why workload.Reason, ok bool) {
	if len(text) != len("2024-01-31T10:00:00") || text[4] != '-' {
		return whole(text, maxTime)
	}
	shown, isDate, ok := scan.Shown(text)
	if !isDate {
		return 0, workload.NotANumber, false
	}
	if !ok {
		return 0, workload.OutOfRange, false
	}
	if at = c.instant(shown, notBefore); at < 0 {
		return 0, workload.OutOfRange, false
	}
	return at, 0, true
}

// duration reads a length as Slurm writes and takes it: SS, MM:SS, HH:MM:SS, DD-HH, DD-HH:MM,
// DD-HH:MM:SS, each with a fraction of a second or without. Digits behind the microsecond are cut.
func duration(text []byte) (d des.Time, why workload.Reason, ok bool) {
	var days, ticks int64
	rest := text
	if i := bytes.IndexByte(rest, '-'); i >= 0 {
		if days, why, ok = whole(rest[:i], maxTime/86400); !ok {
			return 0, why, false
		}
		rest = rest[i+1:]
	}
	if i := bytes.IndexByte(rest, '.'); i >= 0 {
		fraction := rest[i+1:]
		unit := int64(des.Second)
		for _, c := range fraction {
			if c -= '0'; c > 9 {
				return 0, workload.NotANumber, false
			}
			unit /= 10 // what is finer than a tick is cut
			ticks += unit * int64(c)
		}
		rest = rest[:i]
	}
	// The parts between colons, each worth sixty of the one behind it.
	seconds, parts := int64(0), 0
	for more := true; more; parts++ {
		part := rest
		if i := bytes.IndexByte(rest, ':'); i >= 0 {
			part, rest = rest[:i], rest[i+1:]
		} else {
			more = false
		}
		n, why, ok := whole(part, maxTime)
		switch {
		case !ok:
			return 0, why, false
		case parts == 3:
			return 0, workload.NotANumber, false
		case seconds > maxTime/60:
			return 0, workload.OutOfRange, false
		}
		seconds = seconds*60 + n
	}
	if days > 0 && parts == 1 { // DD-HH
		seconds *= 3600
	}
	if seconds += days * 86400; seconds > maxTime-1 {
		return 0, workload.OutOfRange, false
	}
	return des.Time(seconds)*des.Second + des.Time(ticks), 0, true
}

// maxNumber bounds the digits of a number, a point among them.
const maxNumber = 40

// amount reads a number with one of the letters K, M, G, T, P, E behind it or none. K stands for base,
// and each of the others for base times the one before. rest is what follows the letter.
func amount(text []byte, base float64) (x float64, letter byte, rest []byte, ok bool) {
	end := 0
	for end < len(text) && (text[end]-'0' <= 9 || text[end] == '.') {
		end++
	}
	const exact = 15 // digits of a number that a float64 holds whatever they are
	if n, _, isWhole := whole(text[:end], math.MaxInt64); isWhole && end <= exact {
		x = float64(n)
	} else {
		var err error
		if x, err = strconv.ParseFloat(string(text[:min(end, maxNumber)]), 64); err != nil || end > maxNumber {
			return 0, 0, nil, false
		}
	}
	rest = text[end:]
	if len(rest) == 0 {
		return x, 0, rest, true
	}
	if i := bytes.IndexByte([]byte("KMGTPE"), rest[0]); i >= 0 {
		for range i + 1 {
			x *= base
		}
		return x, rest[0], rest[1:], true
	}
	return x, 0, rest, true
}

// memory reads an amount of memory, in kB. A number without a letter counts in a unit of that many
// kB. per is the letter that follows, or 0: n says that it is a node's, c a processor's.
func memory(text []byte, unit float64) (kB float64, per byte, ok bool) {
	x, letter, rest, ok := amount(text, 1024)
	if !ok || len(rest) > 1 {
		return 0, 0, false
	}
	if len(rest) == 1 {
		per = rest[0]
	}
	if letter == 0 {
		return x * unit, per, true
	}
	return x / 1024, per, true
}

// Units of memory without a letter, in kB.
const (
	bytesUnit = 1. / 1024
	mebiUnit  = 1024
)

// joules reads an energy in J. NaN with ok says that there is none.
func joules(text []byte) (float64, bool) {
	const noValue = "18446744073709551614" // what Slurm has for none
	if string(text) == noValue {
		return math.NaN(), true
	}
	x, _, rest, ok := amount(text, 1000)
	return x, ok && len(rest) == 0
}

// tres are trackable resources as Slurm writes them, "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:a100=2".
// What they do not tell is NaN.
type tres struct {
	text              string
	cpus, nodes, gpus float64
	mem               float64 // of the job, in kB
	energy            float64 // of the job, in J
	sound             bool    // each item could be read; those of other names are not looked at
}

// readTRES reads a list of resources. GPUs that are counted by type alone are added up; the total,
// gres/gpu, counts if it is there.
func readTRES(text string) *tres {
	nan := math.NaN()
	t := &tres{text: text, cpus: nan, nodes: nan, gpus: nan, mem: nan, energy: nan, sound: true}
	typed, anyTyped := 0., false // GPUs by their types
	for item := range bytes.SplitSeq([]byte(text), []byte{','}) {
		if len(item) == 0 {
			continue
		}
		name, value, _ := bytes.Cut(item, []byte{'='})
		x, _, rest, ok := amount(value, 1024)
		if ok = ok && len(rest) == 0; !ok {
			x = nan
		}
		switch {
		case string(name) == "cpu":
			t.cpus = x
		case string(name) == "node":
			t.nodes = x
		case string(name) == "mem":
			var per byte
			if t.mem, per, ok = memory(value, mebiUnit); !ok || per != 0 {
				t.mem, ok = nan, false
			}
		case string(name) == "energy":
			if t.energy, ok = joules(value); !ok {
				t.energy = nan
			}
		case string(name) == "gres/gpu":
			t.gpus = x
		case bytes.HasPrefix(name, []byte("gres/gpu:")):
			typed, anyTyped = typed+x, true
		default:
			ok = true // kept in the text
		}
		t.sound = t.sound && ok
	}
	if math.IsNaN(t.gpus) && anyTyped {
		t.gpus = typed
	}
	return t
}
