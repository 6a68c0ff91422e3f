package legend

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// The English words are those of colormap and symbol, which describe the same legends to programs.
func TestEnglishIsThatOfPrograms(t *testing.T) {
	w := english(t)
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 12.5, Level2: 62.5}} {
		m := newMap(t, colormap.Default, limits)
		if got, want := w.Legend(m), m.Legend(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the legend is %+v, want %+v", limits.Title, got, want)
		}
		m = colormap.NewForecast(limits)
		if got, want := w.ForecastLegend(m), m.ForecastLegend(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the legend of forecasts is %+v, want %+v", limits.Title, got, want)
		}
	}
	if got := w.SignsOf(symbol.Signs()); !slices.Equal(got, symbol.Signs()) || w.Old != symbol.OldLabel || w.Cluster != symbol.ClusterLabel {
		t.Errorf("the signs are %+v, and old values %q", got, w.Old)
	}
}

// The scale says in each language, at each width and with each profile, that its last colour is of all larger values too.
func TestScaleEndsOpen(t *testing.T) {
	for _, language := range languages(t) {
		w, err := In(language)
		if err != nil {
			t.Fatal(err)
		}
		for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
			m := newMap(t, colormap.Default, limits)
			want := fill(w.OrMore, "from", "100")
			if got := w.Legend(m).MaxLabel; got != want || want == "100" {
				t.Errorf("%s: the last label is %q, want %q", language, got, want)
			}
			for _, width := range []int{MinWidth, 240, 320, 640, MaxWidth} {
				body, err := w.SVG(m, symbol.Look{}, width)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(body), ">"+want+"</text>") {
					t.Errorf("%s, %s, width %d: the scale does not say %q", language, limits.Title, width, want)
				}
			}
		}
	}
}

func TestErrLanguage(t *testing.T) {
	for _, language := range []string{"", "xx", "EN", "../words/en", "en/"} {
		if _, err := In(language); !errors.Is(err, ErrLanguage) {
			t.Errorf("In(%q) = %v, want ErrLanguage", language, err)
		}
	}
}

// The fonts have each letter of each language: a missing one would be drawn as a box.
func TestFontsHaveAllLetters(t *testing.T) {
	f, err := picture.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range languages(t) {
		content, err := files.ReadFile("words/" + language + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(content) {
			for _, letter := range []rune{r, unicode.ToUpper(r)} {
				if letter >= ' ' && !f.Covers(string(letter)) {
					t.Errorf("%s: the fonts have no %q", language, letter)
				}
			}
		}
	}
}

// TestGoldenLanguages compares legends in languages with long words or other letters.
func TestGoldenLanguages(t *testing.T) {
	for _, test := range []struct {
		language string
		look     symbol.Look
		id       colormap.ID
		width    int
	}{
		{"pl", markers(), colormap.Default, 160}, {"pl", markers(), colormap.Default, 640}, {"cs", waters(), colormap.Default, 320},
		{"fr", markers(), colormap.Default, 320}, {"fr", symbol.Look{}, colormap.Forecast, 320}, {"de", markers(), colormap.Default, 240},
		{"da", markers(), colormap.Default, 320}, {"nl", symbol.Look{}, colormap.Default, 200},
	} {
		name := strings.Join([]string{test.language, string(test.id), strconv.Itoa(test.width)}, "_")
		t.Run(name, func(t *testing.T) {
			limits := who2003() // with quotations and translations, which are longest in narrow legends
			if test.width > 320 || test.language == "nl" {
				limits = who2021()
			}
			body, err := wordsIn(t, test.language).PNG(newMap(t, test.id, limits), test.look, test.width, 1)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".png")
			if *update {
				if err := os.WriteFile(file, body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if difference := compare(decode(t, body), decode(t, golden)); difference != "" {
				t.Errorf("%s: %s; -update rewrites it", file, difference)
			}
		})
	}
}

// An SVG says its language to screen readers, in its own words only.
func TestLanguageOfSVG(t *testing.T) {
	for _, language := range languages(t) {
		body, err := wordsIn(t, language).SVG(newMap(t, colormap.Default, who2003()), markers(), 320)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(body), ` lang="`+language+`"`); got == (language == English) {
			t.Errorf("the SVG in %s says its language: %v", language, got)
		}
		if language != English && strings.Contains(string(body), "current value") {
			t.Errorf("the SVG in %s has English words", language)
		}
	}
}
