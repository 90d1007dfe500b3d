package report

// Columns of integers in few bytes, as page/data.js reads them.

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/gridslot/gridslot/des"
)

// column is where the page finds one: they follow each other in one text.
type column struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	// Divisor is how many of the integers make one unit; 0 for whole numbers.
	Divisor int64 `json:"divisor,omitempty"`
}

// packer takes columns in.
type packer struct {
	columns []column
	bytes   []byte
	tick    des.Time // what times are counted in
}

// add writes n numbers, each as its difference to the one before.
func (p *packer) add(name string, divisor int64, n int, at func(int) int64) {
	p.columns = append(p.columns, column{name, n, divisor})
	last := int64(0)
	for i := range n {
		v := at(i)
		p.bytes = binary.AppendVarint(p.bytes, v-last)
		last = v
	}
}

func (p *packer) times(name string, n int, at func(int) des.Time) {
	p.add(name, int64(des.Second/p.tick), n, func(i int) int64 { return int64(at(i) / p.tick) })
}

func (p *packer) numbers(name string, n int, at func(int) int64) { p.add(name, 0, n, at) }

// text is all of it, as the page holds it.
func (p *packer) text() []byte { return packed(p.bytes) }

// packed is b packed by gzip, in base64.
func packed(b []byte) []byte {
	var small bytes.Buffer // to which writing cannot fail
	gz := gzip.NewWriter(&small)
	gz.Write(b)
	gz.Close()
	return base64.StdEncoding.AppendEncode(nil, small.Bytes())
}

// packedJSON is a list of what there is to know of each job, packed; nil where there is no list.
func packedJSON[T any](all []T, err error) ([]byte, error) {
	if all == nil || err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	return packed(text), err
}
