package middleware

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

func TestAge(t *testing.T) {
	c := apitest.NewClock()
	f := NewFreshness(c.Now)
	var age string
	h := RequestID(Age(f)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { age = answer.InfoOf(r).Age[0] })))
	want := func(want string) {
		t.Helper()
		apitest.Serve(t, h, httptest.NewRequest("GET", "/", nil))
		if age != want {
			t.Errorf("age = %q, want %q", age, want)
		}
	}
	c.Advance(time.Hour)
	want("") // no one confirms the data
	f.Confirm(c.Now())
	c.Advance(StaleAfter - 1)
	want("")
	c.Advance(1)
	want("5")
	c.Advance(90 * time.Second)
	want("95")
	if since, ok := f.StaleSince(c.Now()); !ok || c.Now().Sub(since) != 95*time.Second {
		t.Errorf("StaleSince = %v, %t, want 95 s ago", since, ok)
	}
	f.Confirm(c.Now().Add(-time.Second))
	want("")
}
