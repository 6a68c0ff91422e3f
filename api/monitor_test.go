package api

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"limnomap/api/params"
)

const monitorURL = "/api/v1/monitor/lakes"

// externalIDs returns the external ids of an answer in order.
func externalIDs(t *testing.T, body map[string]any) string {
	t.Helper()
	var ids []string
	for _, r := range body["lakes"].([]any) {
		ids = append(ids, r.(map[string]any)["external_id"].(string))
	}
	return strings.Join(ids, " ")
}

func TestMonitorNeedsAKey(t *testing.T) {
	s := testServer(t)
	var words string
	for _, headers := range [][]string{
		nil, {"X-API-Key", ""}, {"X-API-Key", "unknown"}, {"X-API-Key", revokedKey}, {"X-API-Key", expiredKey},
	} {
		w := do(s, http.MethodGet, monitorURL, headers...)
		wantProblem(t, w, http.StatusUnauthorized)
		if w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%v: 401 without WWW-Authenticate", headers)
		}
		if words == "" {
			words = w.Body.String()
		}
		if w.Body.String() != words {
			t.Errorf("%v: %s, want the same words as for a missing key", headers, w.Body)
		}
	}
	wantProblem(t, do(s, http.MethodGet, monitorURL+"?api_key="+goodKey), http.StatusUnauthorized)
}

func TestMonitorWindows(t *testing.T) {
	s := testServer(t)
	for _, test := range []struct {
		query, want   string
		limit, offset float64
	}{
		{"", "S-8 T-7 U-6 V-5 W-4 X-3 Y-2 Z-1", 50, 0},
		{"?limit=3", "S-8 T-7 U-6", 3, 0},
		{"?limit=3&offset=6", "Y-2 Z-1", 3, 6},
		{"?offset=8", "", 50, 8},
		{"?offset=2147483647&limit=5000", "", 5000, 2147483647},
	} {
		w := get(t, s, http.StatusOK, monitorURL+test.query, "X-API-Key", goodKey)
		body := object(t, w)
		if got := externalIDs(t, body); got != test.want {
			t.Errorf("%s: lakes = %q, want %q", test.query, got, test.want)
		}
		if body["total"] != 8.0 || body["limit"] != test.limit || body["offset"] != test.offset || len(body) != 4 {
			t.Errorf("%s: envelope = %v", test.query, body)
		}
		if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "private") {
			t.Errorf("Cache-Control = %q, want private: it is for the key's holder", got)
		}
	}
	record := object(t, get(t, s, http.StatusOK, monitorURL+"?limit=1&offset=5", "X-API-Key", goodKey))["lakes"].([]any)[0]
	want := map[string]any{"external_id": "X-3", "name": "Müritz", "latitude": 53.4, "longitude": 12.7}
	if fmt.Sprint(record) != fmt.Sprint(want) {
		t.Errorf("record = %v, want %v", record, want)
	}
}

func TestMonitorRefusesWrongParameters(t *testing.T) {
	s := testServer(t)
	for query, parameter := range map[string]string{
		"limit=0": "limit", "limit=5001": "limit", "limit=x": "limit", "limit=1&limit=1": "limit",
		"offset=-1": "offset", "offset=2147483648": "offset", "offset=1.0": "offset", "offset=": "offset",
	} {
		wantProblem(t, do(s, http.MethodGet, monitorURL+"?"+query, "X-API-Key", goodKey), http.StatusBadRequest, parameter)
	}
}

// linksOf reads a Link field.
func linksOf(t *testing.T, field string) map[string]string {
	t.Helper()
	links := make(map[string]string)
	for _, m := range regexp.MustCompile(`<([^>]*)>; rel="([a-z]+)"`).FindAllStringSubmatch(field, -1) {
		links[m[2]] = m[1]
	}
	return links
}

func TestMonitorLinks(t *testing.T) {
	const at = monitorURL + "?limit=3&offset="
	s := testServer(t)
	for _, test := range []struct {
		offset, first, prev, next, last string
	}{
		{"0", "0", "", "3", "6"},
		{"3", "0", "0", "6", "6"},
		{"6", "0", "3", "", "6"},
		{"4", "0", "1", "7", "7"}, // the windows of a client that starts in between are aligned with its start
		{"1", "0", "0", "4", "7"}, // before the first step there is only the start
		{"8", "0", "6", "", "6"},  // past the end
		{"99", "0", "6", "", "6"},
	} {
		links := linksOf(t, get(t, s, http.StatusOK, at+test.offset, "X-API-Key", goodKey).Header().Get("Link"))
		for rel, offset := range map[string]string{"first": test.first, "prev": test.prev, "next": test.next, "last": test.last} {
			want := ""
			if offset != "" {
				want = at + offset
			}
			if links[rel] != want {
				t.Errorf("%s of offset %s = %q, want %q", rel, test.offset, links[rel], want)
			}
		}
	}
	opts := testOptions(t)
	opts.BasePath = "/lakes"
	links := linksOf(t, get(t, newServer(t, opts, testSource(t)), http.StatusOK, "/lakes"+monitorURL, "X-API-Key", goodKey).Header().Get("Link"))
	if want := "/lakes" + monitorURL + "?limit=50&offset=0"; links["first"] != want {
		t.Errorf("first under a base path = %q, want %q", links["first"], want)
	}
}

func TestFollowingNextVisitsEachLakeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := window{
			total:  rapid.IntRange(0, 60).Draw(t, "total"),
			limit:  rapid.IntRange(1, 20).Draw(t, "limit"),
			offset: rapid.IntRange(0, 80).Draw(t, "offset"),
		}
		link := func(rel string) (int, bool) {
			m := regexp.MustCompile(`offset=(\d+)>; rel="` + rel + `"`).FindStringSubmatch(p.links("/p"))
			if m == nil {
				return 0, false
			}
			n, err := strconv.Atoi(m[1])
			return n, err == nil
		}
		last, ok := link("last")
		if !ok {
			t.Fatal("no last")
		}
		expected, _ := p.bounds()
		for {
			start, end := p.bounds()
			if start != expected {
				t.Fatalf("window %+v starts at %d, want %d", p, start, expected)
			}
			expected = end
			next, ok := link("next")
			if !ok {
				break
			}
			if now, _ := link("last"); now != last {
				t.Fatalf("last moves from %d to %d", last, now)
			}
			p.offset = next
		}
		if expected != p.total {
			t.Fatalf("the last window ends at %d of %d", expected, p.total)
		}
		if start, _ := p.bounds(); p.offset < p.total && start != last {
			t.Fatalf("next ends at %d, last says %d", start, last)
		}
	})
}

func FuzzWindow(f *testing.F) {
	for _, seed := range []string{"limit=1&offset=0", "limit=5000&offset=2147483647", "limit=-1", "offset=%31", "limit=1&limit=2", "&&=&", "%zz"} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, query string, total int) {
		if total < 0 {
			return
		}
		parsed := params.Of(&http.Request{URL: &url.URL{RawQuery: query}})
		p := windowOf(&parsed, total)
		if parsed.Err() != nil {
			return
		}
		if p.limit < 1 || p.limit > maxLimit || p.offset < 0 {
			t.Fatalf("window of %q = %+v", query, p)
		}
		if start, end := p.bounds(); start > end || end > total || end-start > p.limit {
			t.Fatalf("bounds of %+v = %d, %d", p, start, end)
		}
		for rel, link := range linksOf(t, p.links("/p")) {
			u, err := url.Parse(link)
			if err != nil {
				t.Fatalf("%s of %+v: %v", rel, p, err)
			}
			again := params.Of(&http.Request{URL: u})
			if windowOf(&again, total); again.Err() != nil {
				t.Fatalf("%s of %+v = %s: %v", rel, p, link, again.Err())
			}
		}
	})
}
