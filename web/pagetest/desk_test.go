//go:build long

package pagetest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// A person closes a lake by the form, on a phone, with the keyboard only, and opens it again. Each page is valid HTML, passes axe-core and has no script.
func TestDesk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon,region\nmueggelsee,Müggelsee,52.4383,13.6461,Berlin\nstechlin,Stechlinsee,53.15,13.025,Brandenburg\n"), "--db", db)
	key := strings.TrimSpace(limnomaptest.Run(t, "keys", "create", "--name", "Amt", "--scope", "advisories", "--db", db))
	server := limnomaptest.Start(t, "--db", db, "--desk")
	b := startBrowser(t, "en-GB")
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))

	var pages []string
	shown := func(name string) {
		t.Helper()
		if scripts := browsertest.Ask(t, b, chromedp.Evaluate[int](`document.scripts.length`)); scripts > 0 {
			t.Errorf("%s has %d scripts", name, scripts)
		}
		file := filepath.Join(dir, fmt.Sprintf("%02d-%s.html", len(pages), name))
		html := browsertest.Ask(t, b, chromedp.Evaluate[string](`'<!doctype html>\n' + document.documentElement.outerHTML`))
		if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, file)
		if wide := browsertest.Ask(t, b, chromedp.Evaluate[[]string](`[...document.body.querySelectorAll('*')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > 391).map((e) => e.outerHTML.slice(0, 200))`)); len(wide) > 0 {
			t.Errorf("%s is wider than the screen: %q", name, wide)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.Prefer(t, "color-scheme", scheme)
			checkAccess(t, b, name+" "+scheme)
		}
		b.Prefer(t, "color-scheme", "light")
		savePicture(t, b, "desk-"+name)
	}
	// press moves the focus with the tab key to what a selector names, and presses keys there.
	press := func(selector, keys string) {
		t.Helper()
		focused := fmt.Sprintf(`document.activeElement.matches(%q)`, selector)
		for range 60 {
			if browsertest.Ask(t, b, chromedp.Evaluate[bool](focused)) {
				b.Do(t, chromedp.KeyEvent(keys))
				return
			}
			b.Do(t, chromedp.KeyEvent("\t"))
		}
		t.Fatalf("the tab key does not reach %s", selector)
	}
	open := func(heading string) {
		t.Helper()
		b.Do(t, browsertest.Until(fmt.Sprintf(`document.readyState === 'complete' && !!document.querySelector('h1')?.textContent.includes(%q)`, heading)))
	}
	b.Do(t, chromedp.Navigate(server.Admin+"/desk/"))
	open("desk")
	shown("signin")
	press("#key", "wrong\r")
	b.Do(t, browsertest.Until(`!!document.querySelector('.wrong')`))
	shown("wrong-key")
	press("#key", key+"\r")
	b.Do(t, browsertest.Until(`!!document.querySelector('#q')`))
	press("#q", "Mügg\r")
	b.Do(t, browsertest.Until(`!!document.querySelector('#found a')`))
	shown("found")
	press("#found a", "\r")
	open("Müggelsee")
	shown("form")
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#until').value = '2100-12-31'; void 0`)) // the keys of a date depend on the language of the system
	press("#issuer", "Gesundheitsamt Köpenick")
	press("#text_de", "Keine Hunde ins Wasser.")
	press("#close .main", "\r")
	open("Preview")
	browsertest.Want(t, b, `document.querySelectorAll('.previews > section').length`, 2, "languages of the preview")
	browsertest.WantText(t, b, chromedp.Text("main"), "the preview", "Closed until 31 December 2100", "Gesperrt bis 31. Dezember 2100", "Keine Hunde ins Wasser.", "Bathing is forbidden. Gesundheitsamt Köpenick")
	shown("preview")
	press("#confirm .main", "\r")
	open("Müggelsee")
	browsertest.WantText(t, b, chromedp.Text("main"), "the page", "The lake is closed.", "Closed until 31 December 2100", "Blue-green algae", "Gesundheitsamt Köpenick")
	shown("closed")
	limnomaptest.Within(t, 2*time.Minute, "the public page says so", func() bool {
		resp, body := limnomaptest.Get(t, server.Base+"/lakes/mueggelsee")
		return resp.StatusCode == http.StatusOK && strings.Contains(string(body), "Gesundheitsamt Köpenick")
	})
	press(".closure button", "\r")
	open("Preview")
	shown("reopen")
	press("#confirm .main", "\r")
	open("Müggelsee")
	browsertest.WantText(t, b, chromedp.Text("main"), "the page", "The closure is over.")
	press(`a[href="log"]`, "\r")
	open("Who did what")
	browsertest.Want(t, b, `document.querySelectorAll('tbody tr').length`, 2, "decisions in the log")
	shown("log")
	press("header button", "\r")
	b.Do(t, browsertest.Until(`!!document.querySelector('#key')`))
	b.WantNoProblems(t, server.Admin, "401 (Unauthorized)") // of the wrong key

	web := filepath.Join("..", "..", "web")
	validate := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(web, "node_modules", "html-validate", "bin", "html-validate.mjs"),
		"--config", filepath.Join(web, ".htmlvalidate.json")}, pages...)...)
	if report, err := validate.CombinedOutput(); err != nil {
		t.Errorf("html-validate (make web installs it): %v\n%s", err, report)
	}
}
