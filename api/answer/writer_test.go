package answer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// readerFrom is a writer that notices being read into, as net/http's does for sendfile.
type readerFrom struct {
	*httptest.ResponseRecorder
	used bool
}

func (w *readerFrom) ReadFrom(src io.Reader) (int64, error) {
	w.used = true
	return io.Copy(w.ResponseRecorder, src)
}

func TestWriterKeepsAbilities(t *testing.T) {
	under := &readerFrom{ResponseRecorder: httptest.NewRecorder()}
	w := Track(under)
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// A LimitedReader has no WriteTo, just as what http.ServeContent copies from.
	if _, err := io.Copy(w, io.LimitReader(f, 5)); err != nil {
		t.Fatal(err)
	}
	if !under.used || w.Bytes != 5 || w.Status != 200 {
		t.Errorf("ReadFrom of the wrapped writer used: %t, bytes %d, status %d, want true, 5, 200", under.used, w.Bytes, w.Status)
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
