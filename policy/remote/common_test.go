package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
)

// TestMain is a scheduler where the program is called as one: exec:THIS scheduler NAME.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "scheduler" {
		os.Exit(scheduler(os.Args[2]))
	}
	os.Exit(m.Run())
}

// scheduler reads requests and writes replies, as a program of its own.
func scheduler(name string) int {
	in, fcfs := bufio.NewReader(os.Stdin), &fcfs{}
	transcript, recorded := strings.CutPrefix(name, "replay=")
	var replies []string
	if recorded {
		text, err := os.ReadFile(transcript)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		replies = strings.Split(string(text), "\n")
	}
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		switch {
		case name == "fcfs":
			fmt.Printf("%s\n", fcfs.reply(line))
		case recorded:
			fmt.Println(replies[2*n-1])
		case n == 1:
			fmt.Println(`{"now": 0, "events": []}`)
		case name == "dies":
			fmt.Fprintln(os.Stderr, "first line\nKeyError: 'w0!1'")
			return 3
		case name == "hangs":
			time.Sleep(time.Hour)
		case name == "stubborn": // answers, and does not go
			if n == 2 {
				fmt.Println(`{"now": 0, "events": [{"timestamp": 0, "type": "REJECT_JOB", "data": {"job_id": "w0!1"}}]}`)
				continue
			}
			fmt.Println(`{"now": 0, "events": []}`)
			time.Sleep(time.Hour)
		case name == "endless":
			for {
				if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
					return 0
				}
			}
		case name == "twice":
			fmt.Println(`{"now": 0, "events": []}` + "\n" + `{"now": 0, "events": []}`)
		}
	}
}

// fcfs is a scheduler that starts the head of its queue on the lowest free processors.
type fcfs struct {
	free  *procset.Set
	queue []jobData
	place map[string][]procset.Range
}

func (f *fcfs) reply(request []byte) []byte {
	var m message
	if err := json.Unmarshal(request, &m); err != nil {
		return []byte(err.Error())
	}
	reply := message{Now: m.Now}
	for _, e := range m.Events {
		switch e.Type {
		case simulationBegins:
			var d beginsData
			_ = json.Unmarshal(e.Data, &d)
			f.free, f.place = procset.New(d.NbComputeResources), map[string][]procset.Range{}
		case jobSubmitted:
			var d submittedData
			_ = json.Unmarshal(e.Data, &d)
			f.queue = append(f.queue, d.Job)
		case jobCompleted:
			var d completedData
			_ = json.Unmarshal(e.Data, &d)
			_ = f.free.Free(f.place[d.JobID])
			delete(f.place, d.JobID)
		}
	}
	for len(f.queue) > 0 && f.queue[0].Res <= f.free.Available() {
		j := f.queue[0]
		f.queue = f.queue[1:]
		f.place[j.ID], _ = f.free.Allocate(j.Res, nil)
		e, _ := newEvent(des.Time(m.Now), executeJob, map[string]string{"job_id": j.ID, "alloc": string(procset.Append(nil, f.place[j.ID]))})
		reply.Events = append(reply.Events, e)
	}
	return reply.Append(nil)
}

// spoken is a Conn to a scheduler that is a function.
type spoken struct {
	reply    func(request []byte) []byte
	requests []message
	closed   int
}

func (s *spoken) Ask(_ context.Context, request []byte) ([]byte, error) {
	var m message
	if err := json.Unmarshal(request, &m); err != nil {
		return nil, err
	}
	s.requests = append(s.requests, m)
	return s.reply(request), nil
}

func (s *spoken) Close(time.Duration) { s.closed++ }

func (s *spoken) open(context.Context) (Conn, error) { return s, nil }

// says is a scheduler that has one reply to each request, in turn, and nothing to say behind
// them. A reply is a list of decisions at the instant of the request, or a whole message.
func says(replies ...string) *spoken {
	s := &spoken{}
	s.reply = func(request []byte) []byte {
		n, text := len(s.requests)-1, ""
		if n < len(replies) {
			text = replies[n]
		}
		if strings.HasPrefix(text, `{"now"`) || strings.HasPrefix(text, `{"events"`) {
			return []byte(text)
		}
		now := des.Time(s.requests[n].Now).String()
		return []byte(`{"now":` + now + `,"events":[` + strings.ReplaceAll(text, "NOW", now) + `]}`)
	}
	return s
}

// decision is a decision at the instant of the request.
func decision(kind, data string) string {
	return `{"timestamp": NOW, "type": "` + kind + `", "data": ` + data + `}`
}

func execute(job, alloc string) string {
	return decision(executeJob, `{"job_id": "`+job+`", "alloc": "`+alloc+`"}`)
}

// told is what a scheduler has been told, a request a line.
func (s *spoken) told() (lines []string) {
	for _, m := range s.requests {
		line := des.Time(m.Now).String()
		for _, e := range m.Events {
			var d struct {
				JobID     string   `json:"job_id"`
				JobIDs    []string `json:"job_ids"`
				State     string   `json:"job_state"`
				Alloc     string   `json:"alloc"`
				Type      string   `json:"type"`
				Resources string   `json:"resources"`
			}
			_ = json.Unmarshal(e.Data, &d)
			line += "; " + strings.Join(strings.Fields(fmt.Sprint(e.Type, " ", d.JobID, " ", strings.Join(d.JobIDs, " "), " ", d.State, " ", d.Alloc, " ", d.Type, " ", d.Resources)), " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// world is a cluster on which a run can be made.
type world struct {
	sim  *des.Simulator
	meta *entity.Metascheduler
	runs []*entity.Run
}

// newWorld submits jobs, each given as its submission, runtime, estimate and processors.
func newWorld(p entity.Policy, procs int, jobs [][4]int, observers ...entity.Observer) *world {
	w := &world{sim: des.New(des.Config{})}
	w.meta = entity.NewMetascheduler(w.sim, plan.NewCluster(procs), p, observers...)
	for i, j := range jobs {
		w.runs = append(w.runs, w.meta.Submit(&entity.Job{ID: int64(i + 1), Submit: des.Time(j[0]) * des.Second, Runtime: des.Time(j[1]) * des.Second, User: -1, Group: -1, Queue: -1,
			Request: entity.Request{Nodes: j[3], Length: des.Time(j[2]) * des.Second}}))
	}
	return w
}

func (w *world) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return w.sim.Run(ctx)
}

// rep is a REP socket that is bound: a scheduler as ZeroMQ has it.
type rep struct {
	listener net.Listener
	done     chan error
}

// bind has a function answer on a socket, to one who connects.
func bind(t testing.TB, reply func([]byte) []byte) *rep {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &rep{l, make(chan error, 1)}
	go func() { r.done <- r.serve(reply) }()
	t.Cleanup(func() { l.Close() })
	return r
}

func (r *rep) address() string { return r.listener.Addr().String() }

func (r *rep) serve(reply func([]byte) []byte) error {
	c, err := r.listener.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	in := bufio.NewReader(c)
	if _, err := c.Write(greeting()); err != nil {
		return err
	}
	theirs := make([]byte, 64)
	if _, err := io.ReadFull(in, theirs); err != nil {
		return err
	}
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00\x03REP\x08Identity\x00\x00\x00\x00"
	if _, err := c.Write(append([]byte{frameCommand, byte(len(ready))}, ready...)); err != nil {
		return err
	}
	frame := func() ([]byte, error) {
		flags, err := in.ReadByte()
		if err != nil {
			return nil, err
		}
		head := make([]byte, 1+7*int(flags&frameLong/frameLong))
		if _, err := io.ReadFull(in, head); err != nil {
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint64(append(make([]byte, 8-len(head)), head...)))
		_, err = io.ReadFull(in, body)
		return body, err
	}
	if _, err := frame(); err != nil { // READY
		return err
	}
	for {
		if _, err := frame(); err != nil { // the delimiter
			if err == io.EOF {
				return nil
			}
			return err
		}
		request, err := frame()
		if err != nil {
			return err
		}
		text := reply(request)
		// A command between, and a length of 8 bytes whatever it is, are as good as others.
		out := append([]byte{frameCommand, 6, 4, 'P', 'I', 'N', 'G', 0, frameMore, 0, frameLong}, binary.BigEndian.AppendUint64(nil, uint64(len(text)))...)
		if _, err := c.Write(append(out, text...)); err != nil {
			return err
		}
	}
}
