package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// barInterval is how often a bar is drawn.
	barInterval = 100 * time.Millisecond
	// lineInterval is how often a line is logged if there is no bar, as in the log of a nightly job.
	lineInterval = 10 * time.Second
	// unknownTotal is a total that is not known. The bar is a spinner then.
	unknownTotal = -1
)

// newBar returns a progress bar on standard error, which is invisible if that is not a terminal. Errors of a bar are ignored:
// they are no reason to stop the work.
func newBar(con *console, doing string, total int64, opts ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append(opts,
		progressbar.OptionSetVisibility(isTerminal(con.err)),
		progressbar.OptionSetWriter(con.err),
		progressbar.OptionSetDescription(doing),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(barInterval),
		progressbar.OptionSetSpinnerChangeInterval(0), // without this a goroutine draws until Finish, which an error may skip
	)...)
}

// A progress shows how many tiles are done: as a bar on a terminal, otherwise as a line in the log every lineInterval. It
// is for one goroutine.
type progress struct {
	doing   string
	total   int64
	log     *slog.Logger
	now     func() time.Time
	started time.Time
	bar     *progressbar.ProgressBar
	hasBar  bool // whether the bar is visible

	done   int64
	logged time.Time // last
}

func newProgress(con *console, doing string, total int64, now func() time.Time) *progress {
	p := &progress{doing: doing, total: total, log: con.log, now: now, started: now(), hasBar: isTerminal(con.err)}
	p.logged = p.started
	p.bar = newBar(con, doing, total, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("tiles"))
	return p
}

// step counts a tile.
func (p *progress) step() {
	p.done++
	if p.hasBar {
		_ = p.bar.Add(1)
		return
	}
	now := p.now()
	if now.Sub(p.logged) < lineInterval {
		return
	}
	p.logged = now
	rate := float64(p.done) / now.Sub(p.started).Seconds()
	if p.total == unknownTotal {
		p.log.Info(p.doing, "tiles", p.done, "tiles_per_second", int64(rate))
		return
	}
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second)).Round(time.Second)
	p.log.Info(p.doing, "tiles", p.done, "of", p.total, "tiles_per_second", int64(rate), "left", left)
}

// finish removes the bar, and returns the duration and the tiles per second.
func (p *progress) finish() string {
	_ = p.bar.Finish()
	took := p.now().Sub(p.started)
	return fmt.Sprintf("%v, %.0f tiles a second", took.Round(10*time.Millisecond), float64(p.done)/max(took.Seconds(), 1e-3))
}
