package api

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const oEmbedSite = "https://lakes.example.org/map"

// oEmbedServer returns a server at oEmbedSite.
func oEmbedServer(t *testing.T) *Server {
	t.Helper()
	opts := testOptions(t)
	opts.APIRate = 0
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org", Path: "/map"}
	return newServer(t, opts, testSource(t))
}

func oEmbedOf(address, more string) string { return "/oembed?url=" + url.QueryEscape(address) + more }

func TestOEmbed(t *testing.T) {
	s := oEmbedServer(t)
	for _, tt := range []struct {
		address, more       string
		title, frame, thumb string
		width, height       float64
	}{
		{"/lakes/de_mv_high", "", "Müritz · Algae in lakes", "/embed?lake=de_mv_high", "/lakes/de_mv_high/preview.png", 600, 480},
		{"/lakes/de_mv_high?lang=de&utm_source=x", "&format=json", "Müritz · Algen in Seen", "/embed?lake=de_mv_high&lang=de", "/lakes/de_mv_high/preview.png?lang=de", 600, 480},
		{"/#lake=de_mv_high", "&maxwidth=500&maxheight=750", "Müritz · Algae in lakes", "/embed?lake=de_mv_high", "", 500, 480},
		{"/?lang=de&style=dots#lake=de_mv_high", "&maxwidth=1200&maxheight=630", "Müritz · Algen in Seen", "/embed?lake=de_mv_high&lang=de&style=dots", "/lakes/de_mv_high/preview.png?lang=de", 600, 480},
		{"/", "&maxwidth=300&maxheight=250", "Algae in lakes", "/embed", "", 300, 250},
		{"", "", "Algae in lakes", "/embed", "", 600, 480},
		{"/embed?bbox=1,2,3,4&colormap=viridis&date=2026-11-16", "", "Algae in lakes", "/embed?bbox=1%2C2%2C3%2C4&colormap=viridis&date=2026-11-16", "", 600, 480},
		{"/embed?lake=de_by_medium", "", `Grüner "See" <&> · Algae in lakes`, "/embed?lake=de_by_medium", "/lakes/de_by_medium/preview.png", 600, 480},
	} {
		w := get(t, s, http.StatusOK, oEmbedOf(oEmbedSite+tt.address, tt.more))
		e := object(t, w)
		if w.Header().Get("Content-Type") != "application/json" || e["version"] != "1.0" || e["type"] != "rich" || e["title"] != tt.title || e["provider_name"] == "" ||
			e["provider_url"] != oEmbedSite+"/" || e["cache_age"] != 86400.0 || e["width"] != tt.width || e["height"] != tt.height {
			t.Errorf("%s%s: %v", tt.address, tt.more, e)
		}
		if thumb, _ := e["thumbnail_url"].(string); thumb != "" && thumb != oEmbedSite+tt.thumb || (thumb == "") != (tt.thumb == "") || (thumb == "") != (e["thumbnail_width"] == nil) {
			t.Errorf("%s%s: the thumbnail is %q, want %q", tt.address, tt.more, thumb, tt.thumb)
		}
		root, err := html.Parse(strings.NewReader(e["html"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		frames := 0
		for n := range root.Descendants() {
			if n.Type != html.ElementNode || n.Data == "html" || n.Data == "head" || n.Data == "body" {
				continue
			}
			attributes := make(map[string]string)
			for _, a := range n.Attr {
				attributes[a.Key] = a.Val
			}
			if frames++; n.Data != "iframe" || attributes["src"] != oEmbedSite+tt.frame || attributes["title"] != tt.title {
				t.Errorf("%s%s: <%s> with %v, want a frame of %s", tt.address, tt.more, n.Data, attributes, tt.frame)
			}
			get(t, s, http.StatusOK, strings.TrimPrefix(attributes["src"], oEmbedSite)) // the frame exists
		}
		if frames != 1 {
			t.Errorf("%s%s: %d elements, want one", tt.address, tt.more, frames)
		}
	}
}

// The same address may be spelled with the port that its scheme means, and in capitals.
func TestOEmbedOfSpellings(t *testing.T) {
	s := oEmbedServer(t)
	for _, host := range []string{"https://lakes.example.org:443", "https://Lakes.Example.ORG", "http://lakes.example.org:80"} {
		get(t, s, http.StatusOK, oEmbedOf(host+"/map/lakes/de_mv_high", ""))
	}
	get(t, s, http.StatusNotFound, oEmbedOf("https://lakes.example.org:8443/map/lakes/de_mv_high", ""))
}

func TestOEmbedXML(t *testing.T) {
	w := get(t, oEmbedServer(t), http.StatusOK, oEmbedOf(oEmbedSite+"/lakes/de_by_medium", "&format=xml"))
	var e oEmbed
	if err := xml.Unmarshal(w.Body.Bytes(), &e); err != nil {
		t.Fatal(err)
	}
	if w.Header().Get("Content-Type") != "text/xml; charset=utf-8" || e.Title != `Grüner "See" <&> · Algae in lakes` || e.Width != 600 || !strings.HasPrefix(e.HTML, `<iframe src="https://`) ||
		!strings.HasPrefix(w.Body.String(), `<?xml version="1.0" encoding="UTF-8"?>`) {
		t.Errorf("%v: %+v", w.Header(), e)
	}
}

// Addresses of others, of nothing and of what cannot be embedded have no code.
func TestOEmbedRefuses(t *testing.T) {
	s := oEmbedServer(t)
	for _, address := range []string{
		"https://evil.example/map/lakes/de_mv_high", "https://lakes.example.org/lakes/de_mv_high", "https://lakes.example.org:8443/map/", "https://lakes.example.org.evil.example/map/",
		"https://user@lakes.example.org/map/", "ftp://lakes.example.org/map/", "javascript:alert(1)", "//lakes.example.org/map/", "/map/lakes/de_mv_high", "%zz", "https://lakes.example.org/mapx/",
		oEmbedSite + "/lakes/", oEmbedSite + "/lakes/nowhere", oEmbedSite + "/lakes/de_mv_high/sign", oEmbedSite + "/table", oEmbedSite + "/embed?lake=nowhere", oEmbedSite + "/embed?bbox=1",
		oEmbedSite + "/#lake=%3Cscript%3E", oEmbedSite + "/?lang=xx", oEmbedSite + "/embed?style=none",
	} {
		wantProblem(t, do(s, http.MethodGet, oEmbedOf(address, "")), http.StatusNotFound)
	}
	lake := oEmbedSite + "/lakes/de_mv_high"
	for more, status := range map[string]int{"&format=yaml": 501, "&format=": 501, "&maxwidth=299": 404, "&maxheight=249": 404} {
		wantProblem(t, do(s, http.MethodGet, oEmbedOf(lake, more)), status)
	}
	for more, parameter := range map[string]string{"&maxwidth=0": "maxwidth", "&maxheight=x": "maxheight", "&maxwidth=500&maxwidth=400": "maxwidth"} {
		wantProblem(t, do(s, http.MethodGet, oEmbedOf(lake, more)), http.StatusBadRequest, parameter)
	}
	wantProblem(t, do(s, http.MethodGet, "/oembed"), http.StatusBadRequest, "url")
	wantProblem(t, do(testServer(t), http.MethodGet, oEmbedOf("https://example.com/lakes/de_mv_high", "")), http.StatusNotFound) // any client may choose a Host

	to := *s.common.adjustable()
	if err := to.FrameAncestors.UnmarshalText([]byte("self")); err != nil {
		t.Fatal(err)
	}
	s.Adjust(to)
	wantProblem(t, do(s, http.MethodGet, oEmbedOf(lake, "")), http.StatusForbidden)
}

func FuzzOEmbed(f *testing.F) {
	for _, seed := range []string{oEmbedSite + "/lakes/de_mv_high", oEmbedSite + "/#lake=de_mv_high", oEmbedSite + "/embed?bbox=1,2,3,4", "https://evil/", "%", oEmbedSite + "/lakes/\"><script>"} {
		f.Add(seed)
	}
	opts := testOptions(f)
	opts.APIRate = 0
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org", Path: "/map"}
	s := newServer(f, opts, testSource(f))
	f.Fuzz(func(t *testing.T, address string) {
		w := do(s, http.MethodGet, oEmbedOf(address, ""))
		if w.Code != http.StatusOK && w.Code != http.StatusNotFound && w.Code != http.StatusBadRequest {
			t.Fatalf("%q: %d", address, w.Code)
		}
		if w.Code == http.StatusOK {
			if code := object(t, w)["html"].(string); !strings.HasPrefix(code, `<iframe src="`+oEmbedSite+`/embed`) || strings.Count(code, "<") != 2 {
				t.Fatalf("%q: %s", address, code)
			}
		}
	})
}
