package cli

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// showProgress draws a bar on w, if that is a terminal, until the function it
// returns is called, which wipes it out. done tells how much of total has been
// done; it is asked from another goroutine.
func showProgress(w io.Writer, what string, total int64, done func() int64) (stop func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || total <= 0 {
		return func() {}
	}
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
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
