package parquetfile

import (
	"encoding/binary"
	"errors"
)

// This file reads the compact protocol of Thrift, in which Parquet keeps what it tells of
// itself. Every claim of a length is held against the bytes that are there before anything
// is set aside for it.

// node is a value: a number, bytes, a list or a structure. The parts that it is not are empty.
type node struct {
	number int64  // of integers and booleans
	bytes  []byte // part of the text that is read
	list   []node
	fields []field // in the order in which they stand
}

// field is a field of a structure, under the number that the definition gives it.
type field struct {
	id int64
	node
}

// at is a field of a structure, the last one if it is there twice; the zero node if there is none.
func (n *node) at(id int64) *node {
	for i := len(n.fields) - 1; i >= 0; i-- {
		if n.fields[i].id == id {
			return &n.fields[i].node
		}
	}
	return &node{}
}

// has reports whether a structure has a field.
func (n *node) has(id int64) bool {
	for i := range n.fields {
		if n.fields[i].id == id {
			return true
		}
	}
	return false
}

// The types of the compact protocol (thrift-compact-protocol.md of Apache Thrift). In a structure the
// two booleans are types without a value.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeInt64  = 6 // 4 to 6 are integers
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
)

// maxNodes is the largest number of values in one text, and maxDepth the largest depth of nesting.
// A column of a row group takes some 30 values: 24 million jobs with 60 columns, in groups of
// 130,000, take 330,000.
const (
	maxNodes = 1 << 20
	maxDepth = 16
)

var (
	errShort  = errors.New("it ends too early")
	errThrift = errors.New("it is not Thrift's compact protocol")
	errTooBig = errors.New("it describes more than any log has")
)

// thrift reads from the beginning of b.
type thrift struct {
	b     []byte
	pos   int // of the next byte
	nodes int // values so far, at most maxNodes
}

// structure reads a structure and returns it with its length in bytes.
func structure(b []byte) (node, int, error) {
	t := thrift{b: b}
	n, err := t.value(typeStruct, 0)
	return n, t.pos, err
}

// byte is the next byte.
func (t *thrift) byte() (byte, error) {
	if t.pos >= len(t.b) {
		return 0, errShort
	}
	t.pos++
	return t.b[t.pos-1], nil
}

// varint is the next number of seven bits a byte, the lowest first.
func (t *thrift) varint() (uint64, error) {
	v, n := binary.Uvarint(t.b[t.pos:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errThrift
	}
	t.pos += n
	return v, nil
}

// length is the length of a list or of bytes. Each item takes a byte at least, so that a length above
// what is left is refused before anything is set aside for it.
func (t *thrift) length() (int, error) {
	n, err := t.varint()
	if err == nil && n > uint64(len(t.b)-t.pos) {
		err = errShort
	}
	return int(n), err
}

// zigzag is the signed number of 0, 1, 2, 3, ...: 0, -1, 1, -2, ...
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// value reads a value of a type, at a depth of nesting.
func (t *thrift) value(kind byte, depth int) (n node, err error) {
	if t.nodes++; t.nodes > maxNodes || depth > maxDepth {
		return n, errTooBig
	}
	switch {
	case kind == typeTrue:
		n.number = 1
	case kind == typeFalse:
	case kind == typeByte:
		var b byte
		b, err = t.byte()
		n.number = int64(int8(b))
	case kind > typeByte && kind <= typeInt64:
		var v uint64
		v, err = t.varint()
		n.number = zigzag(v)
	case kind == typeDouble: // nothing that is used here
		if t.pos+8 > len(t.b) {
			return n, errShort
		}
		t.pos += 8
	case kind == typeBinary:
		var size int
		if size, err = t.length(); err == nil {
			n.bytes = t.b[t.pos : t.pos+size]
			t.pos += size
		}
	case kind == typeList || kind == typeSet:
		err = t.items(&n, depth)
	case kind == typeMap:
		err = t.pairs(depth)
	case kind == typeStruct:
		err = t.members(&n, depth)
	default:
		err = errThrift
	}
	return n, err
}

// items reads a list or a set: its length in the upper four bits of a byte, 15 for one that follows, and
// the type of the items in the lower ones.
func (t *thrift) items(n *node, depth int) error {
	head, err := t.byte()
	if err != nil {
		return err
	}
	size := int(head >> 4)
	if size == 15 {
		if size, err = t.length(); err != nil {
			return err
		}
	}
	for range size {
		v, err := t.item(head&15, depth)
		if err != nil {
			return err
		}
		n.list = append(n.list, v)
	}
	return nil
}

// item is a value in a list, where booleans take a byte.
func (t *thrift) item(kind byte, depth int) (node, error) {
	if kind == typeTrue || kind == typeFalse {
		b, err := t.byte()
		if err != nil {
			return node{}, err
		}
		kind = b
	}
	return t.value(kind, depth+1)
}

// pairs passes over a map, which Parquet has none of: its length, the types of keys and values in a
// byte, and keys and values in turn.
func (t *thrift) pairs(depth int) error {
	size, err := t.length()
	if err != nil || size == 0 {
		return err
	}
	kinds, err := t.byte()
	if err != nil {
		return err
	}
	for range size {
		if _, err := t.item(kinds>>4, depth); err != nil {
			return err
		}
		if _, err := t.item(kinds&15, depth); err != nil {
			return err
		}
	}
	return nil
}

// members reads the fields of a structure up to a byte 0. A byte before each has its type and, unless 0,
// by how much its number is above the one before; otherwise the number follows.
func (t *thrift) members(n *node, depth int) error {
	for id := int64(0); ; {
		head, err := t.byte()
		if err != nil || head == 0 {
			return err
		}
		if step := head >> 4; step != 0 {
			id += int64(step)
		} else {
			v, err := t.varint()
			if err != nil {
				return err
			}
			id = zigzag(v)
		}
		v, err := t.value(head&15, depth+1)
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{id, v})
	}
}
