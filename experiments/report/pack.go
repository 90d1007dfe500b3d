package report

// Columns of integers in few bytes, as page/data.js reads them. Each number is written as its
// difference to the one before in the form of binary.AppendVarint, as a neighbour in a log is most
// often close; all columns follow each other, are packed by gzip and then become base64, since they
// stand in a page.

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/gridslot/gridslot/des"
)

// column describes a packed column: columns follow each other in one text, so only their order and
// their counts are needed.
type column struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	// Divisor is the number of integers that make one unit; the page holds such a column as
	// Float64Array. 0 is for whole numbers that fit into an Int32Array.
	Divisor int64 `json:"divisor,omitempty"`
}

// packer takes columns in, in any order; names are not twice in one packer.
type packer struct {
	columns []column
	bytes   []byte
	// What times are counted in: des.Second or 1, see chart.tick. It divides each time that is
	// written, or the time is cut off.
	tick des.Time
}

// add writes n numbers: the i-th is at(i).
func (p *packer) add(name string, divisor int64, n int, at func(int) int64) {
	p.columns = append(p.columns, column{name, n, divisor})
	last := int64(0)
	for i := range n {
		v := at(i)
		p.bytes = binary.AppendVarint(p.bytes, v-last)
		last = v
	}
}

// times writes n times in ticks; the page divides them by the ticks of a second.
func (p *packer) times(name string, n int, at func(int) des.Time) {
	p.add(name, int64(des.Second/p.tick), n, func(i int) int64 { return int64(at(i) / p.tick) })
}

// numbers writes n whole numbers. The page holds them in 32 bits if all of them fit, as most do;
// otherwise, such as for large IDs of jobs, as floating-point numbers, exact up to 2^52.
func (p *packer) numbers(name string, n int, at func(int) int64) {
	fit := true
	p.add(name, 0, n, func(i int) int64 {
		v := at(i)
		fit = fit && v == int64(int32(v))
		return v
	})
	if !fit {
		p.columns[len(p.columns)-1].Divisor = 1
	}
}

// text returns all of it, as the page holds it.
func (p *packer) text() []byte { return packed(p.bytes) }

// packed returns b packed by gzip, in base64.
func packed(b []byte) []byte {
	var small bytes.Buffer // to which writing cannot fail
	gz := gzip.NewWriter(&small)
	gz.Write(b)
	gz.Close()
	return base64.StdEncoding.AppendEncode(nil, small.Bytes())
}

// packedJSON returns a list of what there is to know of each job, packed; nil where there is no
// list. It takes an error as its caller gets it, f(g()).
func packedJSON[T any](all []T, err error) ([]byte, error) {
	if all == nil || err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	return packed(text), err
}
