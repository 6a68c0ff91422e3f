package refresh

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const hangs = "http://hangs.example/hangs.csv"

// A closure does not wait for a table of another source that hangs, is slow or cannot be had, wherever in the list of sources that is.
func TestTablesDoNotWaitForOneAnother(t *testing.T) {
	const office = "http://office.example/closure.csv"
	for name, test := range map[string]struct {
		other  string
		reason string // after ten minutes
		values int
	}{
		"hangs":     {hangs, timeoutReason, 0},
		"is missed": {"http://hangs.example/missing.csv", answerReason, 0},
		"is slow":   {"http://slow.example/observations.csv", "", 1},
	} {
		for _, urls := range [][]string{{test.other, office}, {office, test.other}} {
			t.Run(name+" "+urls[0], func(t *testing.T) {
				inBubble(t, func(t *testing.T, st *station) {
					st.put("lakes.csv", lakes)
					d := &drip{files: map[string]string{"/closure.csv": strings.ReplaceAll(closure, "2024-", "1999-"), "/observations.csv": strings.ReplaceAll(observations, "2024-", "1999-")}, pace: 1 << 20, hangs: "/hangs.csv"}
					log := new(logBuffer)
					stop := st.besides(d, log, urls...)
					st.after(40 * time.Second)
					if n := st.closures(); n != 1 {
						t.Errorf("after 40 s there are %d statements\n%s", n, log)
					}
					st.put("closure.csv", strings.Replace(closure, "s1", "s2", 1))
					st.after(2*time.Minute + 10*time.Second)
					if n := st.closures(); n != 2 {
						t.Errorf("90 s after the second statement there are %d\n%s", n, log)
					}
					r := st.after(10 * time.Minute)
					stop()
					if r.LastError != test.reason || (test.reason == "") != (r.Failures == 0) {
						t.Errorf("after ten minutes: %+v, want the reason %q\n%s", r, test.reason, log)
					}
					var values []string
					if test.values > 0 {
						values = []string{"5"}
					}
					rev, err := st.s.Revision(t.Context())
					must(t, err)
					holds(t, st.s, rev.Number, 2, values...)
				})
			})
		}
	}
}

// A refresh by command waits for what is late, imports it with the rest, and fails if that does not come.
func TestOnceWaitsForLateTables(t *testing.T) {
	for url, want := range map[string]string{"http://slow.example/more.csv": "", hangs: timeoutReason} {
		inBubble(t, func(t *testing.T, st *station) {
			st.put("lakes.csv", lakes)
			d := &drip{files: map[string]string{"/more.csv": strings.ReplaceAll(more, "2024-", "1999-")}, pace: 1 << 20, hangs: "/hangs.csv"}
			r := st.beside(d, new(logBuffer), url)
			result, err := r.RunOnce(t.Context())
			if reason := ""; err != nil {
				if reason = reasonOf(err); reason != want {
					t.Errorf("%s: %v, want the reason %q", url, err, want)
				}
			} else if want != "" || result.Unchanged {
				t.Errorf("%s: %+v, want the reason %q", url, result, want)
			}
			if want == "" {
				holds(t, st.s, 2, 2, "6", "7")
				if again, err := r.RunOnce(t.Context()); err != nil || !again.Unchanged {
					t.Errorf("again: %+v, %v, want nothing new", again, err)
				}
			} else {
				holds(t, st.s, 1, 2)
			}
			if state := st.after(0); !state.LeasedUntil.IsZero() || errors.Is(err, ErrBusy) {
				t.Errorf("in the end: %+v", state)
			}
		})
	}
}

// A closure does not wait for the forecasts that are made after a refresh; when they are done, they are made again with what has come meanwhile.
func TestTablesDoNotWaitForWhatFollows(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		r := st.refresher(st.s, new(logBuffer))
		var calls, running atomic.Int64
		r.opts.After = func(ctx context.Context) (bool, error) {
			if running.Add(1) > 1 {
				t.Error("two calls at once")
			}
			defer running.Add(-1)
			calls.Add(1)
			return false, sleep(ctx, time.Hour)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { // ends with cancel
			defer close(done)
			r.Run(ctx, every(time.Minute))
		}()
		st.after(10 * time.Second)
		st.put("closure.csv", closure)
		st.after(2*time.Minute + 10*time.Second)
		if n := st.closures(); n != 1 || calls.Load() != 1 {
			t.Errorf("during the first of %d calls there are %d closures", calls.Load(), n)
		}
		st.after(90 * time.Minute)
		if n := calls.Load(); n != 2 {
			t.Errorf("after 90 minutes there were %d calls, want 2", n)
		}
		cancel()
		<-done
		if running.Load() != 0 {
			t.Error("Run has ended before the call")
		}
	})
}
