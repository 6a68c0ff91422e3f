package refresh

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A redirect to what is no address of a server is an error at once, which does not repeat it: it may hold a password.
func TestRedirectsThatLeadNowhere(t *testing.T) {
	for _, location := range []string{"http://user:secret@[bad/", "/%zz?key=secret", "file:///secret", "ftp://user:secret@example.org/"} {
		t.Run(location, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusFound)
			}))
			defer server.Close()
			g := newRig(t, openStore(t), []string{server.URL + "/lakes.csv"}, Options{})
			_, _, err := g.once(t, redirectReason)
			if err == nil || strings.Contains(err.Error()+g.log.String(), "secret") || len(g.waited) > 0 {
				t.Errorf("error %v after waits %v, want one without the address at once; the log:\n%s", err, g.waited, g.log)
			}
		})
	}
}
