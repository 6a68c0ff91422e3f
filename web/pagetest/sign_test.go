//go:build long

package pagetest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

const signLogo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 60"><rect width="120" height="60" fill="#124a8a"/><path d="M10 40q12-16 25 0t25 0 25 0 25 0" fill="none" stroke="#fff" stroke-width="6"/></svg>`

// printedSign prints the page that is open and returns its number of sheets, its text and what its QR code says. The sheet is saved as a picture.
func printedSign(t *testing.T, b *browsertest.Browser, name string) (sheets int, text, code string) {
	t.Helper()
	limnomaptest.Need(t, "pdftoppm", "pdftotext", "zbarimg")
	sheet, err := chromedp.Call(b.Ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	pdf := filepath.Join(t.ArtifactDir(), name+".pdf")
	if err := os.WriteFile(pdf, sheet.Data, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(command string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, command, args...).Output()
		if err != nil && command != "zbarimg" { // it fails if there is no code
			t.Fatalf("%s: %v", command, err)
		}
		return string(out)
	}
	picture := strings.TrimSuffix(pdf, ".pdf")
	run("pdftoppm", "-r", "100", "-png", "-singlefile", pdf, picture)
	return bytes.Count(sheet.Data, []byte("/Type /Page\n")), strings.Join(strings.Fields(run("pdftotext", "-layout", pdf, "-")), " "),
		strings.TrimSpace(run("zbarimg", "-q", "--raw", "--nodbus", picture+".png"))
}

// The sign of each sort of lake is one sheet that says the verdict and its day, and its QR code leads to the lake's page. On a screen it has no
// errors, passes axe-core, and fits a phone.
func TestSign(t *testing.T) {
	t.Parallel()
	startStatements(t) // makes the database
	const seen = "https://seen.example.org/wasser"
	base := startServer(t, "--db", statementDatabase.path, "--public-url", seen, "--contact-name", "Gesundheitsamt <Süd>", "--contact-url", "tel:+49301234567",
		"--contact-logo", limnomaptest.WriteFile(t, limnomaptest.Folder(t), "logo.svg", signLogo), "--attribution", "Landesamt für Seen")
	for _, tt := range []struct {
		lake, lang string
		want       []string // in the printed text, in that order
	}{
		{"neben", "en", []string{"Nebensee", "Bayern", "Low risk", "Few algae", "Measured on", "This sheet shows the state of that day", "Look here for today", "seen.example.org/wasser/lakes/neben", "neither scum", "Gesundheitsamt <Süd>", "+49301234567", "Printed on", "Landesamt für Seen"}},
		{"zu_gruen", "de", []string{"Grünsee", "Gesperrt", "bis ", "Hier nicht baden", "Blaualgen · Gesundheitsamt Berlin", "Stand: ", "Hier steht der Stand von heute", "weder Algenteppiche", "Gedruckt am"}},
		{"zu_leer", "en", []string{"Wolkensee", "Closed", "until further notice", "As of"}},
		{"warn", "de", []string{"Warnsee", "Amtliche Warnung", "Geringes Risiko", "rät hier vom Baden ab", "Gemessen am"}},
	} {
		t.Run(tt.lake, func(t *testing.T) {
			t.Parallel()
			b := startBrowser(t, "en-GB")
			b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile), chromedp.Navigate(base+"/lakes/"+tt.lake+"/sign?lang="+tt.lang))
			if wide := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.body.querySelectorAll('*')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > 320).map((e) => e.outerHTML.slice(0, 200))`)); len(wide) > 0 {
				t.Errorf("on a phone of 320 px the sign is wider: %q", wide)
			}
			if scripts := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.scripts.length`)); scripts > 0 {
				t.Errorf("the sign has %d scripts", scripts)
			}
			if missing := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)`)); len(missing) > 0 {
				t.Errorf("pictures are missing: %q", missing)
			}
			for _, scheme := range []string{"light", "dark"} {
				b.Prefer(t, "color-scheme", scheme)
				checkAccess(t, b, scheme)
				savePicture(t, b, tt.lake+"-"+scheme)
			}
			sheets, text, code := printedSign(t, b, tt.lake)
			if want := seen + "/lakes/" + tt.lake; sheets != 1 || code != want {
				t.Errorf("%d sheets, and the QR code says %q, want one and %q", sheets, code, want)
			}
			for _, want := range tt.want {
				_, rest, found := strings.Cut(text, want)
				if !found {
					t.Errorf("the sheet lacks %q, or has it too early: %q", want, text)
					break
				}
				text = rest
			}
			b.WantNoProblems(t, base)
		})
	}
}

// However long the names are, the sign is one sheet with its day, its QR code and its contact.
func TestSignWithLongNames(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "pdftoppm", "pdftotext", "zbarimg")
	dir := t.TempDir()
	db := filepath.Join(dir, "a.db")
	long := func(word string, length int) string {
		return strings.TrimSpace(strings.Repeat(word, length/len([]rune(word))))
	}
	lakes := "id,name,lat,lon,region\n" +
		"words," + long("Llanfairpwllgwyngyll Lake ", 190) + ",52,13," + long("Region ", 190) + "\n" +
		"word," + long("Donaudampfschifffahrt", 190) + ",51,12," + long("x", 190) + "\n" +
		"wide," + long("湖", 190) + ",50,11,日本\n"
	observations := "lake_id,date,chl,data_type\n"
	statements := "id,lake_id,kind,cause,issuer,text_en,text_de,url,issued,valid_from,valid_until,withdrawn\n"
	for i, lake := range []string{"words", "word", "wide"} {
		observations += fmt.Sprintf("%s,%s,80,satellite\n", lake, weekday(0))
		began := time.Now().UTC().Add(-day).Format(time.RFC3339)
		statements += fmt.Sprintf("s%d,%s,warning,cyanobacteria,%s,,,,%s,%s,,\n", i, lake, long("Gesundheitsamt ", 190), began, began)
	}
	limnomaptest.Run(t, "import", "lakes", "--db", db, limnomaptest.WriteFile(t, dir, "lakes.csv", lakes))
	limnomaptest.Run(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, dir, "observations.csv", observations))
	limnomaptest.Run(t, "import", "advisories", "--db", db, limnomaptest.WriteFile(t, dir, "advisories.csv", statements))
	base := startOwnServer(t, "--db", db, "--public-url", "https://"+long("a-long-name.", 180)+"example.org", "--contact-name", long("Landesgesundheitsamt ", 190),
		"--contact-url", "https://example.org/"+long("path/", 300), "--attribution", long("Landesamt ", 300))
	b := startBrowser(t, "de")
	for _, lake := range []string{"words", "word", "wide"} {
		b.Do(t, chromedp.Navigate(base+"/lakes/"+lake+"/sign"))
		sheets, text, code := printedSign(t, b, lake)
		if sheets != 1 || !strings.HasSuffix(code, "/lakes/"+lake) {
			t.Errorf("%s: %d sheets, and the QR code says %q", lake, sheets, code)
		}
		for _, want := range []string{"Amtliche Warnung", "Gemessen am", "Dieses Blatt zeigt den Stand", "weder Algenteppiche", "Landesgesundheitsamt", "example.org/path", "Gedruckt am"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the sheet lacks %q: %q", lake, want, text)
			}
		}
	}
}

// A server that does not know its address prints no QR code: one that leads nowhere would hang for weeks.
func TestSignWithoutAddress(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	b := startBrowser(t, "en")
	b.Do(t, chromedp.Navigate(base+"/lakes/neben/sign"))
	sheets, text, code := printedSign(t, b, "no-address")
	if sheets != 1 || code != "" || strings.Contains(text, "QR code") || strings.Contains(text, "--public-url") || strings.Contains(text, "127.0.0.1") {
		t.Errorf("%d sheets, and the code %q: %q", sheets, code, text)
	}
}

// Badges of each sort of lake, on light and dark pages, load as images of another site's page.
func TestBadges(t *testing.T) {
	t.Parallel()
	base := startStatements(t)
	badges := ""
	lakes := []string{"neben", "zu_gruen", "zu_leer", "warn", "zell"}
	for _, ground := range []string{"#fff", "#000"} {
		badges += `<div style="padding:8px;background:` + ground + `">`
		for _, lake := range lakes {
			badges += `<p><img alt="" src="` + base + "/lakes/" + lake + `/badge.svg?lang=en"> <img alt="" src="` + base + "/lakes/" + lake + `/badge.svg?lang=de"></p>`
		}
		badges += "</div>"
	}
	b := startBrowser(t, "en")
	b.Do(t, chromedp.EmulateViewport(1200, 700), chromedp.Navigate(otherSite(t, badges)),
		browsertest.Until(fmt.Sprintf(`[...document.images].filter((i) => i.complete && i.naturalHeight === 24).length === %d`, 4*len(lakes))))
	savePicture(t, b, "badges")
}

// otherSite serves a page of another site.
func otherSite(t *testing.T, body string) (address string) {
	t.Helper()
	return limnomaptest.Front(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Another site</title>"+body)
		return true
	}, nil)
}
