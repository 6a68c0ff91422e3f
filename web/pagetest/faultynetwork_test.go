package pagetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// What a faulty network does with requests.
const (
	online     = iota
	broken     // connections end without an answer
	hanging    // no answer, as with a very bad connection
	failing    // 502, as from a proxy without a server
	foreign    // 200 with another page, as from a network that requires a sign-in
	truncating // the first half of the right answer, without a Content-Length
)

// A faultyNetwork is a proxy between browser and server that can fail. Its path is not known to the server.
type faultyNetwork struct {
	base    string
	mode    atomic.Int32
	change  atomic.Pointer[func(path string, content []byte) []byte] // changes content into that of another version of the page; may be nil
	script  string                                                   // the name of the page's script on the server
	later   []string                                                 // new and old names of the scripts that load later, in turn
	words   string                                                   // the hash in the names of the words on the server
	age     atomic.Int64                                             // the Age header of answers, in seconds
	release atomic.Pointer[chan struct{}]                            // closed to end requests that hang
}

const (
	frontPath = "/our/lakes"
	newScript = "main-99999999.js"
	newWords  = "ABABABAB"
)

func startFaultyNetwork(t *testing.T, server string) *faultyNetwork {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	f := new(faultyNetwork)
	f.set(online)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = f.modify
	s := httptest.NewServer(http.StripPrefix(frontPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mode := f.mode.Load()
		if mode == foreign && r.URL.Path == "/" {
			mode = online // the sign-in page must be visible
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
		case foreign:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>Please sign in.")
		default:
			if f.mode.Load() == truncating || f.change.Load() != nil {
				r.URL.Path = strings.NewReplacer(slices.Concat(f.later, []string{newScript, f.script, newWords, f.words})...).Replace(r.URL.Path)
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

// set changes the mode for later requests. Requests that hang end.
func (f *faultyNetwork) set(mode int32) {
	f.mode.Store(mode)
	release := make(chan struct{})
	if before := f.release.Swap(&release); before != nil {
		close(*before)
	}
}

func (f *faultyNetwork) modify(resp *http.Response) error {
	if age := f.age.Load(); age > 0 {
		resp.Header.Set("Age", strconv.FormatInt(age, 10))
	}
	change := f.change.Load()
	if f.mode.Load() != truncating && change == nil {
		return nil
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if change != nil {
		content = (*change)(resp.Request.URL.Path, content)
	}
	if f.mode.Load() == truncating {
		content = content[:len(content)/2]
	}
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = io.NopCloser(strings.NewReader(string(content)))
	return nil
}
