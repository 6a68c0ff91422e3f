package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// plainOf decodes a content coding.
func plainOf(tb testing.TB, coding string, b []byte) string {
	tb.Helper()
	var r io.Reader = bytes.NewReader(b)
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		// RFC 9659: decoders of this content coding need no larger window.
		var d *zstd.Decoder
		if d, err = zstd.NewReader(r, zstd.WithDecoderMaxWindow(8<<20)); err == nil {
			defer d.Close()
			r = d
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		tb.Fatalf("decode %s: %v", coding, err)
	}
	return string(plain)
}

// compressedTargets are the addresses of a prepared answer and of one made on request, both long enough to be compressed.
func compressedTargets() []string { return []string{statusURL, statusURL + "?min_lat=0"} }

func TestJSONComesCompressedAsTheClientPrefers(t *testing.T) {
	s := testServer(t)
	for _, target := range compressedTargets() {
		plain := get(t, s, http.StatusOK, target)
		tags := map[string]string{plain.Header().Get("ETag"): "identity"}
		if got := plain.Header().Get("Content-Encoding"); got != "" {
			t.Errorf("without Accept-Encoding the coding is %s, want none", got)
		}
		for _, coding := range []string{"gzip", "br", "zstd"} {
			w := get(t, s, http.StatusOK, target, "Accept-Encoding", coding)
			h := w.Header()
			if h.Get("Content-Encoding") != coding {
				t.Fatalf("%s with Accept-Encoding %s comes as %q", target, coding, h.Get("Content-Encoding"))
			}
			if got := plainOf(t, coding, w.Body.Bytes()); got != plain.Body.String() {
				t.Errorf("%s in %s is not the plain answer", target, coding)
			}
			if w.Body.Len() >= plain.Body.Len() {
				t.Errorf("%s in %s has %d bytes, plain %d", target, coding, w.Body.Len(), plain.Body.Len())
			}
			if other, taken := tags[h.Get("ETag")]; taken {
				t.Errorf("%s in %s has the ETag of %s, want its own", target, coding, other)
			}
			tags[h.Get("ETag")] = coding
			if !slices.Contains(h.Values("Vary"), "Accept-Encoding") {
				t.Errorf("Vary = %q, want Accept-Encoding among it", h.Values("Vary"))
			}
			if h.Get("Content-Length") == "" {
				t.Errorf("%s in %s has no Content-Length", target, coding)
			}
		}
	}
}

func TestNoAcceptableCodingIs406(t *testing.T) {
	s := testServer(t)
	for _, target := range compressedTargets() {
		wantProblem(t, do(s, http.MethodGet, target, "Accept-Encoding", "*;q=0"), http.StatusNotAcceptable)
	}
}

func TestPNGIsNeverCompressed(t *testing.T) {
	s := testServer(t)
	for _, target := range []string{"/api/v1/tiles/6/33/21.png", "/api/v1/legend.png", "/images/marker.png"} {
		h := get(t, s, http.StatusOK, target, "Accept-Encoding", "gzip, br, zstd").Header()
		if h.Get("Content-Encoding") != "" || slices.Contains(h.Values("Vary"), "Accept-Encoding") {
			t.Errorf("%s: Content-Encoding, Vary = %q, %q, want neither", target, h.Get("Content-Encoding"), h.Values("Vary"))
		}
	}
}

// cachedTargets are an address of each kind of answer.
func cachedTargets() []string {
	return []string{
		statusURL, statusURL + "?risk=low", statusURL + ".csv", nearURL + "?lat=48&lon=11.5", searchURL + "?q=see", statsURL, "/api/v1/bathing-lakes/geojson", "/api/v1/bathing-lakes/dates", advisoriesURL,
		historyURL + "de_by_clean", historyURL + "de_by_clean.csv", "/api/v1/monitor/lakes", "/api/v1/tiles/6/33/21.png",
		"/api/v1/tiles.json", "/api/v1/styles", "/api/v1/legend.json", "/api/v1/legend.svg", "/api/v1/legend.png",
		vectorURL, vectorJSONURL,
		pathAdvisoryFeed,
		wmtsURL, wmtsTileURL, "/wms", wmsMapURL, "/wmts/1.0.0/WMTSCapabilities.xml",
		"/ogc", "/ogc/", "/ogc/conformance", "/ogc/collections", "/ogc/collections/chlorophyll", "/ogc/tileMatrixSets", "/ogc/tileMatrixSets/WebMercatorQuad",
		"/ogc/map/tiles", "/ogc/map/tiles/WebMercatorQuad", ogcTileURL, "/ogc/tiles", "/ogc/tiles/WebMercatorQuad", ogcVectorURL,
		"/ogc/collections/lakes", "/ogc/api", "/ogc/map?width=20", pathMap + "?width=20", "/ogc/collections/lakes/queryables", "/ogc/collections/lakes/items", "/ogc/collections/observations/items?f=csv", "/ogc/collections/lakes/items/de_by_clean",
		pathSeries + "locations", pathSeries + "locations/de_by_clean", pathSeries + "cube?bbox=11,48,13,54", pathSeries + "position?coords=POINT(11.5%2048)",
		"/api/v1/value?lat=48&lon=11.5", "/api/v1/bathing-lakes/statistics/de_by_clean", "/api/v1/bathing-lakes/statistics/de_by_clean.csv", "/api/v1/bathing-lakes/accuracy", "/week", "/week.csv", "/week.atom",
		"/openapi.json", "/page.json", "/", "/embed", "/table", "/table.css", "/lakes/de_by_clean", "/lakes/de_by_clean/sign", "/lakes/de_by_clean/badge.svg", "/lakes/de_by_clean/preview.png", "/lake.css", "/lake.js", "/sign.css", "/robots.txt", "/assets/app-1234.js", "/healthz", "/readyz",
	}
}

func TestEvery200HasAStrongETagAndCacheControl(t *testing.T) {
	s := testServer(t)
	for _, target := range cachedTargets() {
		t.Run(target, func(t *testing.T) {
			h := get(t, s, http.StatusOK, target, "X-API-Key", goodKey).Header()
			etag := h.Get("ETag")
			if !strings.HasPrefix(etag, `"`) || !strings.HasSuffix(etag, `"`) || len(etag) < 3 {
				t.Errorf("ETag = %s, want a strong one", etag)
			}
			if h.Get("Cache-Control") == "" {
				t.Error("no Cache-Control")
			}
			for _, match := range []string{etag, `"other", ` + etag, "W/" + etag, "*"} {
				w := get(t, s, http.StatusNotModified, target, "X-API-Key", goodKey, "If-None-Match", match)
				if w.Body.Len() > 0 || w.Header().Get("Content-Type") != "" {
					t.Errorf("304 has a body of %d bytes and type %q", w.Body.Len(), w.Header().Get("Content-Type"))
				}
				for _, name := range []string{"ETag", "Cache-Control", "Vary"} {
					if got, want := w.Header().Get(name), h.Get(name); got != want {
						t.Errorf("%s of 304 = %q, of 200 %q", name, got, want)
					}
				}
			}
			get(t, s, http.StatusOK, target, "X-API-Key", goodKey, "If-None-Match", `"other"`)
		})
	}
}

func TestLengthsHoldOverARealConnection(t *testing.T) {
	server := httptest.NewServer(testServer(t))
	defer server.Close()
	for _, target := range append(cachedTargets(), "/nowhere") {
		for _, method := range []string{http.MethodHead, http.MethodGet} {
			r, err := http.NewRequest(method, server.URL+target, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-API-Key", goodKey)
			r.Header.Set("Accept-Encoding", "zstd")
			resp, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err != nil || resp.ContentLength < 1 || method == http.MethodGet && n != resp.ContentLength {
				t.Errorf("%s %s: %d bytes, Content-Length %d, %v", method, target, n, resp.ContentLength, err)
			}
		}
	}
}

func TestTheTagOfOneCodingIsNotThatOfAnother(t *testing.T) {
	s := testServer(t)
	for _, target := range compressedTargets() {
		plain := get(t, s, http.StatusOK, target).Header().Get("ETag")
		get(t, s, http.StatusOK, target, "Accept-Encoding", "gzip", "If-None-Match", plain)
		zipped := get(t, s, http.StatusOK, target, "Accept-Encoding", "gzip").Header().Get("ETag")
		get(t, s, http.StatusNotModified, target, "Accept-Encoding", "gzip", "If-None-Match", zipped)
	}
}

func TestEqualAnswersAreEqualBytes(t *testing.T) {
	a, b := testServer(t), testServer(t)
	for _, target := range cachedTargets() {
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			x := get(t, a, http.StatusOK, target, "X-API-Key", goodKey, "Accept-Encoding", coding)
			y := get(t, b, http.StatusOK, target, "X-API-Key", goodKey, "Accept-Encoding", coding)
			if !bytes.Equal(x.Body.Bytes(), y.Body.Bytes()) || x.Header().Get("ETag") != y.Header().Get("ETag") {
				t.Errorf("%s in %s differs between two replicas", target, coding)
			}
		}
	}
}
