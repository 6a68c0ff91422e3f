package data_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

func ExampleCompareVersions() {
	fmt.Println(data.CompareVersions("2.1.1 12 observations", "2.1.1 9 observations"))
	fmt.Println(data.CompareVersions("V2.1.0 2025-10-01T10:00", "V2.1.1 2025-09-14T10:00"))
	fmt.Println(data.CompareVersions("V2.01", "2.1"))
	// Output:
	// 1
	// -1
	// 0
}

// Each of these is older than the next.
func TestCompareVersions(t *testing.T) {
	ascending := []string{
		"", "0.9", "1", "V1.0", "v1.0.1", "1.0.9", "1.0.10", "1.0.10 2024-01-01T10:00", "1.0.10 2024-01-01T10:00:30", "1.0.10 2024-01-02",
		"1.0.10.1 2020-01-01", "V2.1.0 2025-10-01T10:00", "2.1.1 9 observations", "V2.1.1 12 observations", "2.1.1 20250913T100000Z",
		"v2.1.1 2025091410000000000000000000000000000000000", "2.1.1 NRT", "2.1.1 rep", "2.1.2", "3 alpha", "3 ALPHA 2", "3 beta", "version 1", "ÿ",
	}
	for i, a := range ascending {
		for k, b := range ascending {
			if got := data.CompareVersions(a, b); cmp.Compare(got, 0) != cmp.Compare(i, k) {
				t.Errorf("CompareVersions(%q, %q) = %d, want the sign of %d", a, b, got, i-k)
			}
		}
	}
	for _, same := range [][2]string{
		{"V2.1", "v02.01"}, {"V2.1", "2-1"}, {"2.1", " 2.1\t"}, {"", " "}, {"", "--"}, {"Reprocessed", "reprocessed"}, {"0", "00"}, {"1 - 2", "1 . 2"},
		{"2\xff1", "2.1"},
	} {
		if got := data.CompareVersions(same[0], same[1]); got != 0 {
			t.Errorf("CompareVersions(%q, %q) = %d, want 0", same[0], same[1], got)
		}
	}
}

// The order is total: any two versions compare, the other way round with the other sign, and three of them never go in a circle.
func TestCompareVersionsIsAnOrder(t *testing.T) {
	version := rapid.OneOf(rapid.StringMatching(`[vV0-9a-bA-B .:_-]{0,8}`), rapid.String(), rapid.StringMatching(`V?[0-2]\.[0-9]{1,2}( [0-9]{1,2}( observations)?)?`))
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(version, 3, 3).Draw(rt, "versions")
		for _, a := range all {
			if data.CompareVersions(a, a) != 0 || data.CompareVersions("", a) > 0 {
				rt.Fatalf("%q is not as old as itself, or older than the empty one", a)
			}
			for _, b := range all {
				if data.CompareVersions(a, b) != -data.CompareVersions(b, a) {
					rt.Fatalf("%q and %q: %d, and %d the other way round", a, b, data.CompareVersions(a, b), data.CompareVersions(b, a))
				}
			}
		}
		slices.SortFunc(all, data.CompareVersions)
		if data.CompareVersions(all[0], all[2]) > 0 || data.CompareVersions(all[0], all[2]) == 0 && data.CompareVersions(all[0], all[1]) != 0 {
			rt.Fatalf("%q go in a circle", all)
		}
	})
}

func FuzzCompareVersions(f *testing.F) {
	f.Add("V2.1.1 12 observations", "2.1.1 9")
	f.Fuzz(func(t *testing.T, a, b string) {
		if data.CompareVersions(a, b) != -data.CompareVersions(b, a) {
			t.Errorf("%q and %q compare differently the other way round", a, b)
		}
	})
}
