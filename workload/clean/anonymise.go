package clean

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/workload"
)

// Anonymiser gives users, groups, executables, queues or partitions other numbers, the same
// one to the same number, and takes away names and columns beyond SWF. Unknown numbers stay
// unknown, and queue 0, interactive by convention, stays 0.
//
// It hides who somebody is, not what one person did: the jobs of a user still are those of one user,
// and their times, sizes and runtimes are as they were, by which somebody who knows some of a
// user's jobs finds the others.
type Anonymiser struct {
	fields []int                                      // of workload.NamedFields, those that are renumbered
	key    []byte                                     // nil: in the order of appearance
	seen   [len(workload.NamedFields)]map[int64]int64 // new numbers by old ones
}

// MinKey is the least length of a key, in bytes.
const MinKey = 16

// NewAnonymiser is for some of workload.NamedFields. Without a key they are numbered in the
// order of appearance, from 1. With a key the numbers are permuted, those below 2^31 among
// themselves: logs that are anonymised with one key still agree on who is who, and without the key
// nobody can tell.
func NewAnonymiser(fields []int, key []byte) (*Anonymiser, error) {
	if key != nil && len(key) < MinKey {
		return nil, fmt.Errorf("a key has %d bytes at least, and this one %d", MinKey, len(key))
	}
	a := &Anonymiser{fields: fields, key: key}
	for i := range a.seen {
		a.seen[i] = map[int64]int64{}
	}
	return a, nil
}

// fieldNames are the words that ParseFields reads, in the order of workload.NamedFields.
var fieldNames = [len(workload.NamedFields)]string{"users", "groups", "executables", "queues", "partitions"}

// ParseFields reads some of users, groups, executables, queues, partitions, separated by
// commas, or all.
func ParseFields(text string) ([]int, error) {
	if text == "all" {
		return workload.NamedFields[:], nil
	}
	var fields []int
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(fieldNames[:], name)
		if i < 0 {
			return nil, fmt.Errorf("%q is none of %s, all", name, strings.Join(fieldNames[:], ", "))
		}
		fields = append(fields, workload.NamedFields[i])
	}
	return fields, nil
}

// Header takes away what tells names of the fields, and the columns beyond SWF.
func (a *Anonymiser) Header(h *workload.Header) {
	for _, field := range a.fields {
		h.Forget(field)
		switch field {
		case workload.FieldQueue:
			h.Drop("Queues")
		case workload.FieldPartition:
			h.Drop("Partitions")
		}
	}
	h.Columns = nil
}

// Record changes a record.
func (a *Anonymiser) Record(rec *workload.Record) error {
	rec.More = nil
	for _, field := range a.fields {
		n := numberOf(rec, field)
		if *n < 0 || *n == 0 && field == workload.FieldQueue {
			continue
		}
		i := field - workload.FieldUser
		other, ok := a.seen[i][*n]
		if !ok {
			switch {
			case a.key == nil:
				other = int64(len(a.seen[i])) + 1
			case *n > math.MaxInt32:
				return fmt.Errorf("job %d: number %d of its %s is above %d, beyond what is permuted by a key", rec.Job, *n, strings.TrimSuffix(fieldNames[i], "s"), math.MaxInt32)
			default:
				other = a.permuted(field, *n)
			}
			a.seen[i][*n] = other
		}
		*n = other
	}
	return nil
}

// numberOf is the number in one of workload.NamedFields.
func numberOf(rec *workload.Record, field int) *int64 {
	return [...]*int64{&rec.User, &rec.Group, &rec.Executable, &rec.Queue, &rec.Partition}[field-workload.FieldUser]
}

// permuted walks from n through a permutation of 32 bits until it is below 2^31 again, which
// makes a permutation of the numbers below 2^31 ("cycle walking": Black and Rogaway, Ciphers with
// arbitrary finite domains, CT-RSA 2002). Queues leave out 0 in the same way.
func (a *Anonymiser) permuted(field int, n int64) int64 {
	for {
		n = int64(a.feistel(byte(field), uint32(n)))
		if n <= math.MaxInt32 && (n > 0 || field != workload.FieldQueue) {
			return n
		}
	}
}

// feistel is a permutation of 32 bits: four rounds of a Feistel network over HMAC-SHA256 (Luby
// and Rackoff, SIAM J. Comput. 17, 1988).
func (a *Anonymiser) feistel(field byte, n uint32) uint32 {
	left, right := uint16(n>>16), uint16(n)
	for round := range byte(4) {
		mac := hmac.New(sha256.New, a.key)
		mac.Write([]byte{field, round, byte(right >> 8), byte(right)})
		left, right = right, left^binary.BigEndian.Uint16(mac.Sum(nil))
	}
	return uint32(left)<<16 | uint32(right)
}
