package desk

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
)

// ownWords are the texts that only the desk has.
type ownWords struct {
	Desk, SignInHelp, Key, SignIn, SignOut, SignedIn, WrongKey, NoScope, SignedOut, NotYours, Cookies     string
	Find, FindHelp, Search, NotFound, ClosedNow, NoneClosed, Home                                         string
	Log, LogHelp, NoLog, Older, When, Who, Lake, Before, After, Open, Undone                              string
	State, Closures, Reopen, CloseLake, ChangeClosure                                                     string
	Until, UntilHelp, Cause, OtherCause, Issuer, IssuerHelp, TextDE, TextEN, TextHelp, URL, URLHelp       string
	Preview, PreviewHelp, Card, Sign, Push, NoStatement, NoPush, ConfirmClose, ConfirmReopen, Back        string
	DoneClosed, DoneReopened, DoneSame, Changed, Expired, WrongUntil, OverUntil, NoIssuer, Wrong, Problem string
}

const (
	maxFound = 30
	// maxLog is how many decisions a page of the log has.
	maxLog = 50
)

// A page is what the template shows: one of the parts, below a heading and a sentence about what was done or is wrong.
type page struct {
	Words                 *words.Page[ownWords]
	Colors                words.Colors
	Others                []words.Link
	Title, Heading        string
	Name, SignedIn, Token string // of who has signed in
	Said, Wrong           string
	SignIn                bool
	Home                  *homePart
	Lake                  *lakePart
	Preview               *previewPart
	Log                   *logPart
	address               string // of the page, for the same one in another language; empty if a form was sent
}

// make returns a page in the language of a visit.
func (d *Desk) make(v *visit, p *page) (content []byte, language string, err error) {
	w := v.words
	p.Words, p.Colors = w, d.colors
	if p.Heading == "" {
		p.Heading = w.Own.Desk
	}
	p.Title = p.Heading
	if p.Heading != w.Own.Desk {
		p.Title += " · " + w.Own.Desk
	}
	if v.session != nil {
		p.Name, p.Token, p.SignedIn = v.name, v.token, words.Fill(w.Own.SignedIn, "name", v.name)
	}
	if p.address != "" {
		p.Others = d.pages.Others(w, func(language string) string { return p.address + "lang=" + language })
	}
	return d.pages.Make(w, p)
}

func (d *Desk) signInPage(*visit) *page { return &page{SignIn: true, address: "./?"} }

// A lakeLink leads to the page of a lake.
type lakeLink struct{ ID, Name, Region, Address, Also string }

type homePart struct {
	Query         string
	Found, Closed []lakeLink
}

func linkTo(l *data.Lake, also string) lakeLink {
	return lakeLink{string(l.ID), words.NameOf(l), linetext.Clean(l.Region), addressOf(l.ID), also}
}

func addressOf(id data.LakeID) string { return "lake?id=" + url.QueryEscape(string(id)) }

// home shows a search and the closed lakes.
func (d *Desk) home(w http.ResponseWriter, r *http.Request, v *visit) error {
	snap, names, err := d.Current()
	if err != nil {
		return err
	}
	stored, err := d.statements(r)
	if err != nil {
		return err
	}
	query := r.URL.Query().Get("q")
	if len(query) > 4*200 {
		return &answer.Problem{Status: http.StatusBadRequest, Detail: "The text to search for is too long: want at most 200 characters."}
	}
	now := d.Now()
	part := &homePart{Query: query}
	for _, i := range names.Find(query, maxFound) {
		also := ""
		if closures := data.Closures(stored, snap.Lakes[i].ID, now); len(closures) > 0 {
			also = v.words.RiskShort["closed"]
		}
		part.Found = append(part.Found, linkTo(&snap.Lakes[i], also))
	}
	byLake := make(map[data.LakeID]bool)
	for i := range stored {
		id := stored[i].LakeID
		lake, ok := snap.Index(id)
		if byLake[id] || !ok {
			continue
		}
		byLake[id] = true
		if closures := data.Closures(stored, id, now); len(closures) > 0 {
			part.Closed = append(part.Closed, linkTo(&snap.Lakes[lake], d.closureText(v, &closures[0])))
		}
	}
	slices.SortFunc(part.Closed, func(a, b lakeLink) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return d.show(w, http.StatusOK, v, &page{Home: part, address: "./?q=" + url.QueryEscape(query) + "&"})
}

// statements returns all official statements in the database.
func (d *Desk) statements(r *http.Request) ([]data.Advisory, error) {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	stored, _, err := d.Statements.Advisories(ctx)
	if err != nil {
		return nil, storeError(err)
	}
	return stored, nil
}

// closureText returns a closure in one line.
func (d *Desk) closureText(v *visit, a *data.Advisory) string {
	s := v.words.StatementOf(a)
	if s == nil { // of another kind
		return a.Kind.String() + " · " + linetext.Clean(a.Issuer)
	}
	parts := []string{s.Title + " " + s.Validity}
	if s.Cause != "" {
		parts = append(parts, s.Cause)
	}
	return strings.Join(append(parts, s.Issuer), " · ")
}

// wholeText returns a closure in one line, with its texts and its address.
func (d *Desk) wholeText(v *visit, a *data.Advisory) string {
	text := d.closureText(v, a)
	for _, more := range []string{a.TextDE, a.TextEN, a.URL} {
		if more != "" {
			text += " · " + linetext.Clean(strings.ReplaceAll(more, "\n", " "))
		}
	}
	return text
}

// A lakePart is the page of a lake, with the form to close it.
type lakePart struct {
	ID, Region, Today string
	Class, State      string
	Closures          []closure
	Own               bool // the authority of the form has closed the lake
	Causes            []option
	Form              form
}

type closure struct{ ID, Text string }

type option struct{ Value, Text string }

// lake shows a lake.
func (d *Desk) lake(w http.ResponseWriter, r *http.Request, v *visit) error {
	stored, err := d.statements(r)
	if err != nil {
		return err
	}
	id := data.LakeID(r.URL.Query().Get("id"))
	form := form{Lake: string(id), Cause: data.Cyanobacteria.String()}
	form.Issuer, _ = data.IssuerFor(stored, id)
	for _, a := range data.Closures(stored, id, d.Now()) {
		if a.Issuer == form.Issuer {
			form.Cause, form.TextEN, form.TextDE, form.URL = a.Cause.String(), a.TextEN, a.TextDE, a.URL
			if !a.ValidUntil.IsZero() {
				form.Until = data.DateOf(a.ValidUntil.Add(-time.Second)).String()
			}
			break
		}
	}
	p, err := d.lakePage(v, stored, form)
	if err != nil {
		return err
	}
	p.address = addressOf(id) + "&"
	p.Said = map[string]string{"closed": v.words.Own.DoneClosed, "reopened": v.words.Own.DoneReopened, "same": v.words.Own.DoneSame}[r.URL.Query().Get("done")]
	return d.show(w, http.StatusOK, v, p)
}

// lakePage returns the page of the lake of a form.
func (d *Desk) lakePage(v *visit, stored []data.Advisory, form form) (*page, error) {
	snap, _, err := d.Current()
	if err != nil {
		return nil, err
	}
	i, ok := snap.Index(data.LakeID(form.Lake))
	if !ok {
		return nil, data.ErrNoLake
	}
	now := d.Now()
	shown := d.shownAs(snap, i, stored, now, v.words)
	part := &lakePart{ID: form.Lake, Region: linetext.Clean(snap.Lakes[i].Region), Today: data.DateOf(now).String(), Class: shown.Class, State: shown.Sign.Line(), Form: form}
	for _, a := range data.Closures(stored, data.LakeID(form.Lake), now) {
		part.Closures = append(part.Closures, closure{string(a.ID), d.closureText(v, &a)})
		part.Own = part.Own || a.Issuer == form.Issuer
	}
	for _, c := range []data.Cause{data.Cyanobacteria, data.Bacteria, data.OtherCause} {
		part.Causes = append(part.Causes, option{c.String(), v.causeText(c)})
	}
	return &page{Heading: words.NameOf(&snap.Lakes[i]), Lake: part}, nil
}

func (v *visit) causeText(c data.Cause) string {
	if text := v.words.Advisory.Causes[c.String()]; text != "" {
		return text
	}
	return v.words.Own.OtherCause
}

// A logPart lists decisions.
type logPart struct {
	Rows  []logRow
	Older string // the address of the next page; empty without one
}

type logRow struct {
	When, Who, Lake, Address, Before, After string
	Undone                                  bool
}

// log shows who has decided what.
func (d *Desk) log(w http.ResponseWriter, r *http.Request, v *visit) error {
	snap, _, err := d.Current()
	if err != nil {
		return err
	}
	before, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	if r.URL.Query().Has("before") && (err != nil || before < 1) {
		return &answer.Problem{Status: http.StatusBadRequest, Detail: "before is not the number of a decision."}
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	decisions, err := d.Statements.Decisions(ctx, before, maxLog+1)
	if err != nil {
		return storeError(err)
	}
	part := &logPart{}
	if len(decisions) > maxLog {
		decisions = decisions[:maxLog]
		part.Older = "log?before=" + strconv.FormatInt(decisions[maxLog-1].Number, 10)
	}
	for i := range decisions {
		for _, c := range decisions[i].Changes {
			row := logRow{When: decisions[i].At.UTC().Format("2006-01-02 15:04:05"), Who: linetext.Clean(decisions[i].By), Undone: decisions[i].Undone,
				Lake: string(c.After.LakeID), Address: addressOf(c.After.LakeID), Before: v.words.Own.Open, After: v.words.Own.Open}
			if lake, ok := snap.Index(c.After.LakeID); ok {
				row.Lake = words.NameOf(&snap.Lakes[lake])
			}
			if c.Before != nil {
				row.Before = d.wholeText(v, c.Before)
			}
			if c.After.Withdrawn.IsZero() {
				row.After = d.wholeText(v, &c.After)
			}
			part.Rows = append(part.Rows, row)
		}
	}
	return d.show(w, http.StatusOK, v, &page{Heading: v.words.Own.Log, Log: part, address: "log?"})
}
