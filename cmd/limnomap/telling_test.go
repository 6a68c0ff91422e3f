package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// tellingFolder has the programs of others that read what limnomap tells.
const tellingFolder = "testdata/telling"

// A storedHook is a webhook as hooks list --json prints it.
type storedHook struct {
	ID, State, Error string
	Waiting          int64
	Failures         int
}

// tellingDatabase makes a database with two lakes and a week of values.
func tellingDatabase(t *testing.T) (db string, observe func(date string, a, b string)) {
	t.Helper()
	dir := t.TempDir()
	db = filepath.Join(dir, "lakes.db")
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon,region\na,Klarer See,48,11.5,Bayern\nb,Größer & <See>,53,12.5,Brandenburg\n")
	limnomaptest.Run(t, "import", "lakes", lakes, "--db", db)
	observe = func(date, a, b string) {
		t.Helper()
		file := limnomaptest.WriteFile(t, dir, "obs.csv", fmt.Sprintf("lake_id,date,chl,data_type\na,%s,%s,satellite\nb,%[1]s,%[3]s,satellite\n", date, a, b))
		limnomaptest.Run(t, "import", "observations", file, "--db", db)
	}
	observe("2026-07-06", "5", "20")
	return db, observe
}

// awaitEvents waits until the log of a server has that many events.
func awaitEvents(t *testing.T, s *limnomaptest.Server, n int64) {
	t.Helper()
	limnomaptest.Within(t, 2*time.Minute, fmt.Sprintf("the log has %d events", n), func() bool {
		var page struct{ Newest int64 }
		limnomaptest.GetJSON(t, s.Base+"/api/v1/events", &page)
		return page.Newest == n
	})
}

// awaitLog waits until a server has compared its first snapshot, which gives no events.
func awaitLog(t *testing.T, s *limnomaptest.Server) {
	t.Helper()
	limnomaptest.Within(t, 2*time.Minute, "the log begins", func() bool { return strings.Contains(s.Log.String(), "log of events written") })
}

// What changes is told to a webhook, whose signature a library of others verifies.
func TestWebhook(t *testing.T) {
	limnomaptest.Need(t, "node")
	limnomaptest.NeedFolder(t, tellingFolder+"/node_modules")
	db, observe := tellingDatabase(t)
	type request struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	var mu sync.Mutex
	var got []request
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		q := request{Body: string(body), Headers: map[string]string{}}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			q.Headers[name] = r.Header.Get(name)
		}
		got = append(got, q)
	}))
	defer receiver.Close()
	allow := []string{"--hooks-allow-http", "--hooks-allow", "127.0.0.0/8"}
	create := append([]string{"hooks", "create", "--db", db, "--url", receiver.URL, "--region", "Bayern", "--min-level", "2"}, allow...)
	id, secret, ok := strings.Cut(strings.TrimSpace(limnomaptest.Run(t, create...)), " ")
	if !ok || !strings.HasPrefix(secret, "whsec_") {
		t.Fatalf("hooks create printed %q %q", id, secret)
	}
	list := func() (hooks []storedHook) {
		t.Helper()
		text := limnomaptest.Run(t, "hooks", "list", "--json", "--db", db)
		if strings.Contains(text, secret) {
			t.Errorf("the list has the secret: %s", text)
		}
		mustDo(t, json.Unmarshal([]byte(text), &hooks))
		return hooks
	}
	limnomaptest.Run(t, append([]string{"hooks", "test", id, "--db", db}, allow...)...)

	s := limnomaptest.Start(t, append([]string{"--db", db, "--as-of", "data"}, allow...)...)
	awaitLog(t, s)
	observe("2026-07-13", "60", "60")
	awaitEvents(t, s, 2)
	limnomaptest.Within(t, 2*time.Minute, "the webhook has its event", func() bool { return list()[0].Waiting == 0 })
	second := strings.Fields(limnomaptest.Run(t, "hooks", "rotate", id, "--db", db))[1]
	observe("2026-07-20", "5", "5")
	awaitEvents(t, s, 4)
	limnomaptest.Within(t, 2*time.Minute, "the webhook has its event", func() bool { return list()[0].Waiting == 0 })

	mu.Lock()
	defer mu.Unlock()
	if len(got) != 3 {
		t.Fatalf("%d requests: %v", len(got), got)
	}
	first, last := got[1], got[2]
	got[0].Secret, got[1].Secret = secret, secret
	got[2].Secret = second // and once more with the former one, which is still valid
	last.Secret = secret
	got = append(got, last)
	first.Secret, first.Body = secret, strings.Replace(first.Body, "60", "5", 1)
	got = append(got, first)
	input, err := json.Marshal(got)
	mustDo(t, err)
	var verified []struct{ Type, Error string }
	mustDo(t, json.Unmarshal(readerOutput(t, string(input), "node", tellingFolder+"/verify.mjs"), &verified))
	var types []string
	for _, v := range verified {
		types = append(types, v.Type+v.Error)
	}
	if want := []string{"test", "class_up", "class_down", "class_down", "No matching signature found"}; !slices.Equal(types, want) {
		t.Errorf("verified as %q, want %q", types, want)
	}
	var event struct {
		Data map[string]any
	}
	if err := json.Unmarshal([]byte(got[1].Body), &event); err != nil || event.Data["lake_id"] != "a" || event.Data["lake_name"] != "Klarer See" || event.Data["id"] != got[1].Headers["webhook-id"] {
		t.Errorf("the body is %s, %v", got[1].Body, err)
	}

	// Without the flag of the server, nothing on this machine is reached; that is reported in /readyz.
	s.Stop(t)
	s = limnomaptest.Start(t, "--db", db, "--as-of", "data", "--hooks-allow-http")
	observe("2026-07-27", "60", "60")
	awaitEvents(t, s, 6)
	limnomaptest.Within(t, 2*time.Minute, "the webhook fails", func() bool { return list()[0].Failures > 0 })
	if h := list()[0]; !strings.Contains(h.Error, "address is not allowed") || h.State != "active" {
		t.Errorf("the webhook is %+v", h)
	}
	var ready struct {
		Webhooks struct{ Healthy, Failing int }
	}
	limnomaptest.Within(t, 2*time.Minute, "/readyz shows it", func() bool {
		limnomaptest.GetJSON(t, s.Base+"/readyz", &ready)
		return ready.Webhooks.Failing == 1
	})
	if n := s.Metric(t, `limnomap_webhooks{state="failing"}`); n != 1 {
		t.Errorf("the metric of webhooks that fail is %v, want 1", n)
	}
	limnomaptest.Run(t, "hooks", "set", id, "--state", "paused", "--db", db)
	if h := list()[0]; h.State != "paused" {
		t.Errorf("paused, the webhook is %+v", h)
	}
	if text := limnomaptest.Run(t, "hooks", "deliveries", id, "--db", db); strings.Count(text, "\n") < 4 || !strings.Contains(text, "address is not allowed") {
		t.Errorf("the deliveries are %s", text)
	}
	limnomaptest.Run(t, "hooks", "set", id, "--state", "active", "--skip-missed", "--db", db)
	if h := list()[0]; h.State != "active" || h.Waiting != 0 {
		t.Errorf("resumed, the webhook is %+v", h)
	}
	limnomaptest.Run(t, "hooks", "delete", id, "--db", db)
	if hooks := list(); len(hooks) != 0 {
		t.Errorf("deleted, there are %+v", hooks)
	}
}
