package refresh

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"limnomap/data/fetchguard"
	"limnomap/data/store/storetest"
)

// A redirect to an invalid address is an error at once, which does not repeat it: it may contain a password.
func TestRedirectsToInvalidAddresses(t *testing.T) {
	for _, location := range []string{"http://user:secret@[bad/", "/%zz?key=secret", "file:///secret", "ftp://user:secret@example.org/"} {
		t.Run(location, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusFound)
			}))
			defer server.Close()
			g := newRig(t, storetest.New(t), []string{server.URL + "/lakes.csv"}, Options{})
			_, _, err := g.once(t, redirectReason)
			if err == nil || strings.Contains(err.Error()+g.log.String(), "secret") || len(g.waited) > 0 {
				t.Errorf("error %v after waits %v, want one without the address at once; the log:\n%s", err, g.waited, g.log)
			}
		})
	}
}

// A redirect to an address where clouds serve the secrets of their machines is refused, however it is written, and not tried
// again.
func TestRedirectsToLinkLocalAddresses(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "169.254.0.1:8080", "[fd00:ec2::23]", "[fd20:ce::254]", "100.100.100.200", "168.63.129.16", "192.0.0.192", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "0.0.0.0", "metadata.google.internal"} {
		t.Run(host, func(t *testing.T) {
			server := httptest.NewServer(http.RedirectHandler("http://"+host+"/latest/meta-data?token=secret", http.StatusFound))
			defer server.Close()
			g := newRig(t, storetest.New(t), []string{server.URL + "/lakes.csv"}, Options{})
			_, _, err := g.once(t, awayReason)
			if !errors.Is(err, fetchguard.ErrRefused) || strings.Contains(err.Error()+g.log.String(), "secret") || len(g.waited) > 0 {
				t.Errorf("error %v after waits %v, want %v at once; the log:\n%s", err, g.waited, fetchguard.ErrRefused, g.log)
			}
		})
	}
}
