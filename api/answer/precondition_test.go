package answer

import (
	"strings"
	"testing"
)

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
