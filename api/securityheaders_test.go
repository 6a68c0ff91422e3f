package api

import (
	"net/http"
	"testing"
)

// Answers that a browser may show as a document have the header fields for documents, including errors at the address of a
// picture and answers without a body. Pictures and vector tiles have only the other two fields.
func TestSecurityHeadersByKindOfAnswer(t *testing.T) {
	s := testServer(t)
	pictures := map[string]bool{tileURL: true, vectorURL: true, "/api/v1/legend.png": true, "/images/marker.png": true, "/lakes/de_by_clean/preview.png": true,
		wmtsTileURL: true, ogcTileURL: true, ogcVectorURL: true}
	targets := append(cachedTargets(), "/images/marker.png", "/metrics", "/nowhere", tileURL+"?style=none", "/api/v1/tiles/6/64/0.png")
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost} {
		for _, target := range targets {
			w := do(s, method, target, "X-API-Key", goodKey)
			picture := pictures[target] && (method == http.MethodGet || method == http.MethodHead)
			wantSecurity(t, method+" "+target, w.Header(), picture)
			if etag := w.Header().Get("ETag"); etag != "" {
				w = do(s, method, target, "X-API-Key", goodKey, "If-None-Match", etag)
				wantSecurity(t, "not modified: "+target, w.Header(), picture)
				w = do(s, method, target, "X-API-Key", goodKey, "If-Match", `"other"`)
				wantSecurity(t, "precondition failed: "+target, w.Header(), false)
			}
		}
	}
}

func wantSecurity(t *testing.T, what string, h http.Header, picture bool) {
	t.Helper()
	for _, name := range []string{"X-Content-Type-Options", "Cross-Origin-Resource-Policy"} {
		if h.Get(name) == "" {
			t.Errorf("%s lacks %s", what, name)
		}
	}
	for _, name := range []string{"Content-Security-Policy", "Permissions-Policy", "Referrer-Policy"} {
		if got := h.Get(name); got == "" != picture {
			t.Errorf("%s: %s = %q, want one: %t", what, name, got, !picture)
		}
	}
}
