package refresh

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"limnomap/data"
)

const (
	// lateAfter is how long the tables of the other sources wait for that of a URL. It is received meanwhile, and imported when it is there.
	lateAfter = 10 * time.Second
	// maxLate bounds the tables that are received meanwhile. The others wait for further ones.
	maxLate = 8
)

// errLate is returned for a table that is still being received.
var errLate = errors.New("it is still being received")

// A fetching is a table of a URL that is being received.
type fetching struct {
	done chan struct{} // closed when f and err are set
	f    *file
	err  error
}

// lateTables are the tables that a refresh does not wait for. They are used by one goroutine.
type lateTables struct {
	r       *Refresher
	ctx     context.Context
	cancel  context.CancelFunc
	of      map[string]*fetching // by the key of the source
	arrived chan struct{}        // has a value when one may have arrived
}

func (r *Refresher) newLateTables(ctx context.Context) *lateTables {
	ctx, cancel := context.WithCancel(ctx)
	return &lateTables{r, ctx, cancel, make(map[string]*fetching), make(chan struct{}, 1)}
}

// fetch returns what [Refresher.fetch] does of a table, or errLate.
func (l *lateTables) fetch(p source, known data.RefreshFile, left int64) (*file, error) {
	key := p.key()
	g := l.of[key]
	if g == nil {
		g = &fetching{done: make(chan struct{})}
		go func() { // ends with the file, or with end
			g.f, g.err = l.r.fetch(l.ctx, p, known, left, true)
			close(g.done)
			select {
			case l.arrived <- struct{}{}:
			default:
			}
		}()
		l.of[key] = g
		var late <-chan time.Time
		if len(l.r.from) > 1 && len(l.of) <= maxLate {
			timer := time.NewTimer(lateAfter)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-g.done:
		case <-late:
		}
	}
	if !g.ended() {
		return nil, errLate
	}
	delete(l.of, key)
	if g.f != nil && g.f.size > left { // others have come meanwhile
		g.f.Close()
		return nil, l.r.tooMuch(p.String())
	}
	return g.f, g.err
}

func (g *fetching) ended() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// ready reports whether one of the tables can be imported.
func (l *lateTables) ready() bool {
	for _, g := range l.of {
		if g.ended() {
			return true
		}
	}
	return false
}

// end ends the requests, and closes what has arrived.
func (l *lateTables) end() {
	l.cancel()
	for _, g := range l.of {
		<-g.done
		if g.f != nil {
			g.f.Close()
		}
	}
}

// isAway reports whether err says that a server does not give its file now. The tables of the other sources are imported without it.
func (r *Refresher) isAway(err error) bool {
	f, ok := errors.AsType[*Fault](err)
	return len(r.from) > 1 && (errors.Is(err, errLate) ||
		ok && slices.Contains([]string{awayReason, timeoutReason, paceReason, cutReason, answerReason}, f.Reason))
}

// inOrder returns the sources, those last that were left out of the last refresh: so the others do not wait for them.
func (r *Refresher) inOrder() []source {
	sources := slices.Clone(r.from)
	rank := func(p source) int {
		if p.url != nil && r.away[p.key()] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(sources, func(a, b source) int { return cmp.Compare(rank(a), rank(b)) })
	return sources
}

// leave leaves out the table of a source, which the database has as it was before.
func (in *input) leave(before data.RefreshFile, err error) {
	in.left++
	if before.Key != "" {
		in.kept = append(in.kept, before)
	}
	if !errors.Is(err, errLate) {
		in.away = cmp.Or(in.away, err)
	}
}

// known returns what the database stores of the tables, also of those that are left out.
func (in *input) known() []data.RefreshFile {
	known := append(in.files.known(), in.kept...)
	slices.SortFunc(known, func(a, b data.RefreshFile) int { return cmp.Compare(a.Key, b.Key) })
	return known
}

// changed reports whether there are tables with other content than those stored before.
func (in *input) changed(before []data.RefreshFile) bool {
	return !in.unchanged && (len(in.files) > 0 || in.left == 0) &&
		!slices.EqualFunc(in.known(), before, func(a, b data.RefreshFile) bool { return a.Key == b.Key && a.SHA256 == b.SHA256 })
}
