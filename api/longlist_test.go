package api

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A slowWriter is a client that reads its answer only when it is allowed to.
type slowWriter struct {
	*httptest.ResponseRecorder
	began  chan<- struct{}
	resume <-chan struct{}
}

func (w *slowWriter) Write(b []byte) (int, error) {
	select {
	case w.began <- struct{}{}:
	default: // all have begun
	}
	<-w.resume
	return w.ResponseRecorder.Write(b)
}

func TestFewLongListsAreMadeAtOnce(t *testing.T) {
	const (
		target = statusURL + ".csv?risk=low"
		lists  = 4 // as many as an answer.Sender makes at once
	)
	s := sparingServer(t)
	began, resume, done := make(chan struct{}, lists), make(chan struct{}), make(chan *httptest.ResponseRecorder)
	for range lists {
		go func() { // until resume is closed, below
			w := &slowWriter{httptest.NewRecorder(), began, resume}
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
			done <- w.ResponseRecorder
		}()
		<-began
	}

	w := do(s, http.MethodGet, target)
	wantProblem(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	wantDescribed(t, descriptionRouter(t), target, w)
	get(t, s, http.StatusOK, statusURL) // is prepared, and does not wait
	get(t, s, http.StatusOK, nearURL+"?lat=48&lon=11.5")

	close(resume)
	want := get(t, testServer(t), http.StatusOK, target).Body.String()
	for range lists {
		if w := <-done; w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("a list that was being sent = %d %s, want %s", w.Code, w.Body, want)
		}
	}
	if got := get(t, s, http.StatusOK, target).Body.String(); got != want {
		t.Errorf("a list afterwards = %s, want %s", got, want)
	}
}
