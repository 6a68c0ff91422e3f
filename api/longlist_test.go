package api

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A slowWriter is a client that reads nothing of its answer before it is let go on.
type slowWriter struct {
	*httptest.ResponseRecorder
	began chan<- struct{}
	goOn  <-chan struct{}
}

func (w *slowWriter) Write(b []byte) (int, error) {
	select {
	case w.began <- struct{}{}:
	default: // all have begun
	}
	<-w.goOn
	return w.ResponseRecorder.Write(b)
}

func TestFewLongListsAreMadeAtOnce(t *testing.T) {
	const target = statusURL + ".csv?risk=low"
	s := sparingServer(t)
	began, goOn, done := make(chan struct{}, maxLongLists), make(chan struct{}), make(chan *httptest.ResponseRecorder)
	for range maxLongLists {
		go func() { // until goOn is closed, below
			w := &slowWriter{httptest.NewRecorder(), began, goOn}
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
			done <- w.ResponseRecorder
		}()
		<-began
	}

	s.longLists.patience = time.Millisecond
	w := do(s, http.MethodGet, target)
	wantProblem(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	wantDescribed(t, descriptionRouter(t), target, w)
	get(t, s, http.StatusOK, statusURL) // is prepared, and waits for nobody
	get(t, s, http.StatusOK, nearURL+"?lat=48&lon=11.5")

	close(goOn)
	want := get(t, testServer(t), http.StatusOK, target).Body.String()
	for range maxLongLists {
		if w := <-done; w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("a list that was under way = %d %s, want %s", w.Code, w.Body, want)
		}
	}
	s.longLists.patience = longPatience
	if got := get(t, s, http.StatusOK, target).Body.String(); got != want {
		t.Errorf("a list afterwards = %s, want %s", got, want)
	}
}
