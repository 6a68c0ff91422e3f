//go:build unix

package docs

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A front passes requests on to the server and notes what it answered: a browser does not tell a script whether an image of
// another origin came, and curl takes a refusal for an answer like any other.
type front struct {
	address string

	mu       sync.Mutex
	answered []answer
}

// An answer is what the server said to a request for a path.
type answer struct {
	status int
	path   string // with the query
}

func (a answer) String() string { return fmt.Sprintf("%d to %s", a.status, a.path) }

// isTile reports whether the request was for a tile of either sort.
func (a answer) isTile() bool {
	path, _, _ := strings.Cut(a.path, "?")
	return strings.HasPrefix(path, "/api/v1/tiles/") && !strings.HasSuffix(path, ".json")
}

// refused reports whether the answer was an error.
func (a answer) refused() bool { return a.status >= http.StatusBadRequest }

// startFront starts a front of the server at base, until the test ends.
func startFront(t *testing.T, base string) *front {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	f := new(front)
	proxy := httputil.NewSingleHostReverseProxy(target)
	// What a client asks for is what it gets, compressed or not.
	transport := &http.Transport{DisableCompression: true}
	proxy.Transport = transport
	proxy.ModifyResponse = func(r *http.Response) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answered = append(f.answered, answer{r.StatusCode, r.Request.URL.RequestURI()})
		return nil
	}
	proxy.ErrorLog = log.New(io.Discard, "", 0) // a browser leaves a page before all has come
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	f.address = server.URL
	return f
}

// answers returns those of the answers since the last forget that are what is asked for.
func (f *front) answers(what func(answer) bool) []answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []answer
	for _, a := range f.answered {
		if what(a) {
			found = append(found, a)
		}
	}
	return found
}

func (f *front) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = nil
}
