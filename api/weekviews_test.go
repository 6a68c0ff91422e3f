package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

// A pastSource is a source of old weeks. Each read of its past takes a second.
type pastSource struct {
	*fakeSource
	mu    sync.Mutex
	reads []data.Period // that have begun
}

func (p *pastSource) Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	p.mu.Lock()
	p.reads = append(p.reads, period)
	p.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return data.Revision{}, ctx.Err()
	}
	return p.fakeSource.Past(ctx, period, observation)
}

func (p *pastSource) begun() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reads)
}

// turnOf returns how many reads had begun when that of a day had.
func (p *pastSource) turnOf(t *testing.T, day string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.reads, func(of data.Period) bool { return of.Contains(date(t, day)) })
	if i < 0 {
		t.Errorf("%s was not read", day)
	}
	return i + 1
}

// newPastSource returns a source with one observation in every second year since 1900, of which a server reads one at a time,
// and one in each of the newest weeks.
func newPastSource(t testing.TB) (src *pastSource, old, recent []string) {
	src = &pastSource{fakeSource: testSource(t)}
	id, all := src.lakes[0].ID, []data.Observation(nil)
	add := func(d data.Date) string {
		all = append(all, data.Observation{LakeID: id, Date: d, Chlorophyll: 500, Level: data.NoLevel, CellDensity: data.NoCellDensity})
		return d.String()
	}
	for year := 1900; year < 2020; year += 2 {
		old = append(old, add(date(t, fmt.Sprintf("%d-06-01", year))))
	}
	for w := range 60 {
		recent = append(recent, add(date(t, "2025-01-06")+data.Date(7*w)))
	}
	src.observations = all
	return src, old, recent
}

// weekServer returns a server of that source that holds the newest 60 weeks, and its turns.
func weekServer(t testing.TB, src snapshot.Source, memory int64) (*Server, *admission.Turns) {
	t.Helper()
	opts := testOptions(t)
	opts.Turns = admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: 512})
	opts.Registry = prometheus.NewRegistry()
	t.Cleanup(opts.Turns.Close)
	opts.Memory = admission.NewBudget(memory)
	opts.APIRate, opts.TileRate = 0, 0
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Load(t.Context(), src, &snapshot.Options{AsOf: snapshot.Newest, Weeks: 60, Patience: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(snap); err != nil {
		t.Fatal(err)
	}
	return s, opts.Turns
}

// from requests an address as a client with that last byte of its address.
func from(s *Server, client byte, address string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", client)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// A client that asks for fifteen old weeks delays another client's one by the read in progress and no other.
func TestOldWeeksAreReadFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, old, _ := newPastSource(t)
		s, _ := weekServer(t, src, 1<<30)
		var crowd sync.WaitGroup
		for _, day := range old[:15] { // as many as may be read before the first is too late
			crowd.Go(func() {
				if w := from(s, 1, statsURL+"?date="+day); w.Code != http.StatusOK {
					t.Errorf("week of %s: status %d", day, w.Code)
				}
			})
			synctest.Wait()
		}
		if got := src.begun(); got != 1 {
			t.Fatalf("%d reads at once, want 1", got)
		}
		time.Sleep(time.Second / 2)
		for i, address := range []string{statsURL + "?date=", statusURL + "?date=", "/api/v1/tiles/3/4/2.mvt?date="} {
			synctest.Wait() // the crowd's next read has begun
			before := src.begun()
			day := old[40+before]
			if w := from(s, 2, address+day); w.Code != http.StatusOK {
				t.Errorf("%s: status %d: %s", address, w.Code, w.Body)
			}
			// The first of a client comes next. Then the client has used as much as the other one or a turn more, so that the
			// other one may have two turns first.
			want := 3
			if i == 0 {
				want = 1
			}
			if in := src.turnOf(t, day) - before; in > want { // others may have begun since
				t.Errorf("%s waits for %d reads, with its own, want %d at most", address, in, want)
			}
		}
		crowd.Wait()
	})
}

// Maps of weeks are built in the turns of tiles. A map in memory needs no turn.
func TestConcurrentWeeksAreBuiltInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, _, recent := newPastSource(t)
		s, turns := weekServer(t, src, 1<<30)
		from(s, 1, statsURL+"?date="+recent[0]) // is counted and kept
		end := make(chan struct{})
		go func() { _ = turns.Do(t.Context(), admission.Client{}, func() error { <-end; return nil }) }()
		synctest.Wait()
		addresses := []string{statsURL + "?date=" + recent[1], statusURL + "?date=" + recent[2], "/api/v1/tiles/3/4/2.mvt?date=" + recent[3]}
		answers := make(chan int, len(addresses))
		for _, address := range addresses {
			go func() { answers <- from(s, 2, address).Code }()
		}
		synctest.Wait()
		if n := len(answers); n != 0 {
			t.Errorf("%d maps are built while the only turn is taken", n)
		}
		for _, ready := range []string{statsURL + "?date=" + recent[0], statusURL, statusURL + "?date=" + recent[59]} {
			if w := from(s, 2, ready); w.Code != http.StatusOK {
				t.Errorf("%s, which is ready: status %d", ready, w.Code)
			}
		}
		close(end)
		for range addresses {
			if code := <-answers; code != http.StatusOK {
				t.Errorf("after the turn ended: status %d", code)
			}
		}
	})
}

// A request that gets no turn for too long is refused, and may try again.
func TestWeekWithoutATurnIs503(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, _, recent := newPastSource(t)
		s, turns := weekServer(t, src, 1<<30)
		end, done := make(chan struct{}), make(chan struct{})
		go func() {
			_ = turns.Do(t.Context(), admission.Client{}, func() error { <-end; return nil })
			close(done)
		}()
		synctest.Wait()
		w := from(s, 2, statsURL+"?date="+recent[1])
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d, Retry-After %q, want 503 with it", w.Code, w.Header().Get("Retry-After"))
		}
		close(end)
		<-done
	})
}

// Maps in use count as memory of answers: each once, until the last request is done with it.
func TestWeeksInUseAreCounted(t *testing.T) {
	src, old, recent := newPastSource(t)
	snap, err := snapshot.Load(t.Context(), src.fakeSource, &snapshot.Options{AsOf: snapshot.Newest, Weeks: 60})
	if err != nil {
		t.Fatal(err)
	}
	size := snap.ViewBytes()
	memory := admission.NewBudget(4 * size) // one client may hold two
	turns := admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: 10})
	defer turns.Close()
	wv := newWeekViews(turns, turns, memory)
	ask := func(client byte, day string) (func(), error) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", client)
		_, release, err := wv.get(r, snap, date(t, day).Week())
		return release, err
	}
	var releases []func()
	for _, test := range []struct {
		name   string
		client byte
		day    string
		used   int64 // maps
		want   error
	}{
		{"an old week", 1, old[0], 1, nil},
		{"the same by another client", 2, old[0], 1, nil},
		{"a week in memory", 1, recent[0], 2, nil},
		{"the current one", 1, recent[59], 2, nil},
		{"a third of one client", 1, recent[1], 2, admission.ErrBusy},
		{"the first of another client", 2, recent[1], 3, nil},
		{"one too many for it", 2, recent[2], 3, admission.ErrBusy},
	} {
		release, err := ask(test.client, test.day)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if err == nil {
			releases = append(releases, release)
		}
		if got := memory.Used(); got != test.used*size || wv.bytes() != got {
			t.Errorf("%s: %d bytes are used, and %d known, want %d maps of %d", test.name, got, wv.bytes(), test.used, size)
		}
	}
	releases[0]()
	releases[0]() // no second time
	if got := memory.Used(); got != 3*size {
		t.Errorf("one of two users of a map has gone: %d bytes are used, want 3 maps of %d", got, size)
	}
	for _, release := range releases {
		release()
	}
	if memory.Used() != 0 || wv.bytes() != 0 {
		t.Errorf("after all released: %d bytes are used, and %d known", memory.Used(), wv.bytes())
	}
}

// Every answer about a week gives back its memory.
func TestAnswersReleaseTheirWeeks(t *testing.T) {
	src, old, recent := newPastSource(t)
	s, _ := weekServer(t, src.fakeSource, 1<<30)
	for _, address := range append(urlsOfStates, "/api/v1/tiles/3/4/2.png?", "/api/v1/tiles/3/4/2.mvt?") {
		for _, day := range []string{old[0], recent[0], recent[0], recent[59]} {
			if w := from(s, 1, address+"date="+day); w.Code != http.StatusOK {
				t.Errorf("%s of %s: status %d: %s", address, day, w.Code, w.Body)
			}
			if got := s.common.opts.Memory.Used(); got != 0 {
				t.Fatalf("%s of %s leaves %d bytes in use", address, day, got)
			}
		}
	}
}
