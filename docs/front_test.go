//go:build unix

package docs

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A front is a proxy that records the answers of the server: a browser does not tell a script whether an image of another
// origin was loaded, and curl treats an error status like any other answer.
type front struct {
	address string

	mu       sync.Mutex
	answered []answer
}

// An answer is the status of an answer, with the path of the request.
type answer struct {
	status int
	path   string // with the query
}

func (a answer) String() string { return fmt.Sprintf("%d to %s", a.status, a.path) }

// isTile reports whether the request was for an image or vector tile.
func (a answer) isTile() bool {
	path, _, _ := strings.Cut(a.path, "?")
	return strings.HasPrefix(path, "/api/v1/tiles/") && !strings.HasSuffix(path, ".json")
}

// refused reports whether the answer was an error.
func (a answer) refused() bool { return a.status >= http.StatusBadRequest }

// startFront starts a front for the server at base. It runs until the test ends.
func startFront(t *testing.T, base string) *front {
	t.Helper()
	f := new(front)
	f.address = limnomaptest.Front(t, base, nil, func(r *http.Response) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answered = append(f.answered, answer{r.StatusCode, r.Request.URL.RequestURI()})
	})
	return f
}

// answers returns the matching answers since the last call of forget.
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
