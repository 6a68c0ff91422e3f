//go:build linux

package attacktest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/store"
	"limnomap/data/testsize"
)

// A hostileReceiver answers the requests of webhooks in one way.
type hostileReceiver struct {
	name   string
	answer func(w http.ResponseWriter, r *http.Request, elsewhere string)
}

var hostileReceivers = []hostileReceiver{
	{"hangs", func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }},
	{"redirects", func(w http.ResponseWriter, r *http.Request, elsewhere string) {
		http.Redirect(w, r, elsewhere, []int{301, 302, 307, 308}[time.Now().UnixNano()%4])
	}},
	{"redirects to metadata", func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusTemporaryRedirect)
	}},
	{"answers without end", func(w http.ResponseWriter, r *http.Request, _ string) {
		for err := error(nil); err == nil && r.Context().Err() == nil; {
			_, err = io.WriteString(w, strings.Repeat("a", 1<<16))
		}
	}},
	{"answers a byte now and then", func(w http.ResponseWriter, r *http.Request, _ string) {
		out := http.NewResponseController(w)
		for err := error(nil); err == nil && r.Context().Err() == nil; time.Sleep(100 * time.Millisecond) {
			if _, err = io.WriteString(w, "a"); err == nil {
				err = out.Flush()
			}
		}
	}},
	{"is gone", func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusGone) }},
	{"asks for years", func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Retry-After", []string{"999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "-1", "18446744073709551616"}[time.Now().UnixNano()%4])
		w.WriteHeader(http.StatusServiceUnavailable)
	}},
	{"hangs up", func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) }},
	{"has long headers", func(w http.ResponseWriter, _ *http.Request, _ string) {
		for i := range 200 {
			w.Header().Set(fmt.Sprintf("X-Long-%d", i), strings.Repeat("a", 1<<15))
		}
		w.WriteHeader(http.StatusInternalServerError)
	}},
	{"asks for more and more", func(w http.ResponseWriter, _ *http.Request, _ string) {
		for range 1000 {
			w.WriteHeader(http.StatusEarlyHints)
		}
	}},
}

// refusedReceivers are addresses to which no webhook may be sent. What is made of them is never a request.
var refusedReceivers = []string{"http://169.254.169.254/latest/", "http://10.0.0.1/", "http://[::ffff:169.254.169.254]/", "http://[fe80::1]/", "http://[::1]:1/", "http://0.0.0.0:1/", "http://2852039166/",
	"http://192.168.0.1/", "http://100.100.100.200/", "http://[fd00:ec2::254]/"}

// webhookAttacks returns the attack of receivers. Whoever can write to the database makes webhooks; what their receivers do is not up to them.
func webhookAttacks() []attack {
	return []attack{{"webhooks", "hostile receivers", 0, func(a *assault) {
		var reached atomic.Int64
		canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
		defer canary.Close()
		var urls []string
		var mu sync.Mutex
		asked := make(map[string]int) // by receiver
		receivers, refused := hostileReceivers, refusedReceivers
		if !testsize.Long {
			receivers, refused = receivers[:5], refused[:3]
		}
		for _, kind := range receivers {
			for range size(6, 1) {
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					asked[kind.name]++
					mu.Unlock()
					_, _ = io.Copy(io.Discard, r.Body) // the context ends with the connection only when the body is read
					kind.answer(w, r, canary.URL)
				}))
				s.Config.ErrorLog = discarded
				s.Start()
				defer s.Close()
				defer s.CloseClientConnections()
				urls = append(urls, s.URL)
			}
		}
		ids := make([]string, len(urls))
		each(len(urls), 4, func(i int) {
			out, err := a.command("hooks", "create", "--db", a.db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--bbox=-130,-65,-110,-55", "--url", urls[i]).Output()
			if id, _, ok := strings.Cut(string(out), " "); err == nil && ok {
				ids[i] = id
			} else {
				a.fail("hooks create --url %s: %v", urls[i], err)
			}
		})
		notReached := a.createRefused(refused)
		for range size(6, 2) {
			a.told()
		}
		a.wantRefused(notReached)
		ids = append(ids, notReached...)
		each(len(ids), 4, func(i int) {
			if out, err := a.command("hooks", "delete", ids[i], "--db", a.db).CombinedOutput(); err != nil {
				a.fail("hooks delete: %v: %s", err, out)
			}
		})
		if n := reached.Load(); n > 0 {
			a.fail("%d redirects of receivers were followed", n)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, kind := range receivers {
			if asked[kind.name] == 0 {
				a.fail("the receiver that %s was not asked", kind.name)
			}
			a.note("%d× a receiver that %s", asked[kind.name], kind.name)
		}
	}}}
}

// createRefused puts webhooks into the database whose addresses hooks create refuses, as names that lead there later would be, and returns their ids.
func (a *assault) createRefused(urls []string) (ids []string) {
	ctx := context.Background()
	s, err := store.Open(ctx, a.db, false)
	if err != nil {
		a.fail("%v", err)
		return nil
	}
	defer s.Close()
	box, err := data.ParseBox("-130,-65,-110,-55")
	if err != nil {
		a.fail("%v", err)
		return nil
	}
	for _, address := range urls {
		if err := a.command("hooks", "create", "--db", a.db, "--hooks-allow-http", "--url", address).Run(); err == nil {
			a.fail("hooks create takes %s", address)
		}
		h := hook.New(address, eventfeed.Filter{Box: &box}, time.Now())
		if err := s.CreateHook(ctx, h); err != nil {
			a.fail("%s: %v", address, err)
			continue
		}
		ids = append(ids, h.ID)
	}
	return ids
}

// wantRefused waits until the webhooks have failed because their addresses are not allowed.
func (a *assault) wantRefused(ids []string) {
	type listed struct{ ID, State, Error string }
	var wrong []listed
	for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
		out, err := a.command("hooks", "list", "--json", "--db", a.db).Output()
		var all []listed
		if err == nil {
			err = json.Unmarshal(out, &all)
		}
		if err != nil {
			a.fail("hooks list: %v", err)
			return
		}
		wrong = slices.DeleteFunc(all, func(l listed) bool {
			return !slices.Contains(ids, l.ID) || strings.Contains(l.Error, "address is not allowed")
		})
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, l := range wrong {
		a.fail("the webhook of an address that is not allowed is %+v", l)
	}
}
