package parquetfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// This file finds the pages of a chunk and unpacks them.

// page is one of a chunk, unpacked.
type page struct {
	dictionary bool  // it has the values to which data pages refer by their places
	values     int64 // how many, those that are not given included
	encoding   int64 // of the values, one of those below
	// repeats and defines are the bytes of the levels, without their lengths, and data those of the
	// values that are given.
	repeats, defines, data []byte
}

// Encodings of values (Encoding of parquet.thrift, Encodings.md).
const (
	encPlain           = 0
	encPlainDictionary = 2
	encRuns            = 3
	encDelta           = 5
	encDeltaLength     = 6
	encDeltaText       = 7
	encDictionary      = 8
	encSplit           = 9
)

// encodings are the names of those that are not taken for every type, for messages.
var encodings = map[int64]string{
	encRuns: "RLE", 4: "BIT_PACKED", encDelta: "DELTA_BINARY_PACKED", encDeltaLength: "DELTA_LENGTH_BYTE_ARRAY", encDeltaText: "DELTA_BYTE_ARRAY", encSplit: "BYTE_STREAM_SPLIT",
}

// Types of pages (PageType of parquet.thrift). Pages of other types are passed over.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// pages reads the pages of one chunk, one after the other.
type pages struct {
	in     io.ReaderAt
	c      *Column
	codec  int64  // by which they are packed
	at     int64  // where the next page stands in the file
	end    int64  // where the chunk ends
	packed []byte // the memory of a page as it is stored
	buf    []byte // and of a page unpacked
	shared *shared
}

// size is the memory that it holds.
func (p *pages) size() int { return cap(p.packed) + cap(p.buf) }

// next is the next page that has values, valid until the one after it, or io.EOF.
func (p *pages) next() (page, error) {
	for p.at < p.end {
		head, err := p.header()
		if err != nil {
			return page{}, err
		}
		got, ok, err := p.unpacked(head)
		if err != nil || ok {
			return got, err
		}
	}
	return page{}, io.EOF
}

// header reads the header of a page, and the page behind it into p.packed. How long the header is shows
// only when it is read: 1 KiB is tried first, then 32 times as much. Fields of a PageHeader:
//
//	1 type   2 uncompressed_page_size   3 compressed_page_size   4 crc (optional)
//	5 data_page_header   7 dictionary_page_header   8 data_page_header_v2
func (p *pages) header() (*node, error) {
	for size := int64(1 << 10); ; size <<= 5 {
		size = min(size, p.end-p.at)
		p.packed = room(p.packed, int(size))
		if err := readAt(p.in, p.packed, p.at); err != nil {
			return nil, err
		}
		head, n, err := structure(p.packed)
		if errors.Is(err, errShort) && size < min(1<<20, p.end-p.at) {
			continue // statistics may hold long texts
		}
		if err != nil {
			return nil, fmt.Errorf("the header of a page: %w", err)
		}
		// Its claims, held against the chunk and the limits, before anything is read for them.
		unpacked, packed := head.at(2).number, head.at(3).number
		p.at += int64(n)
		if packed < 0 || packed > p.end-p.at {
			return nil, fmt.Errorf("a page is said to take %d bytes of %d", packed, p.end-p.at)
		}
		if unpacked < 0 || unpacked > maxPage || packed > maxPage {
			return nil, fmt.Errorf("a page takes %d bytes, more than %d", max(packed, unpacked), maxPage)
		}
		head.detach()
		p.packed = room(p.packed, int(packed))
		if err := readAt(p.in, p.packed, p.at); err != nil {
			return nil, err
		}
		p.at += packed
		if crc := head.at(4); head.has(4) && uint32(crc.number) != crc32.ChecksumIEEE(p.packed) {
			return nil, errors.New("the checksum of a page is wrong: the file is damaged")
		}
		return &head, nil
	}
}

// detach gives up the bytes that it points to, whose memory is used for something else.
func (n *node) detach() {
	n.bytes = nil
	for i := range n.fields {
		n.fields[i].detach()
	}
}

// room is n bytes of the memory of b, or new ones if it has too few.
func room(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// unpacked is the page that stands in p.packed; ok is false if it has no values. Fields of the headers:
//
//	DictionaryPageHeader   1 num_values   2 encoding
//	DataPageHeader         1 num_values   2 encoding   3 definition_level_encoding   4 repetition_level_encoding
//	DataPageHeaderV2       1 num_values   4 encoding   5 definition_levels_byte_length   6 repetition_levels_byte_length   7 is_compressed
//
// In version 1 levels and values are packed together; in version 2 the levels stand unpacked in front.
func (p *pages) unpacked(head *node) (got page, ok bool, err error) {
	want := int(head.at(2).number)
	switch kind := head.at(1).number; kind {
	case pageDictionary: // all of it is values
		d := head.at(7)
		got = page{dictionary: true, values: d.at(1).number, encoding: d.at(2).number}
		got.data, err = p.unpack(p.packed, want)
	case pageData:
		d := head.at(5)
		got = page{values: d.at(1).number, encoding: d.at(2).number}
		if p.c.defines > 0 && d.at(3).number != encRuns || p.c.repeats > 0 && d.at(4).number != encRuns {
			return got, false, errors.New("levels are not encoded by run lengths")
		}
		if got.data, err = p.unpack(p.packed, want); err == nil {
			err = got.levels(p.c)
		}
	case pageDataV2:
		d := head.at(8)
		got = page{values: d.at(1).number, encoding: d.at(4).number}
		// The levels come first, as many bytes as the header says, and only the values are packed.
		defines, repeats := d.at(5).number, d.at(6).number
		if defines < 0 || repeats < 0 || defines > int64(len(p.packed)) || repeats > int64(len(p.packed))-defines || defines+repeats > int64(want) {
			return got, false, errShort
		}
		got.repeats, got.defines = p.packed[:repeats], p.packed[repeats:repeats+defines]
		got.data = p.packed[repeats+defines:]
		if packed := d.at(7); !d.has(7) || packed.number != 0 {
			got.data, err = p.unpack(got.data, want-int(repeats+defines))
		}
	default:
		return got, false, nil
	}
	if err == nil && got.values < 0 {
		err = errThrift
	}
	return got, err == nil, err
}

// levels cuts the levels from the beginning of the data of a page of version 1.
func (g *page) levels(c *Column) error {
	for _, part := range []struct {
		max int
		to  *[]byte
	}{{c.repeats, &g.repeats}, {c.defines, &g.defines}} {
		if part.max == 0 {
			continue
		}
		if len(g.data) < 4 || int64(binary.LittleEndian.Uint32(g.data)) > int64(len(g.data)-4) {
			return errShort
		}
		n := int(binary.LittleEndian.Uint32(g.data))
		*part.to, g.data = g.data[4:4+n], g.data[4+n:]
	}
	return nil
}

// unpack unpacks into p.buf what must be of that size, by the codec of the chunk (CompressionCodec: 0
// none, 1 Snappy, 2 gzip, 3 LZO, 4 Brotli, 5 LZ4, 6 zstd, 7 LZ4_RAW).
func (p *pages) unpack(from []byte, want int) ([]byte, error) {
	var err error
	switch p.codec {
	case 0:
		p.buf = append(p.buf[:0], from...)
	case 1:
		if n, err := snappy.DecodedLen(from); err != nil || n != want {
			return nil, errUnpack
		}
		p.buf, err = snappy.Decode(p.buf[:cap(p.buf)], from)
	case 2:
		err = p.gunzip(from, want)
	case 6:
		unzstd := &p.shared.unzstd
		if *unzstd == nil {
			if *unzstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		p.buf, err = (*unzstd).DecodeAll(from, room(p.buf, want)[:0:want])
	case 7:
		err = p.unLZ4(from, want)
	default:
		name := map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4 in the frame of Hadoop"}[p.codec]
		return nil, fmt.Errorf("it is packed by %s; write it with Snappy, gzip, zstd or LZ4_RAW", cmp.Or(name, fmt.Sprint("codec ", p.codec)))
	}
	if err != nil || len(p.buf) != want {
		return nil, errUnpack
	}
	return p.buf, nil
}

// errUnpack is the one error of all codecs, whose own say nothing to people.
var errUnpack = errors.New("a page cannot be unpacked: the file is damaged")

// unLZ4 unpacks a block of LZ4, by way of one of S2, the library's own kind, which may be longer: a letter
// and the shortest match of four take four bytes in LZ4 and five in S2, as many as they stand for.
func (p *pages) unLZ4(from []byte, want int) error {
	const room = 64 // for what the conversion keeps free behind the block
	block := binary.AppendUvarint(make([]byte, 0, s2.MaxEncodedLen(want)+room), uint64(want))
	block, n, err := new(s2.LZ4Converter).ConvertBlock(block, from)
	if err != nil || n != want {
		return errUnpack
	}
	p.buf, err = s2.Decode(p.buf[:cap(p.buf)], block)
	return err
}

// gunzip unpacks a page, and one byte more than it may have at most, by which one that is too long shows.
func (p *pages) gunzip(from []byte, want int) error {
	z, err := gzip.NewReader(bytes.NewReader(from))
	if err != nil {
		return err
	}
	out := bytes.NewBuffer(p.buf[:0])
	_, err = out.ReadFrom(io.LimitReader(z, int64(want)+1))
	p.buf = out.Bytes()
	return err
}

// runs decodes numbers of a few bits each: runs of one, and groups of eight that are packed
// (RLE and bit packing, as Encodings.md has it).
type runs struct {
	b      []byte // what has not been read
	bits   uint   // of each number, 0 to 32
	left   uint64 // numbers of the present run, or of the present groups, that are left
	packed bool   // they are groups
	value  uint32 // of the run
	window uint64 // of groups: bits that are read and not used, the next number in the lowest ones
	have   uint   // how many these are, below bits + 8
}

// next is the next number; ok is false where there is none.
func (r *runs) next() (v uint32, ok bool) {
	for r.left == 0 {
		if !r.begin() {
			return 0, false
		}
	}
	r.left--
	if !r.packed {
		return r.value, true
	}
	for r.have < r.bits {
		if len(r.b) == 0 {
			return 0, false
		}
		r.window |= uint64(r.b[0]) << r.have
		r.b = r.b[1:]
		r.have += 8
	}
	v = uint32(r.window & (1<<r.bits - 1))
	r.window >>= r.bits
	r.have -= r.bits
	return v, true
}

// begin reads the heading of the next run or groups: a number whose lowest bit tells groups, and whose
// others how many numbers a run has, or how many groups of eight follow. A run has its number behind it,
// in whole bytes. begin reports whether there is one.
func (r *runs) begin() bool {
	head, n := binary.Uvarint(r.b)
	if n <= 0 {
		return false
	}
	r.b = r.b[n:]
	r.left, r.packed = head>>1, head&1 != 0
	if r.packed {
		r.left, r.window, r.have = r.left<<3, 0, 0
		return true
	}
	size := int(r.bits+7) / 8
	if size > len(r.b) {
		return false
	}
	r.value = 0
	for i := range size {
		r.value |= uint32(r.b[i]) << (8 * i)
	}
	r.b = r.b[size:]
	return true
}
