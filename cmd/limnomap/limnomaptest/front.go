package limnomaptest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Front starts a proxy before the server at base, until the test ends, and returns its address. Where answers reports that
// it has answered a request itself, that request goes no further; passes sees what the server answers, and may change it.
// Either may be nil, and both have to be safe for concurrent use. What a client asks for is what it gets, compressed or not.
func Front(t testing.TB, base string, answers func(http.ResponseWriter, *http.Request) bool, passes func(*http.Response)) (address string) {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		ModifyResponse: func(answer *http.Response) error {
			if passes != nil {
				passes(answer)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // a client may leave before all has come
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers == nil || !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		front.Close()
		transport.CloseIdleConnections()
	})
	return front.URL
}
