//go:build long

package pagetest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

const (
	starOnCard  = `#card .head .star`
	starsInList = `[...document.querySelectorAll('#find .star')]`
	favourites  = `JSON.parse(localStorage['limnomap-favourites'] ?? '[]').map((lake) => lake.id).join()`
)

// The star makes a lake a favourite, on the card and in the list, and the dialog shows them. A link brings them to another browser.
func TestPageFavourites(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := openPage(t, "en", base+"/#lake=de_be_langer_see", browsertest.Until(`document.querySelector('`+starOnCard+`') !== null`))
	browsertest.Want(t, b, `document.querySelector('`+starOnCard+`').ariaLabel`, "Favourite: Langer See", "the star is called")
	b.Do(t, chromedp.Click(starOnCard), browsertest.Until(favourites+` === 'de_be_langer_see' && document.querySelector('`+starOnCard+`').ariaPressed === 'true'`))
	b.Do(t, browsertest.Until(starsInList+`.find((b) => b.dataset.star === 'de_be_langer_see')?.textContent === '★'`))
	// The star in the list opens no card, and the name beside it still does.
	other := browsertest.Ask(t, b, chromedp.Evaluate[string](starsInList+`.find((b) => b.dataset.star !== 'de_be_langer_see').dataset.star`))
	b.Do(t, chromedp.Evaluate[chromedp.Void](starsInList+`.find((b) => b.dataset.star === '`+other+`').click()`), browsertest.Until(favourites+` === 'de_be_langer_see,`+other+`'`))
	browsertest.WantText(t, b, chromedp.Evaluate[string](`location.hash`), "the star of another lake leads to", "lake=de_be_langer_see")
	browsertest.Want(t, b, `document.getElementById('favourites-open').ariaLabel`, "Favourite lakes: 2", "the button of the favourites is called")
	b.Do(t, chromedp.Click(`#card [name=close]`), chromedp.Click(`#favourites-open`), browsertest.Until(`document.getElementById('favourites').open`))
	text := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.getElementById('favourites').innerText`))
	if !strings.Contains(text, "Langer See") || !strings.Contains(text, "risk") || strings.Contains(text, "Tell me") {
		t.Errorf("the dialog of a server without notifications says %q", text)
	}
	link := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('#favourites input').value`))
	if want := base + "/?favourites=de_be_langer_see," + other; link != want {
		t.Errorf("the link is %s, want %s", link, want)
	}
	b.Do(t, chromedp.Click(`#favourites li:last-child > button:first-child`), browsertest.Until(`!document.getElementById('favourites').open && location.hash.includes('lake=`+other+`')`))
	b.WantNoProblems(t, base)

	// They are there again after a reload, also without the server's script for the card.
	b.Do(t, chromedp.Navigate(base+"/?lang=de"), browsertest.Until(heatDrawn), chromedp.Evaluate[chromedp.Void](`dispatchEvent(new PointerEvent('pointermove'))`),
		browsertest.Until(`document.getElementById('favourites-open')?.textContent === '★ 2'`))
	browsertest.Want(t, b, `document.getElementById('favourites-open').ariaLabel`, "Lieblingsseen: 2", "in German the button is called")

	// Whoever opens the link is asked.
	friend := startBrowser(t, "en")
	friend.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(link),
		browsertest.Until(`document.getElementById('favourites')?.open === true`))
	browsertest.Want(t, friend, favourites, "", "the link alone made")
	friend.Do(t, chromedp.Click(`#favourites .offer button`), browsertest.Until(favourites+` === 'de_be_langer_see,`+other+`'`))
	savePicture(t, friend, "favourites-phone")
	friend.WantNoProblems(t, base)
}

// A reader subscribes on the page, in a real Chromium. What changes goes encrypted from the server to a push service, from there to Chromium, and the
// service worker shows it in the reader's language. A tap opens the lake. When the reader stops, the server forgets it.
func TestPageNotifications(t *testing.T) {
	t.Parallel()
	needPage(t)
	service := newPushService(t)
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	observations := func(a string) string {
		return "lake_id,date,chl,data_type\na," + weekday(0) + "," + a + ",satellite\nb," + weekday(0) + ",5,satellite\n"
	}
	importCSV(t, db, "id,name,lat,lon\na,Größer See,48,11.5\nb,Klarer See,48.5,12\n", observations("5"))
	key := strings.TrimSpace(limnomaptest.Run(t, "push", "keys"))
	roots := limnomaptest.WriteFile(t, dir, "roots.pem", certificateOf(service.endpoints))
	s := limnomaptest.LaunchWithEnv(t, []string{"SSL_CERT_FILE=" + roots, "LIMNOMAP_PUSH_KEY=" + key}, "--db", db, "--push-contact", "mailto:lakes@example.org", "--hooks-allow", "127.0.0.0/8", "--push-services", strings.TrimPrefix(service.endpoints.URL, "https://"))
	s.AwaitReady(t)
	base := s.Base
	limnomaptest.Within(t, 2*time.Minute, "the log begins", func() bool { return strings.Contains(s.Log.String(), "log of events written") })

	// In the reader's time zone it is noon: at night only closures are told.
	b := browsertest.Start(t, "de", append(service.flags(), chromedp.Env("TZ="+zoneOfNoon(time.Now())))...)
	permission := cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: cdpbrowser.PermissionSettingGranted, Origin: base}
	if _, err := chromedp.Call(b.Ctx, cdpbrowser.SetPermission, permission); err != nil {
		t.Fatal(err)
	}
	// Chromium gives its push service an address at Google. The test's has another one.
	address := fmt.Sprintf(`(() => {
		const toJSON = PushSubscription.prototype.toJSON;
		PushSubscription.prototype.toJSON = function () {
			const json = toJSON.call(this);
			return {...json, endpoint: json.endpoint.replace(/^https:\/\/[\w.]+\.google(apis)?\.com/, %q)};
		};
	})()`, service.endpoints.URL)
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(base+"/#lake=a"),
		browsertest.Until(`document.querySelector('`+starOnCard+`') !== null && navigator.serviceWorker.controller !== null`), chromedp.Evaluate[chromedp.Void](address))
	savePicture(t, b, "star-phone")
	b.Do(t, chromedp.Click(starOnCard), chromedp.Evaluate[chromedp.Void](`document.getElementById('favourites-open').click()`),
		browsertest.Until(`document.getElementById('favourites').open`), chromedp.Evaluate[chromedp.Void](`document.querySelector('#favourites details').open = true`))
	for _, want := range []string{"Bei Änderungen benachrichtigen", "13 Monate", "Zwischen 22 und 7 Uhr", "Nur Badeverbote"} {
		browsertest.WantText(t, b, chromedp.Evaluate[string](`document.getElementById('favourites').innerText`), fmt.Sprintf("the dialog lacks %q", want), want)
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#favourites details').scrollIntoView({block: 'end'})`))
	savePicture(t, b, "subscribing-phone")
	b.Do(t, chromedp.Click(`#favourites [type=submit]`), browsertest.Until(`document.querySelector('#favourites [role=status]').textContent === 'Mitteilungen sind eingeschaltet.'`))

	change := func(chl string) {
		t.Helper()
		limnomaptest.Run(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, dir, "change.csv", observations(chl)))
	}
	type notification struct{ Title, Body, Tag, Lang, Data string }
	shown := func() (all []notification) {
		t.Helper()
		b.Do(t, chromedp.Evaluate[chromedp.Void](`navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) => {
			window.shown = JSON.stringify(all.map(({title, body, tag, lang, data}) => ({title, body, tag, lang, data})));
		}); 0`), browsertest.Until(`Boolean(window.shown)`))
		if err := json.Unmarshal([]byte(browsertest.Ask(t, b, chromedp.Evaluate[string](`window.shown`))), &all); err != nil {
			t.Fatal(err)
		}
		b.Do(t, chromedp.Evaluate[chromedp.Void](`delete window.shown; 0`))
		return all
	}
	await := func(what string, cond func(all []notification) bool) {
		t.Helper()
		limnomaptest.Within(t, 2*time.Minute, what, func() bool { return cond(shown()) })
	}
	change("61.25")
	await("a notification is shown", func(all []notification) bool { return len(all) == 1 })
	want := notification{"Größer See", "Nicht baden. Risiko gestiegen: gering → hoch. 61\u00a0µg/l Chlorophyll-a, gemessen am " + germanDay(t, weekday(0)) + ", Satellit.", "lake a", "de", "a"}
	if n := shown()[0]; n != want {
		t.Errorf("the notification is %+v, want %+v", n, want)
	}
	// A later one about the same replaces it; an official statement is shown beside it.
	change("12")
	await("the notification is replaced", func(all []notification) bool {
		return len(all) == 1 && strings.HasPrefix(all[0].Body, "Vorsichtig baden, kleine Kinder nicht. Risiko gefallen: hoch → mittel. 12\u00a0µg/l")
	})
	issued := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	limnomaptest.Run(t, "import", "advisories", "--db", db, limnomaptest.WriteFile(t, dir, "statements.csv",
		"id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\ns,a,closure,cyanobacteria,Amt für Gewässer,"+issued+","+issued+",2099-08-01T00:00:00Z\n"))
	await("the closure is shown", func(all []notification) bool { return len(all) == 2 })
	for _, n := range shown() {
		if n.Tag != "lake a" && (n.Tag != "statement s" || n.Body != "Gesperrt: nicht baden. Baden verboten. Amt für Gewässer, bis 31. Juli." || n.Data != "a") {
			t.Errorf("the notification is %+v", n)
		}
	}

	// A tap opens the lake, also on a page that nobody has touched.
	b.Do(t, chromedp.Click(`#favourites > button:last-child`), chromedp.Navigate(base+"/"), browsertest.Until(heatDrawn))
	if _, err := chromedp.Call(b.Worker(t, base), runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: new(true), Expression: `self.registration.getNotifications()
		.then(([notification]) => { self.dispatchEvent(new NotificationEvent('notificationclick', {notification})) })`}); err != nil {
		t.Fatal(err)
	}
	b.Do(t, browsertest.Until(`location.hash.includes('lake=a') && document.querySelector('#card h2')?.textContent.includes('Größer See')`))

	// The reader stops: the server has nothing left, and nothing is sent.
	b.Do(t, chromedp.Evaluate[chromedp.Void](`dispatchEvent(new PointerEvent('pointermove'))`), browsertest.Until(`document.getElementById('favourites-open') !== null`),
		chromedp.Evaluate[chromedp.Void](`document.getElementById('favourites-open').click()`), browsertest.Until(`document.getElementById('favourites').open`),
		chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#favourites form button')].find((b) => b.textContent === 'Beenden').click()`),
		browsertest.Until(`document.querySelector('#favourites [role=status]').textContent.startsWith('Mitteilungen sind ausgeschaltet')`))
	sent := service.count()
	change("61.25")
	limnomaptest.Within(t, 2*time.Minute, "the log has the change", func() bool {
		var page struct{ Newest int64 }
		limnomaptest.GetJSON(t, base+"/api/v1/events", &page)
		return page.Newest == 4
	})
	if n := service.count(); n != sent || sent != 3 {
		t.Errorf("%d messages, and %d after the reader stopped, want 3", sent, n-sent)
	}
	b.WantNoProblems(t, base)
}

// zoneOfNoon returns a time zone in which it is between 12 and 13 o'clock.
func zoneOfNoon(now time.Time) string {
	east := 12 - now.UTC().Hour() // -11 to 12
	return fmt.Sprintf("Etc/GMT%+d", -east)
}

// certificateOf returns the certificate of a server as PEM.
func certificateOf(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// germanDay returns a date without its year as German texts have it.
func germanDay(t *testing.T, date string) string {
	t.Helper()
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	months := strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
	return fmt.Sprintf("%d. %s", day.Day(), months[day.Month()-1])
}
