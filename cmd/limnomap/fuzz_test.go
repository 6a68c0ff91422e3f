package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"limnomap/data/apikey"
)

// Whatever a flag, a variable or a line of a file says, a value of it is within its bounds.
func FuzzFlagValues(f *testing.F) {
	for _, seed := range []string{"", "64MiB", "1e300TB", "-1", "NaN", "Inf GiB", "0x1p60", "28d", "36500d", "99999999999999999999d", "1h30m", "-0s", "0-9", "9-0", "7", "1-", "5.8,47.2,15.1,55.1", "1,2,3", "180,-90,-180,90", "monitor,metrics"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size byteSize
		if err := size.UnmarshalText([]byte(text)); err == nil && size < 0 {
			t.Fatalf("size %q = %d", text, size)
		}
		var p period
		if err := p.UnmarshalText([]byte(text)); err == nil && time.Duration(p) < 0 {
			t.Fatalf("period %q = %d", text, p)
		}
		var zooms zoomRange
		if err := zooms.UnmarshalText([]byte(text)); err == nil && (zooms.Min < 0 || zooms.Min > zooms.Max) {
			t.Fatalf("zooms %q = %v", text, zooms)
		}
		var b bound
		if err := b.UnmarshalText([]byte(text)); err == nil && !(math.Abs(b.West) <= 180 && math.Abs(b.East) <= 180 && -90 <= b.South && b.South <= b.North && b.North <= 90) {
			t.Fatalf("bound %q = %v", text, b)
		}
	})
}

// What is hidden once stays hidden, and nothing else of a line is lost than what follows it in the same word.
func FuzzWithoutSecrets(f *testing.F) {
	for _, seed := range []string{"", "postgres://u:p@h/db", "a://b://c@d@e f@g", "password=x token=y&z", apikey.Prefix + "VC2YXMMZG6YFK4YPT4DM4WIUTO", "\xff://\xff@", `"://'@`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := withoutSecrets(text)
		if again := withoutSecrets(once); again != once {
			t.Fatalf("%q becomes %q and then %q", text, once, again)
		}
		const secret = "x://me:hunter2@h password=hunter2 " + apikey.Prefix + "VC2YXMMZG6YFK4YPT4DM4WIUTO"
		if got := withoutSecrets(text + " " + secret); strings.Count(got, "VC2YXMMZ") > strings.Count(text, "VC2YXMMZ") || strings.Count(got, "hunter2") > strings.Count(text, "hunter2") {
			t.Fatalf("%q shows a secret: %q", text, got)
		}
	})
}
