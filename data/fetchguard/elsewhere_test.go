package fetchguard

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// An address from another machine's file is treated as a redirect from there.
func TestElsewhere(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("/again", http.StatusFound))
	defer server.Close()
	client := &http.Client{Transport: New(&http.Transport{}), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, elsewhere := range []bool{false, true} {
		ctx := t.Context()
		if elsewhere {
			ctx = Elsewhere(ctx)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		if elsewhere != errors.Is(err, ErrLoopback) {
			t.Errorf("a request to a loopback address, from elsewhere %v: %v", elsewhere, err)
		}
	}
}
