package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// drawable reports whether a bar can be drawn on w: a terminal that can do more
// than print, of a user who has not asked for plain text.
func drawable(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

// showProgress draws a bar on w, if it can be drawn there, until the function it
// returns is called, which wipes it out. what names the work under way, done
// tells how much of total has been done; both are asked from another goroutine.
func showProgress(w io.Writer, what func() string, total int64, done func() int64) (stop func()) {
	if !drawable(w) || total <= 0 {
		return func() {}
	}
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what()),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
	quit := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				bar.Describe(what())
				_ = bar.Set64(min(done(), total-1)) // a bar that cannot be drawn is no failure
			case <-quit:
				_ = bar.Clear()
				return
			}
		}
	})
	return func() {
		close(quit)
		group.Wait()
	}
}
