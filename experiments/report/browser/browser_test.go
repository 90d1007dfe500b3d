// Package browser_test looks at the page in a real browser, without a window. It
// skips where none is found in the path.
package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/experiments/report"
	"github.com/gridslot/gridslot/metrics/results"
)

// browser has one tab, in which all tests of the package look at their pages, one after
// the other: a tab of its own takes a test longer than its page does.
var browser = sync.OnceValues(func() (context.Context, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.Flag("hide-scrollbars", true),
			chromedp.WSURLReadTimeout(5*time.Minute))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, _ := chromedp.NewExecAllocator(context.Background(), options...) // ends with the process
		ctx, cancel := chromedp.NewContext(allocator)
		atEnd = append(atEnd, func() { _ = chromedp.Cancel(ctx); cancel() })
		if err := chromedp.Listen(ctx, hear); err != nil {
			return nil, err
		}
		return ctx, chromedp.Do(ctx, send(network.Enable, network.EnableParams{}), send(log.Enable, cdp.Empty{}))
	}
	return nil, exec.ErrNotFound
})

var atEnd []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range atEnd {
		end()
	}
	os.Exit(code)
}

type action = chromedp.Action[chromedp.Void]

// send is a command of the browser's own protocol.
func send[P, R any](c cdp.Command[P, R], params P) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// scheme has the page shown by day or by night.
func scheme(name string) action {
	return send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// tab is a page being looked at.
type tab struct {
	testing.TB
	ctx     context.Context
	address string

	mutex  sync.Mutex
	loaded []string // addresses that the page asked for, itself left out
	errors []string // what went wrong in it
}

// current is the page that is looked at now.
var current atomic.Pointer[tab]

// hear takes in what the browser tells of the page.
func hear(event any) {
	p := current.Load()
	if p == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL != p.address && !strings.HasPrefix(e.Request.URL, "data:") {
			p.loaded = append(p.loaded, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		p.errors = append(p.errors, fmt.Sprintf("console.%s %s", e.Type, e.Args[0].Value))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.errors = append(p.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// open shows a page in so many pixels, by day where nothing else is said before, and waits
// until it is drawn.
func open(t testing.TB, path string, width, height int64, before ...action) *tab {
	root := requireBrowser(t)
	ctx, cancel := context.WithTimeout(root, 5*time.Minute)
	t.Cleanup(cancel)
	p := &tab{TB: t, ctx: ctx, address: (&url.URL{Scheme: "file", Path: path}).String()}
	p.run(chromedp.Navigate("about:blank")) // what the page before still says belongs to nobody
	current.Store(p)
	p.resize(width, height)
	p.run(scheme("light"))
	p.run(before...)
	p.run(chromedp.Navigate(p.address), chromedp.WaitReady(chromedp.CSS(`html[data-ready]`)))
	p.settle()
	return p
}

// requireBrowser skips the test where there is no browser.
func requireBrowser(t testing.TB) context.Context {
	root, err := browser()
	if err != nil {
		t.Skipf("no browser (chromium, chromium-browser or google-chrome in the path): %v", err)
	}
	return root
}

// resize gives the page so many pixels.
func (p *tab) resize(width, height int64) {
	p.run(send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500}))
}

func (p *tab) run(actions ...action) {
	p.Helper()
	require.NoError(p, chromedp.Do(p.ctx, actions...))
}

// value is what an expression of JavaScript is in the page.
func value[T any](p *tab, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p, err, expression)
	return v
}

// settle waits until what was asked for has been drawn.
func (p *tab) settle() {
	p.Helper()
	value[bool](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// sound requires that nothing went wrong in the page, and that it loaded nothing.
func (p *tab) sound() {
	p.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	require.Empty(p, p.errors)
	require.Empty(p, p.loaded)
}

// simulated is a folder of results with its page, made by the command. Equal calls have one
// folder: what a test changes in it it changes in a copy.
func simulated(t testing.TB, args ...string) string {
	t.Helper()
	requireBrowser(t)
	dir, there := folderOf(t, strings.Join(args, "\n"))
	if there {
		return dir
	}
	gridslot(t, append(append([]string{"simulate"}, args...), "--out", dir)...)
	gridslot(t, "report", dir)
	return dir
}

// made are the folders that tests share, by what is in them.
var made = map[string]string{}

// folderOf is the folder with that in it, and whether it is there already. It goes when the
// tests end.
func folderOf(t testing.TB, what string) (dir string, there bool) {
	if dir, there = made[what]; there {
		return dir, true
	}
	dir, err := os.MkdirTemp("", "browser")
	require.NoError(t, err)
	atEnd = append(atEnd, func() { os.RemoveAll(dir) })
	made[what] = dir
	return dir, false
}

func gridslot(t testing.TB, args ...string) {
	t.Helper()
	var stderr strings.Builder
	require.Zero(t, cli.Run(context.Background(), cli.Env{Args: args, Stdout: io.Discard, Stderr: &stderr}), &stderr)
}

// file is a file of that text; equal texts have one file.
func file(t testing.TB, name, text string) string {
	dir, there := folderOf(t, name+"\n"+text)
	if !there {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return filepath.Join(dir, name)
}

// copied is a copy of a folder, for a test that changes its files.
func copied(t testing.TB, dir string) string {
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// folder reads results.
func folder(t testing.TB, dir string) *results.Folder {
	f, err := results.Open(dir)
	require.NoError(t, err)
	return f
}

// written is the page of a folder.
func written(t testing.TB, dir string) string {
	path := filepath.Join(dir, "report.html")
	require.NoError(t, report.WriteFile(path, folder(t, dir)))
	return path
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

const domain = `generate: {count: 24, performance: [2, 10]}
cycle: 600
batches: {cycles: 3, jobs: 10}
`

const grid = `clusters:
  - {name: large, processors: 128}
  - {name: small, processors: 64, speed: 1.5}
brokers: 2
strategies: [oar, shortest-queue]
`

// worlds are one of each kind of machine.
func worlds(t testing.TB) map[string]string {
	return map[string]string{
		"cluster": simulated(t, "lublin:jobs=1500:procs=64:load=0.8", "--policy", "fcfs,easy"),
		"failures": simulated(t, "lublin:jobs=1500:procs=64:load=0.8", "--policy", "fcfs,easy",
			"--outages", "weibull:mtbf=10d:shape=0.7:repair=8h", "--victims", "checkpoint:interval=1h:cost=300s"),
		"domain":    simulated(t, file(t, "vo.yaml", domain)),
		"grid":      simulated(t, "--grid", file(t, "grid.yaml", grid), "--first", "500"),
		"uncounted": simulated(t, "lublin:jobs=300:procs=64", "--policy", "easy", "--allocation", "count"),
	}
}
