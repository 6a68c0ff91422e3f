package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/apikey"
)

// fakeStatements are statements in memory.
type fakeStatements struct {
	stored    []data.Advisory
	decisions []data.Decided // the newest first
	err       error
}

func (f *fakeStatements) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return f.stored, data.Revision{}, f.err
}

func (f *fakeStatements) Plan(d data.Decision, stored []data.Advisory) ([]data.StatementChange, error) {
	changes, err := d.Apply(stored)
	for i := range changes {
		if err == nil {
			err = changes[i].After.CheckImport()
		}
	}
	return changes, err
}

func (f *fakeStatements) Decide(_ context.Context, d data.Decision, by string) ([]data.StatementChange, error) {
	changes, err := d.Apply(f.stored)
	if err != nil || len(changes) == 0 || f.err != nil {
		return nil, errors.Join(err, f.err)
	}
	for _, c := range changes {
		if c.Before != nil {
			for i := range f.stored {
				if f.stored[i].ID == c.After.ID {
					f.stored[i] = c.After
				}
			}
		} else {
			f.stored = append(f.stored, c.After)
		}
	}
	f.decisions = append([]data.Decided{{Number: int64(len(f.decisions) + 1), At: d.At, By: by, Changes: changes}}, f.decisions...)
	return changes, nil
}

func (f *fakeStatements) Decisions(_ context.Context, before int64, limit int) (all []data.Decided, err error) {
	for _, d := range f.decisions {
		if (before == 0 || d.Number < before) && len(all) < limit {
			all = append(all, d)
		}
	}
	return all, f.err
}

// A deskTest is a desk with a clock, and the browser of a person.
type deskTest struct {
	*testing.T
	statements *fakeStatements
	keys       *fakeKeys
	server     *Server
	admin      http.Handler
	now        time.Time
	deskBrowser
}

// A deskBrowser has a cookie, and the token of the last page with a form.
type deskBrowser struct{ cookie, token string }

const (
	deskKey   = "limnomap_desk"
	secondKey = "limnomap_second"
)

func newDeskTest(t *testing.T, change ...func(*Options)) *deskTest {
	d := &deskTest{T: t, statements: &fakeStatements{}, now: testNow()}
	d.keys = &fakeKeys{keys: []apikey.Key{
		{Name: "amt", Hash: apikey.HashOf(deskKey), Scopes: apikey.ScopeAdvisories, ExpiresAt: d.now.Add(time.Hour)},
		{Name: "other", Hash: apikey.HashOf(secondKey), Scopes: apikey.ScopeAdvisories | apikey.ScopeMonitor},
		{Name: "monitor", Hash: apikey.HashOf("limnomap_monitor"), Scopes: apikey.ScopeMonitor},
		{Name: "expired", Hash: apikey.HashOf("limnomap_expired"), Scopes: apikey.ScopeAdvisories, ExpiresAt: d.now},
		{Name: "revoked", Hash: apikey.HashOf("limnomap_revoked"), Scopes: apikey.ScopeAdvisories, RevokedAt: d.now},
	}}
	opts := testOptions(t)
	opts.Desk, opts.Keys, opts.Now, opts.SeparateAdmin = d.statements, d.keys, func() time.Time { return d.now }, true
	for _, f := range change {
		f(&opts)
	}
	d.server = newServer(t, opts, testSource(t))
	d.admin = d.server.AdminHandler()
	return d
}

var tokenPattern = regexp.MustCompile(`name="token" value="([^"]+)"`)

// send sends a request as a browser does. A form, if it is not nil, has the token of the page before.
func (d *deskTest) send(method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	d.Helper()
	var body string
	if form != nil {
		if !form.Has("token") {
			form.Set("token", d.token)
		}
		body = form.Encode()
	}
	r := httptest.NewRequest(method, "/desk/"+path, strings.NewReader(body))
	r.Host = "127.0.0.1"
	if form == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html")
	if d.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "limnomap_desk", Value: d.cookie})
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.admin.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		d.cookie = c.Value
	}
	if m := tokenPattern.FindStringSubmatch(w.Body.String()); m != nil {
		d.token = m[1]
	}
	return w
}

// want sends a request, and wants an answer with that status and text.
func (d *deskTest) want(status int, text, method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	d.Helper()
	w := d.send(method, path, form, headers...)
	if w.Code != status || !strings.Contains(w.Body.String()+w.Header().Get("Location"), text) {
		d.Errorf("%s %s = %d, want %d with %q: %s %s", method, path, w.Code, status, text, w.Header().Get("Location"), startOf(w))
	}
	if w.Header().Get("Cache-Control") != "no-store" && !strings.HasSuffix(path, ".css") || strings.Contains(w.Header().Get("Content-Security-Policy"), "unsafe") || strings.Contains(w.Body.String(), "<script") {
		d.Errorf("%s %s has the header %v", method, path, w.Header())
	}
	return w
}

func mainOf(w *httptest.ResponseRecorder) string {
	_, text, _ := strings.Cut(w.Body.String(), "<main>")
	return strings.Join(strings.Fields(text), " ")
}

// startOf is the beginning of mainOf, for messages.
func startOf(w *httptest.ResponseRecorder) string {
	text := mainOf(w)
	return text[:min(len(text), 300)]
}

// signIn signs in, and opens a page with a form.
func (d *deskTest) signIn(key string) {
	d.Helper()
	d.cookie = ""
	d.want(http.StatusSeeOther, "./?signed-in", http.MethodPost, "signin", url.Values{"key": {key}})
	d.want(http.StatusOK, "Signed in", http.MethodGet, "", nil)
}

func closeForm() url.Values {
	return url.Values{"lake": {"a"}, "action": {"close"}, "until": {"2026-12-01"}, "cause": {"bacteria"}, "issuer": {"Amt <Süd>"}, "text_de": {"Nicht baden.\r\nHeute."}, "text_en": {""}, "url": {""}}
}

var hiddenPattern = regexp.MustCompile(`name="(at|seen)" value="([^"]*)"`)

// previewed adds to a form what its preview has.
func (d *deskTest) previewed(form url.Values) url.Values {
	d.Helper()
	form.Del("token")
	w := d.want(http.StatusOK, `action="confirm"`, http.MethodPost, "preview", form)
	for _, m := range hiddenPattern.FindAllStringSubmatch(w.Body.String(), -1) {
		form.Set(m[1], m[2])
	}
	return form
}

func TestDeskClosesAndReopens(t *testing.T) {
	d := newDeskTest(t)
	id := testSource(t).lakes[0].ID
	form := closeForm()
	form.Set("lake", string(id))
	d.want(http.StatusOK, `type="password"`, http.MethodGet, "", nil)
	d.signIn(deskKey)
	d.want(http.StatusOK, "No lake is closed.", http.MethodGet, "", nil)
	d.want(http.StatusOK, `href="lake?id=`+string(id)+`"`, http.MethodGet, "?q="+url.QueryEscape(string(id)), nil)
	d.want(http.StatusOK, "No lake was found.", http.MethodGet, "?q=nowhere", nil)
	d.want(http.StatusOK, "Close the lake", http.MethodGet, "lake?id="+string(id), nil)
	d.want(http.StatusNotFound, "No lake has this id.", http.MethodGet, "lake?id=nowhere", nil)

	w := d.want(http.StatusOK, "Nothing has been sent yet.", http.MethodPost, "preview", form)
	page := mainOf(w)
	for _, want := range []string{"Closed</strong> until 1 December 2026", "Gesperrt</strong> bis 1. Dezember 2026", "Bacteria · <bdi>Amt &lt;Süd&gt;</bdi>", "Bakterien", "Do not bathe here.", "Hier nicht baden.",
		"As of 20 November 2026", "Bathing is forbidden. Amt &lt;Süd&gt;, until", "Baden verboten. Amt &lt;Süd&gt;, bis"} {
		if !strings.Contains(page, want) {
			t.Errorf("the preview lacks %q: %s", want, page)
		}
	}
	if len(d.statements.stored) > 0 {
		t.Fatal("the preview has written a statement")
	}
	d.want(http.StatusOK, "2026-12-01", http.MethodPost, "confirm", with(d.previewed(form), "back", "1"))
	if len(d.statements.stored) > 0 {
		t.Fatal("the way back has written a statement")
	}
	form.Del("back")
	form = d.previewed(form)
	for range 3 { // sent three times, and from another preview of the same: one record
		d.want(http.StatusSeeOther, "done=closed", http.MethodPost, "confirm", form)
	}
	d.now = d.now.Add(time.Minute)
	d.want(http.StatusSeeOther, "done=same", http.MethodPost, "preview", with(form, "token", d.token))
	if len(d.statements.stored) != 1 || len(d.statements.decisions) != 1 {
		t.Fatalf("stored is %+v, want one closure", d.statements.stored)
	}
	if a := d.statements.stored[0]; a.LakeID != id || a.Kind != data.Closure || a.Issuer != "Amt <Süd>" || a.Cause != data.Bacteria || a.ValidUntil.Format(time.DateOnly) != "2026-12-02" || a.Issued != testNow() {
		t.Errorf("stored is %+v", a)
	}
	w = d.want(http.StatusOK, "The lake is closed.", http.MethodGet, "lake?id="+string(id)+"&done=closed", nil)
	if !strings.Contains(mainOf(w), "The authority has closed the lake already.") || !strings.Contains(mainOf(w), `value="2026-12-01"`) {
		t.Errorf("the form does not have the closure: %s", mainOf(w))
	}
	d.want(http.StatusOK, "until 1 December 2026", http.MethodGet, "", nil)

	reopen := url.Values{"lake": {string(id)}, "action": {"reopen"}, "statement": {string(d.statements.stored[0].ID)}}
	page = mainOf(d.want(http.StatusOK, "Open the lake now", http.MethodPost, "preview", reopen))
	for _, want := range []string{"No official statement.", "No longer in force: “Bathing is forbidden”. Amt &lt;Süd&gt;.", "Gilt nicht mehr: „Baden verboten“."} {
		if !strings.Contains(page, want) {
			t.Errorf("the preview lacks %q: %s", want, page)
		}
	}
	reopen = d.previewed(reopen)
	for range 2 {
		d.want(http.StatusSeeOther, "done=reopened", http.MethodPost, "confirm", reopen)
	}
	if a := d.statements.stored[0]; len(d.statements.stored) != 1 || a.Withdrawn != d.now {
		t.Errorf("stored is %+v, want it withdrawn", d.statements.stored)
	}
	// The first form again would close a lake that was opened since.
	d.want(http.StatusConflict, "have changed meanwhile", http.MethodPost, "confirm", with(form, "token", d.token))

	log := mainOf(d.want(http.StatusOK, "Who did what", http.MethodGet, "log", nil))
	for _, want := range []string{"2026-11-20 12:00:00", "2026-11-20 12:01:00", "<bdi>key amt</bdi>", "Closed until 1 December 2026 · Bacteria · Amt &lt;Süd&gt;", ">open<"} {
		if strings.Count(log, "<tr>") != 3 || !strings.Contains(log, want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
	d.want(http.StatusOK, "Wer hat was getan", http.MethodGet, "log?lang=de", nil)
	d.want(http.StatusOK, "Kein See ist gesperrt.", http.MethodGet, "", nil) // the language stays
}

func with(form url.Values, name, value string) url.Values {
	form.Set(name, value)
	return form
}

// Wrong entries are shown again, with what is wrong and allowed.
func TestDeskRefusesWrongEntries(t *testing.T) {
	d := newDeskTest(t)
	lake := string(testSource(t).lakes[0].ID)
	d.signIn(deskKey)
	for _, tt := range []struct{ name, value, want string }{
		{"until", "soon", "is not a day as 2026-07-31"}, {"until", "2026-11-19", "The last day 2026-11-19 is over."}, {"issuer", "", "The authority is missing."},
		{"cause", "algae", "cyanobacteria"}, {"url", "javascript:x", "https://"}, {"text_en", strings.Repeat("x", 4001), "4000"}, {"text_en", "a\u202eb", "text_en"},
	} {
		form := with(with(closeForm(), "lake", lake), tt.name, tt.value)
		w := d.want(http.StatusUnprocessableEntity, tt.want, http.MethodPost, "preview", form)
		if !strings.Contains(mainOf(w), `role="alert"`) || !strings.Contains(w.Body.String(), "Heute.</textarea>") {
			t.Errorf("%s %.20q: the form has lost what was entered: %s", tt.name, tt.value, mainOf(w))
		}
	}
	d.want(http.StatusNotFound, "No lake", http.MethodPost, "preview", with(closeForm(), "lake", "nowhere"))
	form := with(closeForm(), "lake", lake)
	for _, at := range []string{"", "x", "1", "99999999999"} {
		d.want(http.StatusConflict, "too old", http.MethodPost, "confirm", with(with(form, "at", at), "seen", "x"))
	}
	form = d.previewed(form)
	d.now = d.now.Add(29 * time.Minute)
	d.want(http.StatusOK, "Signed in", http.MethodGet, "", nil)
	d.now = d.now.Add(2 * time.Minute)
	d.want(http.StatusConflict, "too old", http.MethodPost, "confirm", form)
	// What is written is what was previewed.
	form = d.previewed(form)
	d.want(http.StatusConflict, "have changed meanwhile", http.MethodPost, "confirm", with(form, "until", "2026-12-31"))
	if len(d.statements.stored) > 0 {
		t.Errorf("stored is %+v, want nothing", d.statements.stored)
	}
	d.want(http.StatusRequestEntityTooLarge, "", http.MethodPost, "preview", with(closeForm(), "text_de", strings.Repeat("x", 200<<10)))
	d.statements.err = errors.New("secret of the database")
	for _, path := range []string{"", "log", "lake?id=" + lake} {
		if w := d.want(http.StatusServiceUnavailable, "The database does not answer", http.MethodGet, path, nil); strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s shows the error of the database", path)
		}
	}
}

// The answer is the same for each key that is not valid, and the rate is limited.
func TestDeskSignIn(t *testing.T) {
	d := newDeskTest(t, func(o *Options) { o.APIRate = 8 })
	first := ""
	for _, key := range []string{"", "wrong", "limnomap_expired", "limnomap_revoked", strings.Repeat("x", 10_000)} {
		w := d.want(http.StatusUnauthorized, "This key is not valid.", http.MethodPost, "signin", url.Values{"key": {key}})
		if first == "" {
			first = w.Body.String()
		}
		if w.Body.String() != first || len(w.Result().Cookies()) > 0 || w.Header().Get("Www-Authenticate") == "" {
			t.Errorf("the key %.20q has another answer: %v %s", key, w.Header(), w.Body)
		}
	}
	d.want(http.StatusForbidden, "lacks the scope “advisories”", http.MethodPost, "signin", url.Values{"key": {"limnomap_monitor"}})
	for range 2 {
		d.send(http.MethodPost, "signin", url.Values{"key": {"wrong"}})
	}
	if w := d.want(http.StatusTooManyRequests, "Too many requests", http.MethodPost, "signin", url.Values{"key": {"wrong"}}); w.Header().Get("Retry-After") == "" {
		t.Errorf("the refused request has the header %v", w.Header())
	}
	d.want(http.StatusSeeOther, "./?signed-in", http.MethodPost, "signin", url.Values{"key": {" " + deskKey + "\n"}}) // who has a key is not locked out
	d.cookie = ""
	d.want(http.StatusOK, "did not keep the cookie", http.MethodGet, "?signed-in", nil)
	d.keys.err = errors.New("away")
	d.now = d.now.Add(time.Minute)
	d.want(http.StatusServiceUnavailable, "The database does not answer", http.MethodPost, "signin", url.Values{"key": {deskKey}})
}

func TestDeskCookie(t *testing.T) {
	for name, tt := range map[string]struct {
		public  string
		headers []string
		want    bool
	}{
		"http": {"", nil, false}, "public https": {"https://lakes.example.org", nil, true}, "public http": {"http://lakes.example.org", nil, false},
		"proxy": {"", []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "lakes.example.org"}, true},
	} {
		d := newDeskTest(t, func(o *Options) {
			o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // of httptest
			if tt.public != "" {
				o.PublicURL, _ = url.Parse(tt.public)
			}
		})
		w := d.send(http.MethodPost, "signin", url.Values{"key": {deskKey}}, tt.headers...)
		c := w.Result().Cookies()
		if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/desk" || c[0].Secure != tt.want || len(c[0].Value) < 26 || c[0].MaxAge != 0 {
			t.Errorf("%s: the cookie is %+v, want Secure: %t", name, c, tt.want)
		}
	}
}

// A form counts only with the token of its session, and from a page of this server.
func TestDeskForgedForms(t *testing.T) {
	d := newDeskTest(t)
	lake := string(testSource(t).lakes[0].ID)
	d.signIn(secondKey)
	other := d.deskBrowser
	d.signIn(deskKey)
	form := d.previewed(with(closeForm(), "lake", lake))
	token := d.token
	for _, path := range []string{"preview", "confirm", "signout"} {
		for name, forged := range map[string][]string{"missing": {}, "empty": {""}, "foreign": {"FOREIGN"}, "other session": {other.token}, "two": {token, token}, "cut": {token[1:]}} {
			form["token"] = forged
			d.want(http.StatusForbidden, "not from your session", http.MethodPost, path, form)
			if len(d.statements.stored) > 0 {
				t.Fatalf("%s with a %s token has written", path, name)
			}
		}
		form.Set("token", token)
		for _, site := range []string{"cross-site", "same-site", "none"} {
			d.want(http.StatusForbidden, "not from your session", http.MethodPost, path, form, "Sec-Fetch-Site", site)
		}
		w := d.want(http.StatusMethodNotAllowed, "", http.MethodGet, path, nil)
		if w.Header().Get("Allow") != "POST, OPTIONS" {
			t.Errorf("GET %s: Allow is %q", path, w.Header().Get("Allow"))
		}
	}
	d.want(http.StatusForbidden, "not from your session", http.MethodPost, "signin", url.Values{"key": {secondKey}}, "Sec-Fetch-Site", "cross-site")
	for _, cookie := range []string{"", "unknown"} {
		own := d.cookie
		d.cookie = cookie
		w := d.want(http.StatusUnauthorized, "Nothing was changed.", http.MethodPost, "confirm", form)
		if !strings.Contains(w.Body.String(), `type="password"`) {
			t.Error("who is signed out is not asked to sign in")
		}
		d.cookie = own
	}
	if len(d.statements.stored) > 0 {
		t.Fatalf("stored is %+v, want nothing", d.statements.stored)
	}
	form.Set("token", token)
	d.want(http.StatusSeeOther, "done=closed", http.MethodPost, "confirm", form, "Sec-Fetch-Site", "same-origin")
}

// A session ends half an hour after its last request, when its key is no longer valid, and by signing out.
func TestDeskSessionsEnd(t *testing.T) {
	signedIn := func(d *deskTest) bool {
		return strings.Contains(d.send(http.MethodGet, "", nil).Body.String(), "Signed in")
	}
	d := newDeskTest(t)
	d.signIn(deskKey)
	d.now = d.now.Add(29 * time.Minute)
	if !signedIn(d) {
		t.Error("the session has ended early")
	}
	d.now = d.now.Add(31 * time.Minute) // the key has expired too
	if signedIn(d) {
		t.Error("the session has not ended")
	}
	d.want(http.StatusUnauthorized, "not valid", http.MethodPost, "signin", url.Values{"key": {deskKey}})
	d.signIn(secondKey)
	for range 20 {
		d.now = d.now.Add(25 * time.Minute)
		if since := d.now.Sub(testNow().Add(time.Hour)); signedIn(d) != (since <= 8*time.Hour) {
			t.Errorf("after %v the session is %t", since, since > 8*time.Hour)
		}
	}
	d.signIn(secondKey)
	d.keys.keys[1].RevokedAt = d.now
	d.now = d.now.Add(time.Minute) // when the list of keys is read again
	if signedIn(d) {
		t.Error("a revoked key still opens its session")
	}
	d.keys.keys[1].RevokedAt = time.Time{}
	d.now = d.now.Add(time.Minute)
	d.signIn(secondKey)
	cookie := d.cookie
	d.want(http.StatusSeeOther, "./", http.MethodPost, "signout", url.Values{})
	if d.cookie != "" {
		t.Errorf("after signing out the cookie is %q", d.cookie)
	}
	if d.cookie = cookie; signedIn(d) {
		t.Error("after signing out the session is valid")
	}
}

// Without the option there is no desk, and the public listener never has one.
func TestNoDeskByDefault(t *testing.T) {
	d, without := newDeskTest(t), newDeskTest(t, func(o *Options) { o.Desk = nil })
	admin := d.admin
	for _, path := range []string{"", "signin", "desk.css", "log", "confirm"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if w := without.send(method, path, nil); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<form") {
				t.Errorf("without a desk %s /desk/%s = %d", method, path, w.Code)
			}
			d.admin = d.server // the public handler
			if w := d.send(method, path, nil); w.Code != http.StatusNotFound {
				t.Errorf("on the public listener %s /desk/%s = %d", method, path, w.Code)
			}
		}
	}
	d.admin = admin
	d.want(http.StatusOK, "--paper", http.MethodGet, "desk.css", nil)
	d.want(http.StatusNotFound, "no such page", http.MethodGet, "nowhere", nil)
	r := httptest.NewRequest(http.MethodGet, "/desk", nil)
	r.Host = "attacker.example"
	w := httptest.NewRecorder()
	if d.admin.ServeHTTP(w, r); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("/desk by the name of another host = %d", w.Code)
	}
}
