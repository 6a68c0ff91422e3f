package middleware

import (
	"net/http/httptest"
	"testing"

	"limnomap/api/apitest"
)

func TestNotice(t *testing.T) {
	for _, notice := range []string{"", "Simulated data"} {
		resp := apitest.Serve(t, Notice(notice)(apitest.OK), httptest.NewRequest("GET", "/", nil))
		if got := resp.Header.Get("X-Data-Notice"); got != notice {
			t.Errorf("X-Data-Notice = %q, want %q", got, notice)
		}
	}
}
