package middleware

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"limnomap/api/apitest"
)

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
