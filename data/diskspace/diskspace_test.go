package diskspace

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	if free, total, ok := Of(t.TempDir()); ok != Known || ok && !(free > 0 && free <= total) {
		t.Errorf("Of = %d, %d, %v, want at most the total", free, total, ok)
	}
	if _, _, ok := Of(filepath.Join(t.TempDir(), "missing")); ok {
		t.Error("Of a missing folder = true")
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		free int64
		ok   bool
		need int64
		want string // in the error; none if empty
	}{
		{Reserve, true, 0, ""},
		{Reserve - 1, true, 0, "of /data has 67108863 bytes free: want 67108864"},
		{Reserve + 10, true, 10, ""},
		{Reserve + 10, true, 11, "want 67108875, of which 67108864 stay free"},
		{0, true, math.MaxInt64 / 2, "has 0 bytes free"},
		{0, false, 1 << 40, ""},
	} {
		err := check("/data", test.free, test.ok, test.need)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("check(%d, %v, %d) = %v, want %q", test.free, test.ok, test.need, err, test.want)
		}
	}
	if err := Check(t.TempDir(), math.MaxInt64/2); (err != nil) != Known {
		t.Errorf("Check = %v, want an error on a system that knows", err)
	}
}
