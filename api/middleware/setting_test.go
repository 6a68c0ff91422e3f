package middleware

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"limnomap/api/apitest"
)

// value returns middleware that sends the value of a setting.
func value(s *Setting[int]) Middleware {
	return s.Middleware(func(v *int) Middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Add("X-Value", strconv.Itoa(*v))
				next.ServeHTTP(w, r)
			})
		}
	})
}

func TestSettingRebuildsItsMiddleware(t *testing.T) {
	first, second := 1, 2
	s := NewSetting(&first)
	h := Wrap(apitest.OK, value(s), value(s))
	for _, want := range []string{"1", "2"} {
		got := apitest.Serve(t, h, httptest.NewRequest("GET", "/", nil)).Header.Values("X-Value")
		if len(got) != 2 || got[0] != want || got[1] != want {
			t.Errorf("X-Value = %q, want %s twice", got, want)
		}
		s.Store(&second)
	}
	if s.Load() != &second {
		t.Error("Load does not return the stored value")
	}
}

// For the race detector: requests and changes at the same time.
func TestSettingConcurrently(t *testing.T) {
	s := NewSetting(new(int))
	h := value(s)(apitest.OK)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 200 {
				s.Store(&i)
				apitest.Serve(t, h, httptest.NewRequest("GET", "/", nil))
			}
		})
	}
	group.Wait()
}

func TestWrapPutsTheFirstOutermost(t *testing.T) {
	var order []string
	step := func(name string) Middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				order = append(order, name)
				next.ServeHTTP(w, r)
			})
		}
	}
	apitest.Serve(t, Wrap(apitest.OK, step("outer"), step("inner")), httptest.NewRequest("GET", "/", nil))
	if len(order) != 2 || order[0] != "outer" {
		t.Errorf("order = %q, want outer, inner", order)
	}
}
