package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// drawable reports whether a bar can be drawn on w: a terminal that can do more than print, of a
// user who has not asked for plain text (NO_COLOR, see no-color.org).
func drawable(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

// showProgress draws a bar on w, if it can be drawn there, until the function that it returns is
// called, which wipes the bar out. what names the work under way, done returns how much of total
// has been done; both are called from another goroutine.
func showProgress(w io.Writer, what func() string, total int64, done func() int64) (stop func()) {
	if !drawable(w) || total <= 0 {
		return func() {}
	}
	p := mpb.New(mpb.WithOutput(w))
	bar := p.New(total, mpb.BarStyle().Lbound("|").Filler("█").Tip("").Padding(" ").Rbound("|"), mpb.BarWidth(40),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return what() }), decor.NewPercentage("%d", decor.WC{W: 5})),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Name(":"), decor.AverageETA(decor.ET_STYLE_GO)))
	// A bar that is full would end by itself, in the midst of the work.
	draw := func() { bar.SetCurrent(min(done(), total-1)) }
	return repeatedly(draw, func() {
		bar.Abort(true)
		p.Wait()
	})
}

// repeatedly calls draw ten times a second, on a goroutine of its own, until the function that it
// returns is called. That ends the goroutine with a call of wipe, and waits for it.
func repeatedly(draw, wipe func()) (stop func()) {
	quit := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				draw()
			case <-quit:
				wipe()
				return
			}
		}
	})
	return func() {
		close(quit)
		group.Wait()
	}
}
