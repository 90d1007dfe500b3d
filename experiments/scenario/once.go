package scenario

// A log that several policies run is read once.

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
)

const (
	// keptLog is how large a stored log may be that is kept: packed as below its jobs take
	// up to two and a half times that of a log packed by gzip, and a quarter of a plain one.
	// A larger one is read anew for each policy, so that memory does not grow with it.
	keptLog = 4 << 20
	// blockJobs is how many jobs are read at a time.
	blockJobs = 1024
	// blocksAhead is how many blocks there should be ahead of every reading.
	blocksAhead = 2
)

// once is a log whose jobs are read, checked and altered once for any number of readings.
// Whoever comes near the end of what is known reads on, a block at a time, and keeps the
// block for the others:
//
//	the log  |#######|#######|#######|#######|.......
//	            ^       ^ fcfs has few blocks ahead: it reads on,
//	            |         before it needs them
//	            easy, whom that does not keep
//
// It begins before it must, since two readings that wait for the same block would come to
// its end together, and one would wait for the other again and again.
//
// A block is some twenty bytes a job: to unpack it costs a tenth of what inflating and
// parsing the log does. Kept as they are jobs would take ten times the memory, and the
// collector lets that grow to five times what lives.
type once struct {
	open func() (reading, error)

	mu     sync.Mutex
	log    reading // nil before the first reading
	blocks []block
	ended  bool // the blocks are the whole log

	turn sync.Mutex // to read on; who has it may take mu, not the other way round
}

// block is a run of jobs, packed, and how much of the log was read when it was complete.
type block struct {
	packed []byte
	read   int64
}

// readOnce has all readings of a small log share what was read of it. What a job has of
// its own beyond what a log says of every job is not kept: such logs are read anew.
func (j *jobs) readOnce() {
	if j.trace == nil || j.size > keptLog || j.trace.Options.Feedback || j.trace.Options.Extra != nil || len(j.trace.Header.Columns) > 0 {
		return
	}
	j.once = &once{open: j.open}
	j.open = j.once.reading
}

// close lets go of a log that is read once, if it was not read to its end.
func (j *jobs) close() {
	if j.once != nil && j.once.log != nil {
		j.once.log.Close()
	}
}

func (o *once) reading() (reading, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log == nil {
		log, err := o.open()
		if err != nil {
			return nil, err
		}
		o.log = log
	}
	return &shared{once: o}, nil
}

// block is the i-th block, or false behind the last one. Who has blocks ahead does not wait
// for another reading that reads on.
func (o *once) block(i int) (block, bool) {
	for {
		b, known, ahead := o.known(i)
		if ahead >= blocksAhead {
			return b, known
		}
		if !known {
			o.turn.Lock()
		} else if !o.turn.TryLock() {
			return b, true
		}
		o.readOn()
		o.turn.Unlock()
		if known {
			return b, true
		}
	}
}

// known is the i-th block, if it has been read, and how many there are behind it;
// of a log that has been read to its end as many as anybody could want.
func (o *once) known(i int) (b block, known bool, ahead int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ahead = len(o.blocks) - 1 - i; ahead >= 0 {
		b, known = o.blocks[i], true
	}
	if o.ended {
		ahead = blocksAhead
	}
	return b, known, ahead
}

// readOn reads a block more, if there is one. The caller has the turn.
func (o *once) readOn() {
	packed := o.pack()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended = len(packed) == 0; !o.ended {
		o.blocks = append(o.blocks, block{packed, o.log.BytesRead()})
	}
}

// pack is the next jobs of the log, packed; nothing at its end.
func (o *once) pack() (packed []byte) {
	var before entity.Job
	for range blockJobs {
		j, ok := o.log.Next()
		if !ok {
			break
		}
		packed = pack(packed, j, &before)
		before = *j
	}
	return packed
}

// shared is one reading of a log that is read once.
type shared struct {
	*once
	blocks int    // begun
	rest   []byte // of the latest
	latest entity.Job
	slab   []entity.Job
	read   atomic.Int64
}

// Next is the next job, or false at the end; ask Err then.
func (s *shared) Next() (*entity.Job, bool) {
	if len(s.rest) == 0 {
		b, ok := s.block(s.blocks)
		if !ok {
			return nil, false
		}
		s.blocks++
		s.rest, s.latest = b.packed, entity.Job{}
		s.read.Store(b.read)
	}
	s.rest = unpack(s.rest, &s.latest)
	if len(s.slab) == 0 {
		s.slab = make([]entity.Job, 256) // many at a time, to spare the collector
	}
	j := &s.slab[0]
	s.slab = s.slab[1:]
	*j = s.latest
	return j, true
}

func (s *shared) BytesRead() int64         { return s.read.Load() }
func (s *shared) Report() *workload.Report { return s.log.Report() }

// Close leaves the log open for the other readings; at its end it is closed by itself.
func (*shared) Close() error { return nil }

// Err is what ended the log, or nil at a sound end.
func (s *shared) Err() error { return s.log.(*workload.JobStream).Err() }

// Origin is that of the log.
func (s *shared) Origin() des.Time { return s.log.(*workload.JobStream).Origin() }

// pack appends what a log says of j, whose number and submission are near those of the
// job before it.
func pack(to []byte, j, before *entity.Job) []byte {
	to = binary.AppendVarint(to, j.ID-before.ID)
	to = packTime(to, j.Submit-before.Submit)
	to = packTime(to, j.Runtime)
	to = packTime(to, j.Request.Length)
	to = binary.AppendVarint(to, int64(j.Request.Nodes))
	for _, n := range [...]int32{j.User, j.Group, j.Queue, j.Application} {
		to = binary.AppendVarint(to, int64(n))
	}
	return to
}

// packTime appends t as twice its whole seconds, of which most times consist, and the
// ticks beyond where one is added to that.
func packTime(to []byte, t des.Time) []byte {
	whole, ticks := int64(t/des.Second), int64(t%des.Second)
	if ticks == 0 {
		return binary.AppendVarint(to, 2*whole)
	}
	return binary.AppendVarint(binary.AppendVarint(to, 2*whole+1), ticks)
}

// unpack makes the job before the next one in from, and returns what is left.
func unpack(from []byte, j *entity.Job) []byte {
	number := func() int64 {
		v, n := binary.Varint(from)
		from = from[n:]
		return v
	}
	time := func() des.Time {
		v := number()
		t := des.Time(v>>1) * des.Second
		if v&1 == 1 {
			t += des.Time(number())
		}
		return t
	}
	j.ID += number()
	j.Submit += time()
	j.Runtime = time()
	j.Request.Length = time()
	j.Request.Nodes = int(number())
	for _, n := range [...]*int32{&j.User, &j.Group, &j.Queue, &j.Application} {
		*n = int32(number())
	}
	return from
}
