package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	// barInterval is how often a bar is drawn: as often as an eye follows.
	barInterval = 100 * time.Millisecond
	// lineInterval is how often there is a line where there is no bar, such as in the log of a nightly job.
	lineInterval = 10 * time.Second
	// unknownTotal is the total where nobody knows it. A bar is a sign that turns then.
	unknownTotal = -1
)

// A progress tells how far some tiles are: as a bar where standard error is a terminal, elsewhere as a line in the log now
// and then. It is for one goroutine.
type progress struct {
	doing   string
	total   int64
	log     *slog.Logger
	now     func() time.Time
	started time.Time
	bar     *progressbar.ProgressBar // nil where there is none

	done int64
	told time.Time // when there was a line last
}

func newProgress(con *console, doing string, total int64, now func() time.Time) *progress {
	p := &progress{doing: doing, total: total, log: con.log, now: now, started: now()}
	p.told = p.started
	if isTerminal(con.err) {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(con.err),
			progressbar.OptionSetDescription(doing),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(barInterval),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("tiles"),
			progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine draws until finish, which an error may prevent
		)
	}
	return p
}

// step counts one tile more.
func (p *progress) step() {
	p.done++
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop the work
		return
	}
	const between = 64 // tiles from one look at the clock to the next
	if p.done%between != 0 {
		return
	}
	now := p.now()
	if now.Sub(p.told) < lineInterval {
		return
	}
	p.told = now
	rate := float64(p.done) / now.Sub(p.started).Seconds()
	if p.total == unknownTotal {
		p.log.Info(p.doing, "tiles", p.done, "tiles_per_second", int64(rate))
		return
	}
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second)).Round(time.Second)
	p.log.Info(p.doing, "tiles", p.done, "of", p.total, "tiles_per_second", int64(rate), "left", left)
}

// finish ends the bar, and returns how long the work took and how many tiles that is a second.
func (p *progress) finish() string {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	took := p.now().Sub(p.started)
	return fmt.Sprintf("%v, %.0f tiles a second", took.Round(10*time.Millisecond), float64(p.done)/max(took.Seconds(), 1e-3))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// megabytes writes a number of bytes for people.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
