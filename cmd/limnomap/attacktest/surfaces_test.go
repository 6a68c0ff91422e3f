//go:build linux

package attacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

const (
	searchPath = "/api/v1/bathing-lakes/search"
	eventsPath = "/api/v1/events"
	streamPath = eventsPath + "/stream"
)

// oddTexts are ids and words that no lake has. They are escaped already.
var oddTexts = []string{
	"'%20OR%20'1'='1", "1;DROP%20TABLE%20lakes", "%22%20OR%201=1--", "${jndi:ldap://x/a}", "{{7*7}}", "%3Cscript%3Ealert(1)%3C/script%3E", marker + "alert(1)</script>", "%0d%0aX-Injected:%20b", "%00",
	"%E2%80%AE", "%F0%9F%92%A9", "%C0%AF", "%FF%FE", "*", "%25", "_%25_", strings.Repeat("a", 4000), strings.Repeat("%F0%9F%92%A9", 500), "(((((((((((((((((((((((a%2B)%2B)%2B", "-1", "0", "null", "constructor",
	"..%2f..%2fetc%2fpasswd", "%2e%2e", "a%5cb", "%E2%80%A8", "%D8%A8%E2%80%8F",
}

// languages are what clients of pages ask for: those of the page, and others.
var languages = []string{"en", "de", "fr", "pl", "cs", "uk", "ar", "x-" + strings.Repeat("a-", 50), "*;q=0.001", "zz"}

// surfaceAttacks returns the attacks on what is made of a single lake, the log of events, and subscriptions.
func surfaceAttacks() []attack {
	const (
		pages  = "pages"
		events = "events"
	)
	ofLake := func(a *assault, i int, suffix string) string {
		return fmt.Sprintf("/lakes/%s%s?x=%d", a.lakes[i%len(a.lakes)], suffix, i)
	}
	suffixes := []string{"", "/sign", "/preview.png", "/badge.svg"}
	few := sameAnswers(func(a *assault) []string {
		lake := a.lakes[7]
		paths := []string{searchPath + "?q=" + url.QueryEscape("lake 12"), fmt.Sprintf("/api/v1/bathing-lakes/near?lat=%.3f&lon=%.3f", a.at[7].Lat(), a.at[7].Lon()), "/sitemap.xml",
			"/oembed?url=" + url.QueryEscape(a.Base+"/lakes/"+lake)}
		for _, suffix := range suffixes {
			paths = append(paths, "/lakes/"+lake+suffix+"?lang=de")
		}
		return paths
	})
	odd := func(format string) func(*assault, int) string {
		return func(_ *assault, i int) string {
			return strings.ReplaceAll(fmt.Sprintf(format, i), "ODD", oddTexts[i%len(oddTexts)])
		}
	}
	attackers := func(i int) int { return i % 50 }
	list := []attack{
		{pages, "lake pages and pictures that are not read", 0, beside(few, slowReaders(size(300, 40), false, func(a *assault, i int) []string {
			return []string{ofLake(a, i, suffixes[i%len(suffixes)]), ofLake(a, i+1, "")}
		}))},
		{pages, "pictures of all lakes", 0, beside(few, requests(size(4000, 150), 50, func(a *assault, i int) string { return ofLake(a, i, "/preview.png") }, attackers))},
		{pages, "pages of all lakes in many languages", 0, beside(few, func(a *assault) {
			each(len(languages), len(languages), func(k int) {
				requests(size(400, 15), 5, func(a *assault, i int) string { return ofLake(a, i*len(languages)+k, suffixes[i%2]) }, func(i int) int { return k*5 + i%5 },
					"Accept-Language", languages[k], "Accept-Encoding", "gzip")(a)
			})
		})},
		{pages, "lakes that do not exist", 0, beside(few, requests(size(4000, 150), 50, func(_ *assault, i int) string {
			return "/lakes/" + odd("ODD%d")(nil, i) + suffixes[i/len(oddTexts)%len(suffixes)]
		}, attackers))},
		{pages, "oEmbed of odd addresses", 0, beside(few, requests(size(4000, 150), 50, func(a *assault, i int) string {
			address := a.Base + "/lakes/" + a.lakes[i%len(a.lakes)] + []string{"", "?lang=" + languages[i%len(languages)], "/../..", "#" + strings.Repeat("a", 3000), "%0d%0aX-Injected: b", "@evil.example"}[i%6]
			return "/oembed?format=" + []string{"json", "xml"}[i%2] + "&url=" + url.QueryEscape(address) + fmt.Sprintf("&maxwidth=%d", 1+i%2000)
		}, attackers))},
		{pages, "searches", 0, beside(few, requests(size(4000, 150), 50, odd(searchPath+"?limit=50&q=lake%%20%dODD"), attackers))},
		{pages, "searches, one address", 0, beside(few, requests(size(1000, 400), 50, odd(searchPath+"?limit=50&q=ODD&x=%d"), oneAddress))},
		{pages, "site maps that are not read", 0, beside(few, slowReaders(size(200, 20), false, one("/sitemap/1.xml?x=%d")))},
		{pages, "ranges and conditions of pages", 0, beside(few, func(a *assault) {
			for _, header := range [][]string{{"Range", "bytes=" + strings.Repeat("0-0,", 500) + "1-1"}, {"Range", "bytes=-1"}, {"If-None-Match", strings.Repeat(`"a",`, 2000) + "*"}, {"If-Range", `"x"`}} {
				requests(size(500, 30), 20, func(a *assault, i int) string { return ofLake(a, i%10, suffixes[i%4]) }, func(i int) int { return i % 20 }, header...)(a)
			}
		})},

		{events, "streams that are not read", 0, beside(wholeLog, slowReaders(size(1500, 60), false, one(streamPath+"?since=0&x=%d")))},
		{events, "streams that are not read, one address", 0, beside(wholeLog, slowReaders(size(1500, 60), true, one(streamPath+"?since=0&x=%d")))},
		{events, "streams, a byte now and then", 0, beside(wholeLog, sippers(size(300, 30), streamPath+"?since=0&x=%d"))},
		{events, "streams opened and reset", 0, beside(wholeLog, churn(size(5000, 200), func(*assault, int) string { return get(streamPath + "?since=0") }))},
		{events, "odd Last-Event-ID", 0, beside(wholeLog, oddReconnects(size(2000, 100)))},
		{events, "filters of everything and nothing", 0, beside(wholeLog, requests(size(4000, 150), 50, func(a *assault, i int) string {
			path := []string{eventsPath, eventsPath + ".atom"}[i%2] + "?limit=1000&x=" + fmt.Sprint(i)
			return path + []string{"", "&since=0", "&since=999999999999", "&bbox=-180,-90,180,90", "&bbox=0,0,0,0", "&kind=forecast_exceeds", "&kind=class_up,class_down", "&min_level=3",
				"&region=" + oddTexts[i%len(oddTexts)], "&lake=" + a.lakes[i%len(a.lakes)], "&lake=" + oddTexts[i%len(oddTexts)]}[i/2%11]
		}, attackers))},
		{events, "lists of events that are not read", 0, beside(wholeLog, slowReaders(size(300, 30), false, one(eventsPath+"?since=0&limit=1000&x=%d")))},
		{events, "changes since odd snapshots", 0, beside(wholeLog, requests(size(2000, 100), 50, odd("/api/v1/changes?x=%d&since=ODD"), attackers))},
		{events, "statements", 0, beside(wholeLog, requests(size(4000, 150), 50, func(_ *assault, i int) string {
			return []string{"/api/v1/advisories.cap?x=%d", "/api/v1/advisories/watch-0.cap?x=%d", "/api/v1/bathing-lakes/advisories?active_at=any&x=%d", "/api/v1/bathing-lakes/advisories?active_at=9999-12-31&x=%d",
				"/api/v1/advisories/" + oddTexts[i%len(oddTexts)] + ".cap", "/api/v1/swimguide.json?x=%d"}[i%6]
		}, attackers))},
	}
	return append(append(list, subscriptionAttacks()...), webhookAttacks()...)
}

// wholeLog is for an honest client that reads the log of events page by page, again and again: the numbers have no gaps.
func wholeLog(a *assault) (honestAsk, error) {
	since := int64(0)
	return func(client *http.Client, _ int) error {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s%s?limit=1000&since=%d", a.Base, eventsPath, since), nil)
		if err != nil {
			return err
		}
		body, err := honestly(client, req, http.StatusOK)
		if err != nil {
			return err
		}
		var page struct {
			Events       []struct{ Seq int64 }
			Next, Newest int64
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		for _, e := range page.Events {
			if since++; e.Seq != since {
				return fmt.Errorf("event %d follows event %d", e.Seq, since-1)
			}
		}
		if page.Next != since || len(page.Events) == 0 && page.Newest > since {
			return fmt.Errorf("%d events up to %d, next %d, newest %d", len(page.Events), since, page.Next, page.Newest)
		}
		if since == page.Newest {
			since = 0
		}
		return nil
	}, nil
}

// oddReconnects opens n streams that go on after an event that there is or is not, and closes each after the first line of the answer.
func oddReconnects(n int) func(*assault) {
	ids := append([]string{"0", "1", "-1", "007", "1e3", "0x1", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1,2", "1\x00", "\xff", "٣", " 1", "1 ", "a"}, oddTexts...)
	return func(a *assault) {
		var refusedOften sync.Once
		each(n, 32, func(i int) {
			conn := a.connect(a.from(i%250), false)
			if conn == nil {
				return
			}
			defer conn.Close()
			_, _ = fmt.Fprint(conn, get(streamPath+"?since=0", "Last-Event-ID: "+ids[i%len(ids)])) // fails if the server has closed it
			status := statusLine(conn, patience)
			if a.count(status); status == "500" {
				refusedOften.Do(func() { a.fail("Last-Event-ID %.40q: status 500", ids[i%len(ids)]) })
			}
		})
	}
}
