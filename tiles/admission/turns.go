package admission

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"limnomap/tiles/background"
)

const (
	// maxFinished bounds how many clients that do not wait are remembered.
	maxFinished = 1024
	// maxInVain and inVainTime bound how many clients that waited in vain are remembered, and how long.
	maxInVain  = 4096
	inVainTime = 2 * time.Minute
	// meanWeight is the weight of the last turn in the mean length of turns.
	meanWeight = 1. / 16
)

// TurnsOptions are the parameters of [NewTurns].
type TurnsOptions struct {
	// Count is how many have a turn at once: as many as there are processors. While more than that wait, it is one fewer.
	Count int
	// Waiting is how many may wait for a turn.
	Waiting int
	// Length is called with the number that wait, when it changes, under a lock. It may be nil.
	Length func(int)
	// Waits says that turns are spent waiting for something else, such as a database, and not with work: then they are not
	// taken on threads of low priority, and Close is not needed.
	Waits bool
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Turns bound how much work is done at once. Turns go to the client that has used the least time of late (start-time fair
// queueing: Goyal, Vin, Cheng, IEEE/ACM Transactions on Networking 5(5), 1997), so that a client with five hundred tiles
// delays another one's first tile no more than a client with one. Of clients that have used equal time the one that came first is next. A client that
// waited in vain and asks again counts as having come when it first did: otherwise it could be the last one for ever. Long work counts as if it had
// come later: otherwise hundreds of clients with a long list each would delay all tiles.
type Turns struct {
	options    TurnsOptions
	background *background.Threads // work here while more wait than have turns

	mu      sync.Mutex // guards what follows
	taken   int
	waiting int
	arrived int64
	queues  map[Client][]*waiter // of the clients that wait, in order of arrival
	// A client's virtual time is the time that its turns have taken. A client that comes, or comes back, starts at now: the
	// virtual time of the client that had the last turn.
	now  time.Duration
	used map[Client]time.Duration // virtual times; absent: before now
	mean float64                  // length of a turn, in ns

	inVain map[Client]time.Time // when clients came that have had no turn since, and whose wait has ended
	swept  time.Time            // when the oldest of inVain were forgotten last
}

// A waiter waits for a turn until its ctx ends.
type waiter struct {
	ctx     context.Context
	client  Client
	came    time.Time     // or before, if the client waited in vain
	due     time.Time     // came, or later
	arrival int64         // its number, in order
	turn    chan admitted // receives when the turn has come, or was refused
}

type admitted struct {
	crowded bool   // whether more waited than had turns
	client  Client // whose turn it is
	err     error
}

// A Place is where one call of [Turns.DoAt] waits, so that other clients can share it. The zero Place is ready to use, for one
// call.
type Place struct {
	later time.Duration // by which its call counts as having come later
	// Guarded by Turns.mu.
	waiter *waiter  // nil before it waits
	shared []Client // who share it before it waits, at most maxShared
}

// maxShared is how many clients may share a place before it waits, which is a short time.
const maxShared = 16

// NewTurns returns turns that all who share it take. Close ends it.
func NewTurns(o TurnsOptions) *Turns {
	if o.Length == nil {
		o.Length = func(int) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Turns{
		options:    o,
		background: background.New(max(1, o.Count-1)),
		queues:     make(map[Client][]*waiter),
		used:       make(map[Client]time.Duration),
		inVain:     make(map[Client]time.Time),
	}
}

// Close ends the threads of low priority. Work that has a turn goes on, and waiting work is done on its own goroutine.
func (t *Turns) Close() { t.background.Close() }

// Do runs f when it is c's turn. While many wait, f runs on a thread of low priority, so that answers from memory do not wait
// for the processor. The error is ErrBusy if too many wait already, the cause of ctx's end, or f's.
func (t *Turns) Do(ctx context.Context, c Client, f func() error) error {
	return t.DoAt(ctx, new(Place), c, f)
}

// longWork is by how much long work counts as having come later, as a multiple of the time that it is expected to take, and mostLater the most: it must
// not wait forever.
const longWork, mostLater = 10, 5 * time.Second

// DoLong does the same as Do for work that is expected to take that long.
func (t *Turns) DoLong(ctx context.Context, c Client, takes time.Duration, f func() error) error {
	return t.DoAt(ctx, &Place{later: min(longWork*takes, mostLater)}, c, f)
}

// DoAt does the same as Do. Until f's turn comes, Share may find it an earlier one.
func (t *Turns) DoAt(ctx context.Context, p *Place, c Client, f func() error) (err error) {
	w, err := t.enqueue(ctx, p, c)
	if err != nil {
		return err
	}
	a, err := t.await(w)
	if err != nil {
		return err
	}
	began := t.options.Now()
	defer func() { t.release(a.client, t.options.Now().Sub(began)) }()
	if !a.crowded || t.options.Waits {
		return f()
	}
	var panicked any
	t.background.Do(func() {
		defer func() { panicked = recover() }()
		err = f()
	})
	if panicked != nil {
		panic(panicked) // on the caller's goroutine, which an HTTP server guards
	}
	return err
}

// Share adds c to those who wait at p. If c's next turn comes earlier than the one that p waits for, it is used instead:
// otherwise a client with five hundred requests would delay others who want the last of the same things.
func (t *Turns) Share(p *Place, c Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.waiter != nil {
		t.share(p.waiter, c)
	} else if len(p.shared) < maxShared {
		p.shared = append(p.shared, c)
	}
}

// share moves w to the queue of c if it comes earlier there. t.mu must be held.
func (t *Turns) share(w *waiter, c Client) {
	if w.client == c {
		return
	}
	ahead := slices.Index(t.queues[w.client], w)
	if ahead < 0 { // its turn has come
		return
	}
	if n := len(t.queues[c]); n < ahead || n == ahead && t.virtual(c) < t.virtual(w.client) {
		t.remove(w)
		w.client = c
		t.add(w)
	}
}

// enqueue returns a waiter. Its turn comes at once if one is free.
func (t *Turns) enqueue(ctx context.Context, p *Place, c Client) (*waiter, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Now()
	came, inVain := t.inVain[c]
	if !inVain || now.Sub(came) >= inVainTime {
		came = now
	}
	w := &waiter{ctx: ctx, client: c, came: came, due: came.Add(p.later), turn: make(chan admitted, 1)}
	if t.waiting >= t.options.Waiting {
		t.removeEnded()
	}
	t.add(w)
	p.waiter = w
	for _, c := range p.shared {
		t.share(w, c)
	}
	t.admit()
	if t.waiting > t.options.Waiting {
		t.refuseOne()
		t.options.Length(t.waiting)
	}
	return w, nil
}

// add adds w to its client's queue. t.mu must be held.
func (t *Turns) add(w *waiter) {
	t.arrived++
	w.arrival = t.arrived
	t.queues[w.client] = append(t.queues[w.client], w)
	t.waiting++
}

// await returns when w's turn has come.
func (t *Turns) await(w *waiter) (admitted, error) {
	select {
	case a := <-w.turn:
		return a, a.err
	case <-w.ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case a := <-w.turn: // it came, or was refused, at the same time
		if a.err == nil {
			t.taken--
		}
	default:
		t.remove(w)
		t.remember(w)
	}
	t.admit()
	return admitted{}, context.Cause(w.ctx)
}

// remember remembers that w waited in vain. t.mu must be held.
func (t *Turns) remember(w *waiter) {
	if now := t.options.Now(); len(t.inVain) >= maxInVain && now.Sub(t.swept) >= time.Second {
		t.swept = now
		maps.DeleteFunc(t.inVain, func(_ Client, came time.Time) bool { return now.Sub(came) >= inVainTime })
	}
	before, known := t.inVain[w.client]
	if known && w.came.Sub(before) < inVainTime || !known && len(t.inVain) >= maxInVain {
		return
	}
	t.inVain[w.client] = w.came
}

// release ends a turn of c that took that long.
func (t *Turns) release(c Client, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken--
	t.used[c] = t.virtual(c) + took
	t.mean += meanWeight * (float64(took) - t.mean)
	t.forget(func(c Client) bool { return t.used[c] <= t.now })
	t.forget(func(c Client) bool { return len(t.queues[c]) == 0 })
	t.admit()
}

// forget forgets what clients have used, if too many are remembered. t.mu must be held.
func (t *Turns) forget(which func(Client) bool) {
	if len(t.used) <= maxFinished+len(t.queues) {
		return
	}
	for c := range t.used {
		if which(c) {
			delete(t.used, c)
		}
	}
}

// admit gives as many turns as are free. t.mu must be held.
func (t *Turns) admit() {
	for t.waiting > 0 && t.taken < t.atOnce() {
		crowded := t.crowded()
		w := t.next()
		t.now = t.virtual(w.client)
		t.remove(w)
		delete(t.inVain, w.client)
		now := t.options.Now()
		for _, other := range t.queues[w.client] { // these have not waited in vain
			other.came = now
		}
		t.taken++
		w.turn <- admitted{crowded: crowded, client: w.client}
	}
	t.options.Length(t.waiting)
}

// virtual returns the virtual time of c. t.mu must be held.
func (t *Turns) virtual(c Client) time.Duration { return max(t.used[c], t.now) }

// next returns the first waiter of the client that has used the least; of several, the one that is due first. t.mu must be held,
// and someone must wait.
func (t *Turns) next() *waiter {
	var first *waiter
	for c, queue := range t.queues {
		w := queue[0]
		if first == nil || cmp.Or(cmp.Compare(t.virtual(c), t.virtual(first.client)), w.compare(first)) < 0 {
			first = w
		}
	}
	return first
}

// compare orders waiters by when they are due, and then as they came.
func (w *waiter) compare(other *waiter) int {
	return cmp.Or(w.due.Compare(other.due), cmp.Compare(w.arrival, other.arrival))
}

// refuseOne refuses the waiter whose turn would come last; of several, the one that is due last. So a client that asks again
// after a while gets the place of one that has had its share. t.mu must be held, and someone must wait.
func (t *Turns) refuseOne() {
	var last *waiter
	latest := 0.
	for c, queue := range t.queues {
		w := queue[len(queue)-1]
		start := float64(t.virtual(c)) + t.mean*float64(len(queue)-1)
		if last == nil || cmp.Or(cmp.Compare(start, latest), cmp.Compare(len(queue), len(t.queues[last.client])), w.compare(last)) > 0 {
			last, latest = w, start
		}
	}
	t.remove(last)
	t.remember(last)
	last.turn <- admitted{err: ErrBusy}
}

// remove removes w, if it waits. t.mu must be held.
func (t *Turns) remove(w *waiter) {
	queue := t.queues[w.client]
	i := slices.Index(queue, w)
	if i < 0 {
		return
	}
	t.waiting--
	if len(queue) == 1 {
		delete(t.queues, w.client)
		return
	}
	t.queues[w.client] = slices.Delete(queue, i, i+1)
}

// removeEnded removes the waiters whose ctx has ended: their goroutines may not have run since. t.mu must be held.
func (t *Turns) removeEnded() {
	for c, queue := range t.queues {
		kept := slices.DeleteFunc(queue, func(w *waiter) bool { return w.ctx.Err() != nil })
		t.waiting -= len(queue) - len(kept)
		if t.queues[c] = kept; len(kept) == 0 {
			delete(t.queues, c)
		}
	}
}

// Idle reports whether no one has a turn or waits for one.
func (t *Turns) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken == 0 && t.waiting == 0
}

// crowded reports whether more wait than have turns. t.mu must be held.
func (t *Turns) crowded() bool { return t.waiting > t.options.Count }

// atOnce returns how many may have a turn. While many wait, one processor is kept for answers from memory: Go's scheduler looks
// at the network when a processor has nothing to run, and otherwise only every 10 ms (sysmon in runtime/proc.go). If every
// processor draws and a next tile is always there, a cached one waits that long. A short queue leaves enough pauses, and all
// processors work. t.mu must be held.
func (t *Turns) atOnce() int {
	if t.crowded() {
		return max(1, t.options.Count-1)
	}
	return t.options.Count
}
