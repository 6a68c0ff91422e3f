package api

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// sitemapOptions are those of a server with a public address.
func sitemapOptions(tb testing.TB) Options {
	opts := testOptions(tb)
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org", Path: "/a&b"}
	return opts
}

type sitemapEntry struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod"`
}

// sitemapOf reads the sitemap at that address, an index or a part.
func sitemapOf(tb testing.TB, s *Server, target string) (root string, entries []sitemapEntry) {
	tb.Helper()
	w := get(tb, s, http.StatusOK, target)
	if got := w.Header().Get("Content-Type"); got != "application/xml" {
		tb.Errorf("%s is %s", target, got)
	}
	if w.Body.Len() > 50<<20 {
		tb.Errorf("%s has %d bytes", target, w.Body.Len())
	}
	var read struct {
		XMLName  xml.Name
		Sitemaps []sitemapEntry `xml:"sitemap"`
		Pages    []sitemapEntry `xml:"url"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &read); err != nil {
		tb.Fatalf("%s: %v", target, err)
	}
	if read.XMLName.Space != "http://www.sitemaps.org/schemas/sitemap/0.9" {
		tb.Errorf("%s has the namespace %q", target, read.XMLName.Space)
	}
	return read.XMLName.Local, append(read.Sitemaps, read.Pages...)
}

func TestSitemap(t *testing.T) {
	s := newServer(t, sitemapOptions(t), testSource(t))
	root, parts := sitemapOf(t, s, "/sitemap.xml")
	if root != "sitemapindex" || len(parts) != 1 || parts[0].Loc != "https://lakes.example.org/a&b/sitemap/1.xml" {
		t.Fatalf("the index is %s %v", root, parts)
	}
	root, pages := sitemapOf(t, s, "/sitemap/1.xml")
	if root != "urlset" || len(pages) != 8 {
		t.Fatalf("the part is %s %v", root, pages)
	}
	const lakes = "https://lakes.example.org/a&b/lakes/"
	for i, want := range map[int]sitemapEntry{0: {lakes + "de_by_clean", "2026-11-16"}, 3: {lakes + "de_mv_never", ""}, 5: {lakes + "de_mv_stale", "2026-08-03"}} {
		if pages[i] != want {
			t.Errorf("page %d = %v, want %v", i, pages[i], want)
		}
	}
	for _, page := range pages {
		get(t, s, http.StatusOK, strings.TrimPrefix(page.Loc, "https://lakes.example.org/a&b"))
	}
	for _, target := range []string{"/sitemap/0.xml", "/sitemap/2.xml", "/sitemap/01.xml", "/sitemap/+1.xml", "/sitemap/x.xml", "/sitemap/-1.xml", "/sitemap/99999999999999999999.xml"} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusNotFound)
	}
}

// Without a public address there is no sitemap, and a Host that a client made up is in no answer that others may get.
func TestSitemapWithoutAPublicAddress(t *testing.T) {
	s := newServer(t, testOptions(t), testSource(t))
	for _, target := range []string{"/sitemap.xml", "/sitemap/1.xml"} {
		w := do(s, http.MethodGet, target)
		wantProblem(t, w, http.StatusNotFound)
		if !strings.Contains(w.Body.String(), "--public-url") {
			t.Errorf("%s does not say what to do: %s", target, w.Body)
		}
	}
	if text := get(t, s, http.StatusOK, "/robots.txt").Body.String(); strings.Contains(text, "Sitemap") || !strings.Contains(text, "Disallow: /api/\n") {
		t.Errorf("robots.txt is %q", text)
	}
	opts := sitemapOptions(t)
	opts.PublicURL.Path = "/seen"
	text := get(t, newServer(t, opts, nil), http.StatusOK, "/robots.txt").Body.String()
	if want := "User-agent: *\nDisallow: /seen/api/\nDisallow: /seen/wmts\nDisallow: /seen/ogc\n\nSitemap: https://lakes.example.org/seen/sitemap.xml\n"; text != want {
		t.Errorf("robots.txt is %q, want %q", text, want)
	}
}

// All parts together have each lake once.
func TestSitemapParts(t *testing.T) {
	const lakes = 2*maxSitemapLakes + 7
	s := newServer(t, sitemapOptions(t), manyLakes(t, lakes))
	_, parts := sitemapOf(t, s, "/sitemap.xml")
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	seen := make(map[string]bool)
	for i := range parts {
		_, pages := sitemapOf(t, s, fmt.Sprintf("/sitemap/%d.xml", i+1))
		if len(pages) > maxSitemapLakes {
			t.Errorf("part %d has %d pages", i+1, len(pages))
		}
		for _, page := range pages {
			seen[page.Loc] = true
		}
	}
	if len(seen) != lakes {
		t.Errorf("the sitemap has %d of %d lakes", len(seen), lakes)
	}
}
