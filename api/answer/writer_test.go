package answer

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWriterKeepsAbilities(t *testing.T) {
	under := httptest.NewRecorder()
	w := Track(under)
	if _, err := w.Write([]byte("12345")); err != nil {
		t.Fatal(err)
	}
	if w.Bytes != 5 || w.Status != 200 {
		t.Errorf("bytes %d, status %d, want 5, 200", w.Bytes, w.Status)
	}
	if err := http.NewResponseController(w).Flush(); err != nil || !under.Flushed {
		t.Errorf("Flush by the controller: error %v, flushed %t", err, under.Flushed)
	}
	if w.Unwrap() != under {
		t.Error("Unwrap does not return the wrapped writer")
	}
	if Track(w) != w {
		t.Error("Track wraps a Writer again")
	}
}

func TestFlushBeforeTheFirstWriteCompletesTheHeader(t *testing.T) {
	under := httptest.NewRecorder()
	w := Track(under)
	w.AddToDocuments(&DocumentFields{PlainDocument: {{Name: "Content-Security-Policy", Value: []string{"default-src 'self'"}}}})
	if err := http.NewResponseController(w).Flush(); err != nil {
		t.Fatal(err)
	}
	if csp := under.Result().Header.Get("Content-Security-Policy"); csp == "" || w.Status != http.StatusOK || !under.Flushed {
		t.Errorf("policy %q, status %d, flushed %t, want a policy, 200, true", csp, w.Status, under.Flushed)
	}
}
