// Package desk is a form for an authority: people sign in with an API key, close lakes for bathing and open them again, see before what others will
// see, and who has decided what. It is plain HTML, without scripts.
//
// Whoever signs in gets a cookie with a random number, of which the server has the hash, in memory. Each form has a second random number of the
// session, so that no other page can send it. The API key is checked again at each request: one that is revoked or expires ends its sessions.
//
// A decision is sent in two steps. The preview shows what will change, and its form has the time of the decision and a fingerprint of the changes. To
// confirm it writes just these: sent twice it is written once, and if statements about the lake have changed since, nothing is written.
package desk

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/auth"
	"limnomap/api/pages"
	"limnomap/api/sign"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/index"
	"limnomap/data/snapshot"
)

// Path is the folder of the desk's pages.
const Path = "/desk/"

const (
	// MaxBody is the largest form: two texts of 4,000 characters, each of up to twelve bytes, and more than enough for the rest.
	MaxBody = 128 << 10
	// cookieName is that of the session's cookie.
	cookieName = "limnomap_desk"
	// storeTimeout bounds the wait for the database. An import may hold it for longer; then nothing is written.
	storeTimeout = 20 * time.Second
)

// Statements are the official statements in the database.
type Statements interface {
	Advisories(ctx context.Context) ([]data.Advisory, data.Revision, error)
	// Plan returns what a decision changes at a time, given all statements. Its error says what is wrong with the decision.
	Plan(d data.Decision, stored []data.Advisory) ([]data.StatementChange, error)
	// Decide writes what a decision changes, and who made it.
	Decide(ctx context.Context, d data.Decision, by string) ([]data.StatementChange, error)
	// Decisions returns the newest decisions with smaller numbers than before, or without it (0) of all.
	Decisions(ctx context.Context, before int64, limit int) ([]data.Decided, error)
}

// Options are what a Desk needs.
type Options struct {
	Files      fs.FS         // of the pages made on the server
	Scale      *colormap.Map // has the colours of the classes
	Signs      *sign.Signs
	Statements Statements
	Keys       *auth.Keyring
	// Current returns the snapshot that is served, and what finds its lakes by name.
	Current func() (*snapshot.Snapshot, *index.NameIndex, error)
	// Secure reports whether a browser reaches the server by HTTPS.
	Secure func(*http.Request) bool
	Now    func() time.Time
	Logger *slog.Logger
}

// A Desk answers requests below [Path]. It is safe for concurrent use.
type Desk struct {
	Options
	pages    pages.Maker[ownWords]
	colors   words.Colors
	style    []byte
	pushes   map[string]pushWords
	sessions sessions
}

// New returns a Desk.
func New(o Options) (*Desk, error) {
	maker, err := pages.NewMaker[ownWords](o.Files, "desk")
	if err != nil {
		return nil, err
	}
	d := &Desk{Options: o, pages: maker, colors: words.ColorsOf(o.Scale), sessions: sessions{byID: make(map[sessionID]*session)}}
	if d.pushes, err = readPushWords(o.Files, maker.All()); err != nil {
		return nil, err
	}
	for _, name := range []string{"pages/base.css", "desk/desk.css"} {
		content, err := fs.ReadFile(o.Files, name)
		if err != nil {
			return nil, err
		}
		d.style = append(d.style, content...)
	}
	return d, nil
}

// A visit is a request of a person, who may have signed in.
type visit struct {
	*session        // nil if not
	name     string // of the key
	cookie   string
	words    *words.Page[ownWords]
}

// Handler returns the handler of all pages. The errors make a handler of a function that returns an error.
func (d *Desk) Handler(errors *answer.Errors) http.Handler {
	mux := http.NewServeMux()
	read := func(pattern string, f func(http.ResponseWriter, *http.Request, *visit) error) {
		mux.Handle(Path+pattern, answer.ReadOnly(errors.Handler(d.signedIn(f))))
	}
	send := func(pattern string, f func(http.ResponseWriter, *http.Request, *visit) error) {
		mux.Handle(Path+pattern, answer.Only(http.MethodPost, errors.Handler(d.sent(f))))
	}
	mux.Handle(strings.TrimSuffix(Path, "/"), answer.ReadOnly(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { redirect(w, "desk/") })))
	mux.Handle(Path+"desk.css", answer.ReadOnly(http.HandlerFunc(d.sendStyle)))
	mux.Handle(Path+"signin", answer.Only(http.MethodPost, errors.Handler(d.signIn)))
	read("{$}", d.home)
	read("lake", d.lake)
	read("log", d.log)
	send("preview", d.preview)
	send("confirm", d.confirm)
	send("signout", d.signOut)
	mux.Handle(Path, errors.Handler(func(http.ResponseWriter, *http.Request) error {
		return &answer.Problem{Status: http.StatusNotFound, Detail: "There is no such page at the desk."}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("Cache-Control", answer.CacheNever)
		mux.ServeHTTP(w, r)
	})
}

// redirect leads to another page of the desk, also for a browser that sent a form.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to) // relative: a proxy may have another path
	w.WriteHeader(http.StatusSeeOther)
}

func (d *Desk) sendStyle(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", answer.CacheRevisit)
	_, _ = w.Write(d.style) // an error means that the client left
}

// visitOf returns who sent r: the session is that of the cookie, if its key is still valid.
func (d *Desk) visitOf(r *http.Request) (*visit, error) {
	language := r.URL.Query().Get("lang")
	if !slices.Contains(words.Languages, language) {
		language = ""
	}
	v := &visit{}
	if cookie, err := r.Cookie(cookieName); err == nil {
		if s, ok := d.sessions.find(cookie.Value, language, d.Now()); ok {
			name, err := d.Keys.Find(r.Context(), s.key, apikey.ScopeAdvisories)
			switch {
			case errors.Is(err, auth.ErrUnavailable):
				return nil, storeError(err)
			case err != nil:
				d.sessions.end(cookie.Value)
			default:
				v.session, v.name, v.cookie, language = &s, name, cookie.Value, s.language
				answer.InfoOf(r).KeyName = name
			}
		}
	}
	v.words = d.pages.For(language, r.Header["Accept-Language"])
	return v, nil
}

// signedIn passes the requests of people who have signed in on to f, and shows the others how to.
func (d *Desk) signedIn(f func(http.ResponseWriter, *http.Request, *visit) error) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := d.visitOf(r)
		if err != nil {
			return err
		}
		if v.session == nil {
			p := d.signInPage(v)
			if r.URL.Query().Has("signed-in") {
				p.Wrong = v.words.Own.Cookies
			}
			return d.show(w, http.StatusOK, v, p)
		}
		return f(w, r, v)
	}
}

// sent passes the forms of people who have signed in on to f, if they are from a page of their session.
func (d *Desk) sent(f func(http.ResponseWriter, *http.Request, *visit) error) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := readForm(r); err != nil {
			return err
		}
		v, err := d.visitOf(r)
		if err != nil {
			return err
		}
		if v.session == nil {
			p := d.signInPage(v)
			p.Wrong = v.words.Own.SignedOut
			return d.show(w, http.StatusUnauthorized, v, p)
		}
		token := r.PostForm["token"]
		if !sameOrigin(r) || len(token) != 1 || subtle.ConstantTimeCompare([]byte(token[0]), []byte(v.token)) != 1 {
			return &answer.Problem{Status: http.StatusForbidden, Detail: v.words.Own.NotYours}
		}
		return f(w, r, v)
	}
}

// readForm reads the form of a request.
func readForm(r *http.Request) error {
	err := r.ParseForm()
	if errors.As(err, new(*http.MaxBytesError)) {
		return &answer.Problem{Status: http.StatusRequestEntityTooLarge, Detail: "The form is too large.", Header: http.Header{"Connection": {"close"}}}
	}
	if err != nil || r.PostForm == nil {
		return &answer.Problem{Status: http.StatusBadRequest, Detail: "The form cannot be read."}
	}
	return nil
}

// sameOrigin reports whether a form is from a page of this server, as far as the browser says so.
func sameOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin"
}

// signIn begins a session for an API key. The answer is the same for an unknown, a revoked and an expired key.
func (d *Desk) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	v := &visit{words: d.pages.For(r.PostForm.Get("lang"), r.Header["Accept-Language"])}
	if !sameOrigin(r) {
		return &answer.Problem{Status: http.StatusForbidden, Detail: v.words.Own.NotYours}
	}
	hash := apikey.HashOf(strings.TrimSpace(r.PostForm.Get("key")))
	name, err := d.Keys.Find(r.Context(), hash, apikey.ScopeAdvisories)
	switch {
	case errors.Is(err, auth.ErrUnavailable):
		return storeError(err)
	case err != nil:
		if !d.Keys.LimitRefused(w, r) {
			return nil
		}
		p, status := d.signInPage(v), http.StatusUnauthorized
		if p.Wrong = v.words.Own.WrongKey; errors.Is(err, auth.ErrScope) {
			p.Wrong, status = v.words.Own.NoScope, http.StatusForbidden
		}
		return d.show(w, status, v, p)
	}
	answer.InfoOf(r).KeyName = name
	if cookie, err := r.Cookie(cookieName); err == nil {
		d.sessions.end(cookie.Value)
	}
	d.setCookie(w, r, d.sessions.begin(hash, v.words.Language, d.Now()), 0)
	redirect(w, "./?signed-in")
	return nil
}

func (d *Desk) signOut(w http.ResponseWriter, r *http.Request, v *visit) error {
	d.sessions.end(v.cookie)
	d.setCookie(w, r, "", -1)
	redirect(w, "./")
	return nil
}

// setCookie sets the cookie of the session, for as long as the browser is open; a negative age deletes it.
func (d *Desk) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: strings.TrimSuffix(Path, "/"), MaxAge: age, HttpOnly: true, Secure: d.Secure(r), SameSite: http.SameSiteStrictMode})
}

// ErrStore is the reason of errors of the database, which an operator has to know of.
var ErrStore = errors.New("the store cannot answer the desk")

// storeError returns an error of the database, or of the check of a key in it.
func storeError(err error) error { return fmt.Errorf("%w: %w", ErrStore, err) }

// show answers with a page.
func (d *Desk) show(w http.ResponseWriter, status int, v *visit, p *page) error {
	content, language, err := d.make(v, p)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", language)
	if status == http.StatusUnauthorized {
		h.Set("Www-Authenticate", `ApiKey realm="limnomap"`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(content) // an error means that the client left
	return nil
}

// ProblemPage shows a problem as a page of the desk.
func (d *Desk) ProblemPage(r *http.Request, problem *answer.Problem) (content []byte, language string, err error) {
	v := &visit{words: d.pages.For("", r.Header["Accept-Language"])}
	text := problem.Detail
	if problem.Status >= http.StatusInternalServerError {
		text = strings.TrimSpace(text + " " + answer.RequestID(r))
	}
	p := &page{Heading: v.words.Own.Problem, Wrong: text}
	return d.make(v, p)
}
