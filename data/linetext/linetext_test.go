package linetext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

func TestCheck(t *testing.T) {
	for _, valid := range []string{
		"Müggelsee", "Övre Skärsjön", "Lac d'Annecy", "Ængsø", "Jezioro Śniardwy", "o", "1", "№ 7", "Müggelsee", "湖", "霞ヶ浦", "소양호",
		"بحيرة ناصر",                 // Arabic
		"بحيرة ناصر 2 (شمال)",        // with a number and brackets
		"ים כנרת",                    // Hebrew
		"יַם כִּנֶּרֶת",              // with vowels
		"כנרת\u200f (צפון)",          // with a directional mark
		"دریاچه\u200cی ارومیه",       // Persian, zero-width non-joiner
		"پیشہ ور\u061c 3",            // Arabic letter mark
		"चिल्का झील",                 // Hindi
		"क्\u200dष झील",              // with a zero-width joiner before a vowel's sign
		"ทะเลสาบสงขลา", "กว๊านพะเยา", // Thai
		"ទន្លេ\u200bសាប",  // Khmer, zero-width space
		"མཚོ་སྔོན་པོ",     // Tibetan
		"🏊 Badesee", "❤️", // with a variation selector
		"👩‍👩‍👧", "1️⃣", "🇩🇪", // joined, keycap, flag
		"🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", // a flag made of tags
		"Zürich\u00adsee", "葛\U000E0100城",
		"e" + strings.Repeat("\u0301", maxMarks),
	} {
		if err := Check(valid); err != nil {
			t.Errorf("Check(%+q) = %v, want it valid", valid, err)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{"See\u202e1.25", "U+202E at character 4"},
		{"\u2067See", "U+2067 at character 1"},
		{"See\u2069", "U+2069 at character 4"},
		{"ים\u202b", "U+202B at character 3"},
		{"a\u206eb", "U+206E"}, {"a\u2028b", "U+2028"}, {"a\ufff9b", "U+FFF9"}, {"a\U000e0001b", "U+E0001"},
		{"See\u200f 1 - 2", "U+200F at character 4"}, {"\u200eSee", "U+200E at character 1"}, {"S\u061cee", "U+061C at character 2"},
		{"\u0301See", "U+0301 at character 1 is a combining mark"}, {"\u0338", "U+0338"}, {"See \u20dd", "U+20DD at character 5"},
		{"\ufe0fSee", "U+FE0F at character 1"}, {"\u0903", "U+0903"}, {"\u200d\u0301a", "U+0301 at character 2"},
		{"e" + strings.Repeat("\u0301", maxMarks+1), "more than 8 combining marks"},
		{"\u200b", "U+200B"}, {"\u200b\u200c\u200d\u2060\ufeff", "no visible character"}, {"\u3164", "U+3164"}, {"\u2800 \u2800", "U+2800"},
		{"\u00ad", "U+00AD"}, {"\u115f\u1160", "U+115F"}, {"\uffa0", "U+FFA0"}, {"\u00a0\u3000", "no visible character"}, {"  ", "no visible character"},
		{"\U0001D159", "U+1D159"}, {"\U000E0041", "U+E0041"}, {"\u200f\u200f", "no visible character"},
	} {
		if err := Check(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "want") {
			t.Errorf("Check(%+q) = %v, want an error with %q and what is allowed", tt.text, err, tt.want)
		}
	}
}

// Every character of Unicode that opens or closes a part with a direction of its own is rejected, and no invisible one is a name.
func TestCheckEveryCharacter(t *testing.T) {
	explicit := []bidi.Class{bidi.LRO, bidi.RLO, bidi.LRE, bidi.RLE, bidi.PDF, bidi.LRI, bidi.RLI, bidi.FSI, bidi.PDI}
	found := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xd800 <= r && r < 0xe000 {
			continue
		}
		p, _ := bidi.LookupRune(r)
		if slices.Contains(explicit, p.Class()) {
			found++
			if Check("See "+string(r)) == nil || Check(string(r)+"ים") == nil {
				t.Errorf("%U is valid", r)
			}
			if strings.ContainsRune(Clean("See "+string(r)), r) {
				t.Errorf("Clean keeps %U", r)
			}
		}
		// Go's own tables: a character that is not graphic, private or unassigned has no picture.
		if (ignorable(r) || unicode.Is(unicode.Z, r) || unicode.Is(unicode.M, r)) && Check(string(r)) == nil {
			t.Errorf("%U alone is a valid name", r)
		}
	}
	if found != len(explicit) {
		t.Errorf("%d characters open or close a part, want %d", found, len(explicit))
	}
}

// display returns the characters of a text in the order in which they are displayed in a line from left to right.
func display(t testing.TB, text string) string {
	t.Helper()
	var p bidi.Paragraph
	if _, err := p.SetString(text, bidi.DefaultDirection(bidi.LeftToRight)); err != nil {
		t.Fatal(err)
	}
	order, err := p.Order()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}

// Whatever the name is, the value after it is displayed as it is. display is an independent implementation of the algorithm.
func TestIsolatedNamesKeepValues(t *testing.T) {
	const value = ": 52.1 / 3 ug"
	mirrored := false
	for _, name := range hostileNames {
		mirrored = mirrored || !strings.HasSuffix(display(t, name+value), value)
		if got := display(t, Isolate(name)+value); !strings.HasSuffix(got, value) {
			t.Errorf("%+q and the value are displayed as %+q", name, got)
		}
	}
	if !mirrored {
		t.Error("no name changes the value without Isolate: the test shows nothing")
	}
}

var hostileNames = []string{
	"See \u202e", "See\u2067", "See\u202e\u2069", "\u2069\u202eSee", "\u202b\u202eSee", "ים", "ים 5", "بحيرة 12", "بحيرة ١٢", "See\u200f", "\u200e\u200f-",
	"See\u2068\u2068\u202e", "ים\u2069 1.25 ", "١٢",
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"Müggelsee": "Müggelsee", "See \u202e1.25\u2069": "See 1.25", "\u0301a": "a", "a\x00\u009bb\nc": "abc", "": "",
		"دریاچه\u200cی": "دریاچه\u200cی", "\u202e\u0301": "",
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%+q) = %+q, want %+q", text, got, want)
		}
	}
	for text, want := range map[string]string{"Müggelsee": "Müggelsee", "ים": "\u2068ים\u2069", "See\u202e": "See", "ים\u2069": "\u2068ים\u2069"} {
		if got := Isolate(text); got != want {
			t.Errorf("Isolate(%+q) = %+q, want %+q", text, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Add("دریاچه\u200cی ارومیه")
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		err := Check(text)
		clean := Clean(text)
		if again := Clean(clean); again != clean {
			t.Errorf("Clean(%+q) = %+q, and again %+q", text, clean, again)
		}
		if strings.ContainsFunc(clean, func(r rune) bool { return unicode.Is(forbidden, r) }) {
			t.Errorf("Clean(%+q) = %+q", text, clean)
		}
		if err == nil && !strings.ContainsFunc(text, unicode.IsControl) && fmt.Sprint([]rune(clean)) != fmt.Sprint([]rune(text)) {
			t.Errorf("%+q is valid, but Clean changes it to %+q", text, clean)
		}
	})
}
