//go:build long

package deploy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The reader of feeds tells each new entry once, and asks again only for what has changed.
func TestFeedMail(t *testing.T) {
	limnomaptest.Need(t, "python3")
	mails := newMailServer(t)
	var mu sync.Mutex
	entries, asked := []string{"one"}, []int{}
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		etag := fmt.Sprintf("%q", strings.Join(entries, "-"))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			asked = append(asked, 304)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		asked = append(asked, 200)
		fmt.Fprint(w, `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>`)
		for i := len(entries) - 1; i >= 0; i-- {
			fmt.Fprintf(w, "<entry><id>urn:%s</id><title>Größer &lt;See&gt;: %[1]s</title><summary>About %[1]s.</summary><updated>2026-07-06T12:00:00Z</updated></entry>", entries[i])
		}
		fmt.Fprint(w, "</feed>")
	}))
	defer feed.Close()
	state := filepath.Join(t.TempDir(), "seen.json")
	run := func(more ...string) string {
		t.Helper()
		out, complaint, err := runScript(t, append([]string{"python3", "examples/feed_mail.py", feed.URL, "--state", state}, more...)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, complaint)
		}
		return out
	}
	add := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		entries = append(entries, name)
	}
	if out := run(); out != "" {
		t.Errorf("the first run prints %q", out)
	}
	if out := run(); out != "" {
		t.Errorf("nothing new is printed as %q", out)
	}
	add("two")
	add("three")
	if out := run(); out != "2026-07-06T12:00:00Z Größer <See>: two\n2026-07-06T12:00:00Z Größer <See>: three\n" {
		t.Errorf("two new entries are printed as %q", out)
	}
	add("four")
	run("--smtp", mails.Addr().String(), "--to", "duty@example.org")
	if all := mails.all(); len(all) != 1 || !strings.Contains(all[0], "About four.") {
		t.Errorf("mails %q", all)
	}
	// A mail that could not be sent is not forgotten.
	add("five")
	mails.refuse(true)
	if _, _, err := runScript(t, "python3", "examples/feed_mail.py", feed.URL, "--state", state, "--smtp", mails.Addr().String(), "--to", "d@example.org"); err == nil {
		t.Error("a mail that is refused is no error")
	}
	if out := run(); !strings.Contains(out, "five") || strings.Contains(out, "four") {
		t.Errorf("after the refusal it prints %q", out)
	}
	if got := fmt.Sprint(asked); got != "[200 304 200 200 200 200]" {
		t.Errorf("answers %s", got)
	}
	var stored struct{ Seen []string }
	text, err := os.ReadFile(state)
	if err != nil || json.Unmarshal(text, &stored) != nil || len(stored.Seen) != 5 {
		t.Errorf("the state is %s, %v", text, err)
	}
}
