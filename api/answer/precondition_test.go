package answer

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestConditionsAllocateNothing(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("If-None-Match", `W/"a", "b", "0123456789abcdef"`)
	r.Header.Set("If-Match", `W/"a", "b", "0123456789abcdef"`)
	if got := testing.AllocsPerRun(100, func() {
		if !notModified(r, `"0123456789abcdef"`) || anotherMatch(r, `"0123456789abcdef"`) {
			t.Fatal("the tag is not found")
		}
	}); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

// FuzzListsTag checks that a tag is found where it was written, and nowhere else than between quotes of its own.
func FuzzListsTag(f *testing.F) {
	f.Add(`"a", W/"b"`)
	f.Add(`"x"0123"y"`)
	f.Add(`W/W/"0123",`)
	const etag = `"0123"`
	f.Fuzz(func(t *testing.T, field string) {
		weak, strong := listsTag([]string{field}, etag, true), listsTag([]string{field}, etag, false)
		if strong && !weak {
			t.Errorf("%q matches strongly and not weakly", field)
		}
		if weak && !strings.Contains(field, etag) {
			t.Errorf("%q matches %s", field, etag)
		}
		if weak && strings.Count(field[:strings.LastIndex(field, etag)], `"`)%2 != 0 && strings.Count(field, etag) == 1 {
			t.Errorf("%q matches %s by quotes of other tags", field, etag)
		}
		if !listsTag([]string{field, etag}, etag, false) {
			t.Errorf("a tag in a line after %q is not found", field)
		}
		if !listsTag([]string{etag + "," + field}, etag, false) {
			t.Errorf("a tag before %q is not found", field)
		}
	})
}
