package pagetest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/push/pushtest"
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
	b := startBrowser(t, "en")
	b.Do(t, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(base+"/#lake=de_be_langer_see"), browsertest.Until(`document.querySelector('`+starOnCard+`') !== null`))
	if label := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.querySelector('`+starOnCard+`').ariaLabel`)); label != "Favourite: Langer See" {
		t.Errorf("the star is called %q", label)
	}
	b.Do(t, chromedp.Click(starOnCard), browsertest.Until(favourites+` === 'de_be_langer_see' && document.querySelector('`+starOnCard+`').ariaPressed === 'true'`))
	b.Do(t, browsertest.Until(starsInList+`.find((b) => b.dataset.star === 'de_be_langer_see')?.textContent === '★'`))
	// The star in the list opens no card, and the name beside it still does.
	other := browsertest.Ask(t, b, chromedp.Evaluate[string](starsInList+`.find((b) => b.dataset.star !== 'de_be_langer_see').dataset.star`))
	b.Do(t, chromedp.Evaluate[chromedp.Void](starsInList+`.find((b) => b.dataset.star === '`+other+`').click()`), browsertest.Until(favourites+` === 'de_be_langer_see,`+other+`'`))
	if hash := browsertest.Ask(t, b, chromedp.Evaluate[string](`location.hash`)); !strings.Contains(hash, "lake=de_be_langer_see") {
		t.Errorf("the star of another lake leads to %s", hash)
	}
	if label := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.getElementById('favourites-open').ariaLabel`)); label != "Favourite lakes: 2" {
		t.Errorf("the button of the favourites is called %q", label)
	}
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
	if label := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.getElementById('favourites-open').ariaLabel`)); label != "Lieblingsseen: 2" {
		t.Errorf("in German the button is called %q", label)
	}

	// Whoever opens the link is asked.
	friend := startBrowser(t, "en")
	friend.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(link),
		browsertest.Until(`document.getElementById('favourites')?.open === true`))
	if n := browsertest.Ask(t, friend, chromedp.Evaluate[string](favourites)); n != "" {
		t.Errorf("the link alone made %s favourites", n)
	}
	friend.Do(t, chromedp.Click(`#favourites .offer button`), browsertest.Until(favourites+` === 'de_be_langer_see,`+other+`'`))
	savePicture(t, friend, "favourites-phone")
	friend.WantNoProblems(t, base)
}

// A pushService is a push service with one browser.
type pushService struct {
	*httptest.Server
	browser *pushtest.Browser

	mu     sync.Mutex
	status int
	got    []string
}

func (s *pushService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	text, err2 := s.browser.Decrypt(body)
	if err != nil || err2 != nil {
		text = fmt.Append(nil, err, err2)
	}
	s.got = append(s.got, string(text))
	w.WriteHeader(http.StatusCreated)
}

func (s *pushService) messages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// A reader subscribes on the page. What changes goes encrypted to a push service, and the service worker shows what comes from there, in the
// reader's language. When the reader stops, or the push service says that the browser is gone, the server forgets it.
//
// The push service of Chromium is Google's, and cannot be reached here: the page gets a subscription of the test's service in its place, and what
// that service gets is passed on to the service worker as Chromium would.
func TestPageNotifications(t *testing.T) {
	t.Parallel()
	service := &pushService{browser: pushtest.NewBrowser(t)}
	service.Server = httptest.NewTLSServer(service)
	defer service.Close()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	observations := func(a string) string {
		return "lake_id,date,chl,data_type\na,2026-07-06," + a + ",satellite\nb,2026-07-06,5,satellite\n"
	}
	importCSV(t, db, "id,name,lat,lon\na,Größer See,48,11.5\nb,Klarer See,48.5,12\n", observations("5"))
	key := strings.TrimSpace(limnomaptest.Run(t, "push", "keys"))
	roots := limnomaptest.WriteFile(t, dir, "roots.pem", certificateOf(service.Server))
	needPage(t)
	s := limnomaptest.LaunchWithEnv(t, []string{"SSL_CERT_FILE=" + roots, "LIMNOMAP_PUSH_KEY=" + key}, "--db", db, "--push-contact", "mailto:lakes@example.org", "--hooks-allow", "127.0.0.0/8", "--push-services", "127.0.0.1")
	s.AwaitReady(t)
	base := s.Base
	limnomaptest.Within(t, time.Minute, "the log begins", func() bool { return strings.Contains(s.Log.String(), "log of events written") })

	b := startBrowser(t, "de")
	var mu sync.Mutex
	var registration serviceworker.RegistrationID
	if err := chromedp.Listen(b.Ctx, func(event any) {
		if e, ok := event.(*serviceworker.EventWorkerRegistrationUpdated); ok {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range e.Registrations {
				if strings.HasPrefix(r.ScopeURL, base) {
					registration = r.RegistrationID
				}
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	browsertest.Enable(t, b, serviceworker.Enable, cdp.Empty{})
	permission := cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: cdpbrowser.PermissionSettingGranted, Origin: base,
		BrowserContextID: chromedp.FromContext(b.Ctx).BrowserContextID}
	if _, err := chromedp.Call(b.Ctx, cdpbrowser.SetPermission, permission); err != nil {
		t.Fatal(err)
	}
	stub := fmt.Sprintf(`(() => {
		let subscription = null;
		PushManager.prototype.getSubscription = async () => subscription;
		PushManager.prototype.subscribe = async (options) => subscription ??= {
			options: {applicationServerKey: options.applicationServerKey.buffer},
			unsubscribe: async () => { subscription = null; return true },
			toJSON: () => ({endpoint: %q, expirationTime: null, keys: {p256dh: %q, auth: %q}}),
		};
	})()`, service.URL+"/one", service.browser.P256dh(), service.browser.Auth())
	b.Do(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(base+"/#lake=a"),
		browsertest.Until(`document.querySelector('`+starOnCard+`') !== null && navigator.serviceWorker.controller !== null`), chromedp.Evaluate[chromedp.Void](stub))
	savePicture(t, b, "star-phone")
	b.Do(t, chromedp.Click(starOnCard), chromedp.Evaluate[chromedp.Void](`document.getElementById('favourites-open').click()`),
		browsertest.Until(`document.getElementById('favourites').open`), chromedp.Evaluate[chromedp.Void](`document.querySelector('#favourites details').open = true`))
	for _, want := range []string{"Bei Änderungen benachrichtigen", "13 Monate", "Zwischen 22 und 7 Uhr", "Nur Badeverbote"} {
		if text := browsertest.Ask(t, b, chromedp.Evaluate[string](`document.getElementById('favourites').innerText`)); !strings.Contains(text, want) {
			t.Errorf("the dialog lacks %q: %s", want, text)
		}
	}
	b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#favourites details').scrollIntoView({block: 'end'})`))
	savePicture(t, b, "subscribing-phone")
	b.Do(t, chromedp.Click(`#favourites [type=submit]`), browsertest.Until(`document.querySelector('#favourites [role=status]').textContent === 'Mitteilungen sind eingeschaltet.'`))

	change := func(chl string) {
		t.Helper()
		limnomaptest.Run(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, dir, "change.csv", observations(chl)))
	}
	change("61.25")
	var text string
	if hour := time.Now().Hour(); hour < 21 && hour >= 8 { // by the clock of this machine, whose zone the browser has
		limnomaptest.Within(t, time.Minute, "the push service has the message", func() bool { return len(service.messages()) == 1 })
		text = service.messages()[0]
	} else {
		t.Log("at night nothing is told: the message is made by the test")
		text = `{"lakes":[{"id":"a","name":"Größer See","kind":"class_up","before":0,"after":2,"chl":61.25,"measured_at":"2026-07-06T12:00:00Z","measured_by":"satellite"}]}`
	}
	deliver := func(text string) {
		t.Helper()
		mu.Lock()
		params := serviceworker.DeliverPushMessageParams{Origin: base, RegistrationID: registration, Data: text}
		mu.Unlock()
		if _, err := chromedp.Call(b.Ctx, serviceworker.DeliverPushMessage, params); err != nil {
			t.Fatal(err)
		}
	}
	deliver(text)
	shown := func() (all []struct{ Title, Body, Tag, Lang, Data string }) {
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
	limnomaptest.Within(t, time.Minute, "the notification is shown", func() bool { return len(shown()) == 1 })
	if n := shown()[0]; n.Title != "Größer See" || n.Tag != "lake a" || n.Lang != "de" || n.Data != "a" ||
		!strings.HasPrefix(n.Body, "Risiko gestiegen: gering → hoch. 61,3 µg/l Chlorophyll-a, gemessen am 6. Juli, Satellit.") {
		t.Errorf("the notification is %+v", n)
	}
	// A later one about the same lake replaces it.
	deliver(`{"lakes":[{"id":"a","name":"Größer See","kind":"became_stale","before":2,"after":null,"chl":null,"measured_at":"2026-07-06T12:00:00Z","measured_by":"satellite"}]}`)
	limnomaptest.Within(t, time.Minute, "the notification is replaced", func() bool { all := shown(); return len(all) == 1 && strings.Contains(all[0].Body, "keine Entwarnung") })

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
	sent := len(service.messages())
	change("5")
	limnomaptest.Within(t, time.Minute, "the log has the change", func() bool {
		var page struct{ Newest int64 }
		limnomaptest.GetJSON(t, base+"/api/v1/events", &page)
		return page.Newest == 2
	})
	if n := len(service.messages()); n != sent {
		t.Errorf("%d messages after the reader stopped", n-sent)
	}
	b.WantNoProblems(t, base)
}

// certificateOf returns the certificate of a server as PEM.
func certificateOf(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}
