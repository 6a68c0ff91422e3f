//go:build long

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

var originDatabase database

// longName is as long as a name may be. It is markup, without a space to break the line at.
var longName = "<b>" + strings.Repeat("Gewässeruntersuchung", 9) + "</b>" + strings.Repeat("x", 13)

// startOriginServer serves lakes whose values are from products and laboratories.
func startOriginServer(t *testing.T, args ...string) string {
	t.Helper()
	const lakes = `id,name,lat,lon,region
de_o_product,Satellitensee,52.4,13.6,Berlin
de_o_sample,Probensee,53.1,13.0,Brandenburg
de_o_below,Klarsee,52.9,14.1,Brandenburg
de_o_doubtful,Wolkensee,52.8,14.0,Brandenburg
de_o_plain,Schlichtsee,52.7,13.2,Brandenburg
de_o_long,Langsee,52.6,13.4,Brandenburg
`
	var rows strings.Builder
	rows.WriteString("lake_id,date,chl,data_type,source,method,n_valid,n_total,chl_lower,chl_upper,below_limit,quality\n")
	row := func(lake string, week int, values string) {
		fmt.Fprintf(&rows, "%s,%s,%s\n", lake, weekday(week), values)
	}
	const method = `"median of pixels wholly inside the outline, 2 pixels from the shore"`
	row("de_o_product", -1, "30,satellite,EPA CyAN V6,"+method+",7,60,20,40,,")
	row("de_o_product", 0, "12,satellite,Copernicus LWQ300,"+method+",42,60,9,15,,good")
	row("de_o_sample", 0, "5.2,in_situ,Landeslabor Berlin,DIN 38409-60,,,,,,good")
	row("de_o_below", 0, "<3.1,satellite,EPA CyAN V6,median of pixels with their centre inside the outline,1,,,,,")
	row("de_o_doubtful", 0, "60,satellite,NOAA CI,,4,30,,,,suspect")
	row("de_o_plain", 0, "8,satellite,,,,,,,,")
	row("de_o_long", 0, fmt.Sprintf("8,satellite,%[1]s,%[1]s,1234567,2345678,1.25,1234.56,,suspect", longName))
	return startServer(t, append(args, "--db", originDatabase.importedOnce(t, lakes, rows.String()))...)
}

const (
	valueText  = `(document.querySelector('#card article > details').open = true, document.querySelector('#card [data-fact=chlorophyll]').innerText)`
	originText = `(document.querySelector('#card article > details').open = true, document.querySelector('#card .origin').innerText)`
	// tipText describes the entry that the chart shows: that of the card's value.
	tipText = `document.querySelector('#card .tip').innerText`
)

// The card says which product or laboratory its value is from, and how sure it is, for the value of the week that is shown.
func TestPageCardSaysWhereTheValueIsFrom(t *testing.T) {
	t.Parallel()
	base := startOriginServer(t)
	for language, cases := range map[string][]struct {
		hash  string
		value string
		wants []string
		never []string
	}{
		"en-GB": {
			{"de_o_product", "12\u00a0µg/l, probably 9 to 15", []string{"Where this value is from", "Copernicus LWQ300", "42 of 60 pixels", "median of the pixels wholly inside the lake, 2 pixels from the shore"}, []string{"CyAN", "Quality"}},
			{"de_o_product&date=" + weekday(-1), "30\u00a0µg/l, probably 20 to 40", []string{"EPA CyAN V6", "7 of 60 pixels"}, []string{"LWQ"}},
			{"de_o_sample", "5.2\u00a0µg/l", []string{"Where this value is from", "Landeslabor Berlin", "DIN 38409-60"}, []string{"pixel", "Quality"}},
			{"de_o_below", "< 3.1\u00a0µg/l, below detection", []string{"EPA CyAN V6", "1 pixel", "median of the pixels whose centre is inside the lake"}, []string{"1 pixels"}},
			{"de_o_doubtful", "60\u00a0µg/l", []string{"NOAA CI", "4 of 30 pixels", "doubtful"}, []string{"Method"}},
			{"de_o_long", "8\u00a0µg/l, probably 1.3 to 1,200", []string{longName, "1,234,567 of 2,345,678 pixels", "doubtful"}, nil},
		},
		"de": {
			{"de_o_product", "12\u00a0µg/l, vermutlich 9 bis 15", []string{"Woher dieser Wert stammt", "Copernicus LWQ300", "42 von 60 Pixeln", "Median der Pixel ganz im See, 2 Pixel vom Ufer entfernt"}, nil},
			{"de_o_below", "< 3,1\u00a0µg/l, unter der Nachweisgrenze", []string{"1 Pixel", "Median der Pixel mit der Mitte im See"}, nil},
			{"de_o_doubtful", "60\u00a0µg/l", []string{"fraglich"}, nil},
		},
	} {
		b := openPage(t, language, base+"/", browsertest.Until(heatDrawn))
		for _, test := range cases {
			b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=%s'`, test.hash)), browsertest.Until(fmt.Sprintf("%s === %q", valueText, test.value)), browsertest.Until(chartDrawn))
			origin := browsertest.Ask(t, b, chromedp.Evaluate[string](originText))
			for _, want := range test.wants {
				if !strings.Contains(origin, want) {
					t.Errorf("%s, %s: the card says %q, want %q in it", language, test.hash, origin, want)
				}
			}
			for _, no := range test.never {
				if strings.Contains(origin, no) {
					t.Errorf("%s, %s: the card says %q, want no %q in it", language, test.hash, origin, no)
				}
			}
		}
		// Nothing is shown about a value of which nothing is known.
		b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_o_plain'`), says("Schlichtsee"), browsertest.Until(chartDrawn))
		browsertest.Expect(t, b, `document.querySelector('#card .origin').checkVisibility()`, false, "%s: a bare value is said to be from somewhere", language)
		browsertest.WantText(t, b, chromedp.Evaluate[string](tipText), fmt.Sprintf("%s: the chart describes", language), "8\u00a0µg/l")
		wantNoProblems(t, b, base)
	}
}

// On a phone, in each look, nothing is cut off, however long the names are, and axe-core finds nothing. Printed, the card says the same.
func TestPageCardOriginOnAPhone(t *testing.T) {
	t.Parallel()
	base := startOriginServer(t)
	emulate := func(b *browsertest.Browser, media string, feature emulation.MediaFeature) {
		t.Helper()
		params := emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{&feature}}
		browsertest.Enable(t, b, emulation.SetEmulatedMedia, params)
	}
	for _, look := range []emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: "light"}, {Name: "prefers-color-scheme", Value: "dark"}, {Name: "forced-colors", Value: "active"},
	} {
		b := startBrowser(t, "de")
		emulate(b, "", look)
		b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile),
			chromedp.Navigate(base+"/#lake=de_o_product"), says("Copernicus LWQ300"), browsertest.Until(chartDrawn))
		for _, lake := range []string{"de_o_product", "de_o_long", "de_o_sample", "de_o_plain"} {
			b.Do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = 'lake=%s'`, lake)), browsertest.Until(chartDrawn))
			checkAccess(t, b, look.Value+" "+lake)
			wantNothingCutOff(t, b, look.Value+" "+lake)
			savePicture(t, b, "origin-"+look.Value+"-"+lake)
		}
		if look.Value == "light" {
			b.Do(t, chromedp.Evaluate[chromedp.Void](`location.hash = 'lake=de_o_product'`), says("LWQ300"))
			emulate(b, "print", look)
			browsertest.WantText(t, b, chromedp.Evaluate[string](originText), "printed, the card says", "42 von 60 Pixeln")
		}
		wantNoProblems(t, b, base)
	}
}
