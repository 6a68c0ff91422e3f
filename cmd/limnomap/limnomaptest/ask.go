package limnomaptest

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Within polls cond until it is true, and fails the test if that takes longer than d.
func Within(t testing.TB, d time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("not within %v: %s", d, what)
}

// Get sends a GET request and returns the answer with its whole body. Header lists names and values of header fields in turn.
func Get(t testing.TB, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// GetJSON is Get for a JSON document, which it decodes into the value that into points to. The status must be 200.
func GetJSON(t testing.TB, url string, into any, header ...string) *http.Response {
	t.Helper()
	resp, body := Get(t, url, header...)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s\n%s", url, resp.Status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return resp
}

// A Status holds the fields of the status document that tests read.
type Status struct {
	TotalLakes    int `json:"total_lakes"`
	LakesWithData int `json:"lakes_with_data"`
	Lakes         []struct {
		ID, Name, Risk, Color string
		Lat, Lon              float64
		Chl                   *float64
		MeasuredAt            time.Time `json:"measured_at"` // zero without a value
	}
}

// WriteFile writes a file into dir and returns the path.
func WriteFile(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
