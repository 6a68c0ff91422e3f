package pagetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// What a reception does with requests.
const (
	passing = iota
	broken  // each connection ends without an answer
	hanging // no answer comes, as by a lake with bad reception
	failing // 502, as of a proxy whose server is away
	lying   // 200 with a page that is not ours, as of a network that wants its visitors to sign in
	cutting // the first half of the right answer, without a word that more is to come
)

// A reception is the network between browser and server, under a path that it takes off.
type reception struct {
	base    string
	mode    atomic.Int32
	change  atomic.Pointer[func(path string, content []byte) []byte] // what another version of the page has instead
	script  string                                                   // what the page's script is really called
	age     atomic.Int64                                             // seconds that answers are old, as the server or a cache says
	release atomic.Pointer[chan struct{}]                            // closed when what hangs is to end
}

const (
	frontPath = "/our/lakes"
	newScript = "main-99999999.js"
)

func startReception(t *testing.T, server string) *reception {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	f := new(reception)
	f.set(passing)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = f.modify
	s := httptest.NewServer(http.StripPrefix(frontPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mode := f.mode.Load()
		if mode == lying && r.URL.Path == "/" {
			mode = passing // a reader who has to sign in must see that
		}
		switch mode {
		case broken:
			panic(http.ErrAbortHandler)
		case hanging:
			select {
			case <-r.Context().Done():
			case <-*f.release.Load():
				panic(http.ErrAbortHandler)
			}
		case failing:
			http.Error(w, "no server", http.StatusBadGateway)
		case lying:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>Please sign in.")
		default:
			if f.mode.Load() == cutting || f.change.Load() != nil {
				r.URL.Path = strings.Replace(r.URL.Path, newScript, f.script, 1)
				r.Header.Set("Accept-Encoding", "identity")
				r.Header.Del("If-None-Match")
			}
			proxy.ServeHTTP(w, r)
		}
	})))
	t.Cleanup(s.Close)
	t.Cleanup(func() { f.set(broken) })
	f.base = s.URL + frontPath
	return f
}

// set has the reception deal so with requests from now on; those that hang end.
func (f *reception) set(mode int32) {
	f.mode.Store(mode)
	release := make(chan struct{})
	if before := f.release.Swap(&release); before != nil {
		close(*before)
	}
}

func (f *reception) modify(resp *http.Response) error {
	if age := f.age.Load(); age > 0 {
		resp.Header.Set("Age", strconv.FormatInt(age, 10))
	}
	change := f.change.Load()
	if f.mode.Load() != cutting && change == nil {
		return nil
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if change != nil {
		content = (*change)(resp.Request.URL.Path, content)
	}
	if f.mode.Load() == cutting {
		content = content[:len(content)/2]
	}
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = io.NopCloser(strings.NewReader(string(content)))
	return nil
}
