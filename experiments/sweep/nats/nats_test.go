package nats

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

// What the program of these tests is when it is started by one of them.
const roleVar = "GRIDSLOT_TEST_ROLE"

type role struct {
	Name   string // worker, coordinator or server
	Server Server
	Cache  string
	Build  string
	Idle   time.Duration
	Config embedded.Config
	Study  trial
}

func TestMain(m *testing.M) {
	text, ok := os.LookupEnv(roleVar)
	if !ok {
		os.Exit(m.Run())
	}
	var r role
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.play()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (r role) play() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch r.Name {
	case "worker":
		return Worker{Server: r.Server, Slots: 1, Cache: r.Cache, Build: r.Build, Idle: r.Idle, Open: openTrial, Tell: tellTo(os.Stderr)}.Run(ctx)
	case "coordinator":
		_, err := r.Study.run(ctx, Engine{Server: r.Server, Wait: r.Study.Wait}, tellTo(os.Stderr))
		return err
	}
	s, err := embedded.Start(r.Config)
	if err != nil {
		return err
	}
	defer s.Close()
	<-ctx.Done()
	return nil
}

func tellTo(w io.Writer) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
}

const build = "1.0 of these tests"

// long is a test that takes seconds, most of them waiting: beside others.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
}

// soon is how long a test waits for what takes a moment on an idle machine.
const soon = time.Minute

// trial is a study whose units sleep; the first parameter says what else they do.
type trial struct {
	Units  int
	Sleep  time.Duration
	Wait   time.Duration // of the engine; shorter where units get lost
	Tries  int
	Pad    int    // bytes in each row, so that stores fill
	Log    string // file with a line for each unit that is begun
	Dir    string
	Cases  []string // of the axis; none means "work" alone
	Inputs []sweep.Input
	Name   string // makes it another study
	Leave  bool   // files
	Held   [2]int // the first and the last seed of the units that wait for the file Go
	Go     string
}

func (s trial) text() []byte {
	s.Dir, s.Inputs = "", nil
	text, _ := json.Marshal(s)
	return text
}

func (s trial) study(e sweep.Engine, tell func(string, ...any)) sweep.Study {
	cases := s.Cases
	if cases == nil {
		cases = []string{"work"}
	}
	return sweep.Study{
		Axes: []sweep.Axis{sweep.List("case", cases...)}, Seeds: sweep.Seeds(1, s.Units), Dir: s.Dir, Engine: e, Tell: tell,
		Basis:    sweep.Basis{Build: build, Inputs: s.Inputs},
		Limit:    sweep.Limit{Tries: s.Tries},
		Portable: &sweep.Portable{Name: "trial", Text: s.text(), Dir: "/home/ann/study"},
	}
}

func (s trial) run(ctx context.Context, e sweep.Engine, tell func(string, ...any)) (*sweep.Results, error) {
	return sweep.Run(ctx, s.study(e, tell), s.do)
}

// do is what workers do, and what an undisturbed run does.
func (s trial) do(ctx context.Context, c sweep.Case) (sweep.Row, error) {
	if s.Log != "" {
		f, err := os.OpenFile(s.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(f, "%s %d\n", c.Value("case"), c.Seed)
		f.Close()
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.Sleep):
	}
	for c.Seed >= uint64(s.Held[0]) && c.Seed <= uint64(s.Held[1]) && s.Go != "" {
		if _, err := os.Stat(s.Go); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	switch c.Value("case") {
	case "die":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	case "fail":
		return nil, errors.New("it does not work")
	}
	return sweep.Row{{Name: "x", Value: fmt.Sprint(c.Seed * c.Seed)}, {Name: "pad", Value: strings.Repeat(".", s.Pad)}}, nil
}

func openTrial(j Job) (CarryOut, func(), error) {
	var s trial
	if err := json.Unmarshal(j.Portable.Text, &s); err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, u sweep.Unit) (sweep.Outcome, error) {
		if u.Value("case") == "refuse" {
			_, _ = s.do(ctx, u.Case)
			return sweep.Outcome{}, errors.New("not here")
		}
		row, err := s.do(ctx, u.Case)
		if err == nil && s.Leave {
			err = leave(leftBy(j.Dir, u.Key), u.Key)
		}
		switch {
		case ctx.Err() != nil:
			return sweep.Outcome{}, nil
		case err != nil:
			return sweep.Outcome{Failure: &sweep.Failure{Kind: sweep.Failed, Message: err.Error(), Tries: 1}}, nil
		}
		return sweep.Outcome{Row: row}, nil
	}, func() {}, nil
}

// leave writes files, of which each is longer by the length of its name.
func leave(dir, key string) error {
	for _, name := range []string{"file", "deep/file"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, make([]byte, 1<<18+len(key)+1+len(name)), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// begun is how often each unit was begun.
func (s trial) begun(t testing.TB) map[string]int {
	f, err := os.Open(s.Log)
	require.NoError(t, err)
	defer f.Close()
	n := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		n[lines.Text()]++
	}
	return n
}

func newTrial(t testing.TB, units int, sleep time.Duration) trial {
	dir := t.TempDir()
	return trial{Units: units, Sleep: sleep, Wait: DefaultWait, Dir: filepath.Join(dir, "study"), Log: filepath.Join(dir, "log"), Tries: 100}
}

// hold has the units of some seeds wait until letGo: nothing that a test does before is
// too late.
func (s *trial) hold(first, last int) { s.Held, s.Go = [2]int{first, last}, s.Log+".go" }

func (s trial) letGo(t testing.TB) { require.NoError(t, os.WriteFile(s.Go, nil, 0o666)) }

// same requires that the table is, byte for byte, that of a run which nothing disturbed.
func (s trial) same(t testing.TB) {
	t.Helper()
	alone := s
	alone.Dir, alone.Log, alone.Sleep, alone.Go = filepath.Join(t.TempDir(), "alone"), "", 0, ""
	_, err := alone.run(context.Background(), sweep.InProcess{}, nil)
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join(alone.Dir, sweep.ResultsName))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(s.Dir, sweep.ResultsName))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// said is what a process or an engine tells.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *said) tell(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// process is this program in another role.
type process struct {
	*exec.Cmd
	said  said
	ended chan error
}

func start(t testing.TB, r role) *process {
	text, err := json.Marshal(r)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVar+"="+string(text))
	return run(t, cmd)
}

func run(t testing.TB, cmd *exec.Cmd) *process {
	p := &process{Cmd: cmd, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	require.NoError(t, cmd.Start())
	go func() { p.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("process %d said:\n%s", cmd.Process.Pid, p.said.String())
		}
	})
	return p
}

// kill ends it as kill -9 does, and waits.
func (p *process) kill() {
	_ = p.Process.Kill()
	p.wait(soon)
}

func (p *process) wait(d time.Duration) (err error, ended bool) {
	select {
	case err = <-p.ended:
		p.ended <- err
		return err, true
	case <-time.After(d):
		return nil, false
	}
}

func worker(t testing.TB, s Server) role {
	return role{Name: "worker", Server: s, Cache: t.TempDir(), Build: build}
}

// within starts a server in this process.
func within(t testing.TB, c embedded.Config) Server {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	s, err := embedded.Start(c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return Server{URL: s.URL(), Token: c.Token}
}

// beside is a server as a process of its own, which can be started again: Debian's where
// there is one, and that of this program.
type beside struct {
	t    testing.TB
	kind string
	addr string
	dir  string
	most int64 // bytes of its store
	*process
}

var kinds = []string{"nats-server", "embedded"}

func besideThis(t testing.TB, kind string, most int64) *beside {
	if kind == "nats-server" {
		if _, err := exec.LookPath(kind); err != nil {
			t.Skip("nats-server is not installed")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &beside{t: t, kind: kind, addr: l.Addr().String(), dir: t.TempDir(), most: most}
	require.NoError(t, l.Close())
	b.begin()
	return b
}

func (b *beside) begin() {
	if b.kind == "embedded" {
		b.process = start(b.t, role{Name: "server", Config: embedded.Config{Listen: b.addr, Dir: b.dir, Store: b.most}})
	} else {
		file := filepath.Join(b.dir, "server.conf")
		limit := ""
		if b.most > 0 {
			limit = fmt.Sprintf("max_file_store: %d", b.most)
		}
		require.NoError(b.t, os.WriteFile(file, fmt.Appendf(nil, "listen: %q\njetstream { store_dir: %q, %s }\n", b.addr, b.dir, limit), 0o666))
		b.process = run(b.t, exec.Command("nats-server", "-c", file))
	}
	require.Eventually(b.t, func() bool {
		nc, err := b.server().connect("test", func(string, ...any) {})
		if err != nil {
			return false
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			return false
		}
		_, err = js.AccountInfo(context.Background())
		return err == nil
	}, soon, 20*time.Millisecond)
}

func (b *beside) server() Server { return Server{URL: "nats://" + b.addr} }

// running is a coordinator in this process.
type running struct {
	said  said
	ended chan error
	stop  context.CancelFunc
}

func (s trial) start(t testing.TB, e Engine) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{ended: make(chan error, 1), stop: cancel}
	if e.Wait == 0 {
		e.Wait = s.Wait
	}
	go func() {
		_, err := s.run(ctx, e, r.said.tell)
		r.ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("the coordinator said:\n%s", r.said.String())
		}
	})
	return r
}

func (r *running) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(3 * soon):
		t.Fatal("the study does not end")
		return nil
	}
}

// done is how many units are in the study's folder.
func (s trial) done() int {
	files, _ := filepath.Glob(filepath.Join(s.Dir, "units", "*", "*.json"))
	return len(files)
}

func (s trial) waitFor(t testing.TB, units int) {
	t.Helper()
	require.Eventually(t, func() bool { return s.done() >= units }, soon, 5*time.Millisecond)
}

// onServer are the streams there.
func onServer(t testing.TB, s Server) (names []string) {
	nc, err := s.connect("test", func(string, ...any) {})
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	list := js.StreamNames(context.Background())
	for name := range list.Name() {
		names = append(names, name)
	}
	require.NoError(t, list.Err())
	slices.Sort(names)
	return names
}
