package api

import (
	"encoding/xml"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// printedServer returns a server at https://lakes.example.org/map whose lakes have official statements, and one an old value.
func printedServer(t *testing.T) *Server {
	t.Helper()
	f := advisorySource(t)
	f.advisories[0].ValidUntil = time.Date(2126, time.November, 30, 0, 0, 0, 0, time.UTC)
	opts := testOptions(t)
	opts.APIRate = 1000
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org", Path: "/map"}
	opts.Contact = Contact{Name: "Office <of> Health", URL: "mailto:lakes@example.org", Logo: Logo{[]byte("<svg/>"), true}}
	return newServer(t, opts, f)
}

// Neither a badge nor a sign of any sort of lake looks more recent or cleaner than it is.
func TestVerdicts(t *testing.T) {
	s := printedServer(t)
	for _, tt := range []struct{ lake, lang, badge, look, sheet string }{
		{"de_by_clean", "en", "Klarer See: Closed: do not swim · until 29 November 2126", "closed true", "Closed until 29 November 2126 Do not bathe here. Blue-green algae · Gesundheitsamt As of 20 November 2026"},
		{"de_by_clean", "de", "Klarer See: Gesperrt: nicht baden · bis 29. November 2126", "closed true", "Gesperrt bis 29. November 2126 Hier nicht baden. Blaualgen · Gesundheitsamt Stand: 20. November 2026"},
		{"de_by_medium", "en", `Grüner "See" <&>: Official warning: do not swim · Medium risk · 9 November 2026`, "medium true false", "Official warning Medium risk The authority advises against bathing here. Many algae were measured. Better not for small children and sensitive people. Do not swallow the water. Bacteria · Gesundheitsamt"},
		{"de_mv_high", "en", "Müritz: Do not swim · High risk · 16 November 2026", "high false false", "High risk Very many algae were measured. Do not bathe. Keep children and dogs away. Measured on 16 November 2026 This sheet shows the state of that day."},
		{"de_mv_never", "en", "Unbekannt: No current value: look before you swim · never measured", "none false false", "No current value never measured That does not mean that the lake is clean. As of 20 November 2026"},
		{"de_mv_scum", "en", "Schlierensee: Do not swim · High risk (reported) · 16 November 2026", "high true false", "High risk (reported)"},
		{"de_mv_stale", "en", "Wolkensee: No current value: look before you swim · old value from 3 August 2026", "none false true", "No current value old value from 3 August 2026 The last value, at that time: High risk. That does not mean that the lake is clean. Last measured on 3 August 2026"},
		{"de_mv_stale", "de", "Wolkensee: Kein aktueller Wert: vor dem Baden hinsehen · alter Wert vom 3. August 2026", "none false true", "Kein aktueller Wert alter Wert vom 3. August 2026"},
		{"fj_east", "en", "Ostsee auf Taveuni: Swimming looks fine · Low risk · 16 November 2026", "low false false", "Low risk Few algae were measured."},
	} {
		badge := get(t, s, http.StatusOK, "/lakes/"+tt.lake+"/badge.svg?lang="+tt.lang)
		var svg struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
			Title   string   `xml:"title"`
		}
		if err := xml.Unmarshal(badge.Body.Bytes(), &svg); err != nil || svg.Title != tt.badge {
			t.Errorf("the badge of %s is %q, %v, want %q", tt.lake, svg.Title, err, tt.badge)
		}
		if want := "<!-- limno " + tt.look; !strings.Contains(badge.Body.String(), want) {
			t.Errorf("the badge of %s lacks %q: %s", tt.lake, want, badge.Body)
		}
		sheet := get(t, s, http.StatusOK, "/lakes/"+tt.lake+"/sign?lang="+tt.lang)
		text := strings.Join(strings.Fields(html.UnescapeString(tagPattern.ReplaceAllString(sheet.Body.String(), " "))), " ")
		if !strings.Contains(text, tt.sheet) {
			t.Errorf("the sign of %s lacks %q: %s", tt.lake, tt.sheet, text)
		}
		if !strings.Contains(text, "lakes.example.org/map/lakes/"+tt.lake) {
			t.Errorf("the sign of %s lacks its address: %s", tt.lake, text)
		}
		for name, got := range map[string]string{"badge": badge.Header().Get("Content-Language"), "sign": sheet.Header().Get("Content-Language")} {
			if got != tt.lang {
				t.Errorf("the %s of %s is in %q, want %q", name, tt.lake, got, tt.lang)
			}
		}
	}
}

// A value of the snapshot that is older than two weeks is current data and an old value.
func TestVerdictsGetOld(t *testing.T) {
	clock := testNow()
	opts := testOptions(t)
	opts.Now = func() time.Time { return clock }
	opts.Notice = "Simulated"
	s := newServer(t, opts, testSource(t))
	for days, want := range map[int]string{
		0: "Klarer See: simulated · Swimming looks fine · Low risk · 16 November 2026", 10: "Klarer See: simulated · Swimming looks fine · Low risk · 16 November 2026", 11: "Klarer See: simulated · Old value: look before you swim · Last known risk: low · old value from 16 November 2026",
	} {
		clock = testNow().AddDate(0, 0, days)
		if err := s.Publish(snapshotAt(t, testSource(t), clock)); err != nil {
			t.Fatal(err)
		}
		if body := get(t, s, http.StatusOK, "/lakes/de_by_clean/badge.svg").Body.String(); !strings.Contains(body, "<title>"+want+"</title>") {
			t.Errorf("after %d days the badge is %s, want %q", days, body, want)
		}
		sheet := get(t, s, http.StatusOK, "/lakes/de_by_clean/sign").Body.String()
		if !strings.Contains(sheet, `role="note">Simulated<`) || strings.Contains(sheet, `<span class="age">old value from`) != (days == 11) {
			t.Errorf("after %d days the sign is %s", days, sheet)
		}
	}
}

func TestSignAnswers(t *testing.T) {
	s := printedServer(t)
	for target, contentType := range map[string]string{"/lakes/de_mv_high/sign": "text/html; charset=utf-8", "/lakes/de_mv_high/badge.svg": "image/svg+xml"} {
		w := get(t, s, http.StatusOK, target, "Accept-Language", "de-AT, en;q=0.5")
		h := w.Header()
		if h.Get("Content-Type") != contentType || h.Get("Content-Language") != "de" || !strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Language") ||
			!strings.HasPrefix(h.Get("Cache-Control"), "public, max-age=60") || h.Get("RateLimit") == "" {
			t.Errorf("%s has %v", target, h)
		}
		get(t, s, http.StatusNotModified, target, "Accept-Language", "de", "If-None-Match", h.Get("ETag"))
		if again := get(t, s, http.StatusOK, target+"?lang=", "Accept-Language", "de"); again.Body.String() != w.Body.String() && strings.HasSuffix(target, "svg") {
			t.Errorf("%s with an empty language differs", target)
		}
		get(t, s, http.StatusOK, target, "Accept-Language", "ja", "If-None-Match", h.Get("ETag"))
		wantProblem(t, do(s, http.MethodGet, target+"?lang=xx"), http.StatusBadRequest, "lang")
		wantProblem(t, do(s, http.MethodGet, strings.Replace(target, "de_mv_high", "nowhere", 1)), http.StatusNotFound)
		wantProblem(t, do(s, http.MethodGet, strings.Replace(target, "de_mv_high", "%3Cscript%3E", 1)), http.StatusNotFound)
		wantProblem(t, do(newServer(t, testOptions(t), nil), http.MethodGet, target), http.StatusServiceUnavailable)
	}
	sheet := get(t, s, http.StatusOK, "/lakes/de_mv_high/sign").Body.String()
	for _, want := range []string{"Office &lt;of&gt; Health", "lakes@example.org", `src="../../contact-logo.svg"`, `href="../de_mv_high"`, `href="../../#lake=de_mv_high"`, `href="?lang=de"`, "Example Agency", `<path d="M4 4h7v1h-7z`} {
		if !strings.Contains(sheet, want) {
			t.Errorf("the sign lacks %q", want)
		}
	}
	for _, unwanted := range []string{"<script", " style=", "<style"} {
		if strings.Contains(sheet, unwanted) {
			t.Errorf("the sign has %q", unwanted)
		}
	}
}

// Caches may keep an answer with a statement only until the statement ends.
func TestSignsEndWithTheirStatement(t *testing.T) {
	f := testSource(t)
	f.advisories = []data.Advisory{{ID: "a", LakeID: "de_by_clean", Kind: data.Closure, Issuer: "Amt", Issued: time.Now().Add(-time.Hour), ValidFrom: time.Now().Add(-time.Hour), ValidUntil: time.Now().Add(30 * time.Second)}}
	opts := testOptions(t)
	opts.Now = time.Now
	s := newServer(t, opts, f)
	for _, name := range []string{"sign", "badge.svg"} {
		if got := get(t, s, http.StatusOK, "/lakes/de_by_clean/"+name).Header().Get("Cache-Control"); !strings.HasPrefix(got, "public, max-age=2") && !strings.HasPrefix(got, "public, max-age=30") {
			t.Errorf("Cache-Control of %s = %q, want the seconds until the statement ends", name, got)
		}
	}
}

// Without a public address the sign has no QR code. An answer with the address of a connection is private.
func TestSignAddresses(t *testing.T) {
	s := testServer(t)
	if body := get(t, s, http.StatusOK, "/lakes/de_mv_high/sign").Body.String(); !strings.Contains(body, "There is no QR code") || strings.Contains(body, `class="code"`) {
		t.Errorf("without an address the sign is %s", body)
	}
}
