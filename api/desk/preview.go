package desk

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"limnomap/api/pages"
	"limnomap/api/sign"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// A previewPart shows what a decision changes.
type previewPart struct {
	Languages []preview
	Fields    []field
	Confirm   string
}

// A preview is what people see of a lake in one language.
type preview struct {
	Language, Name string
	Own            ownWords
	shown
	Push []notification
}

// A shown is what pages and signs say of a lake.
type shown struct {
	Class     string
	Statement *words.Statement // nil without one
	Value     string
	Sign      *sign.Verdict
	Meaning   []string
}

// A notification is what a browser shows.
type notification struct{ Title, Body string }

// previewPage returns the page that shows changes.
func (d *Desk) previewPage(v *visit, stored []data.Advisory, changes []data.StatementChange, decision *data.Decision, f form) (*page, error) {
	snap, _, err := d.Current()
	if err != nil {
		return nil, err
	}
	i, ok := snap.Index(decision.Lake)
	if !ok {
		return nil, data.ErrNoLake
	}
	later := slices.Clone(stored)
	for _, c := range changes {
		later = append(slices.DeleteFunc(later, func(a data.Advisory) bool { return a.ID == c.After.ID }), c.After)
	}
	part := &previewPart{Fields: f.fields(), Confirm: v.words.Own.ConfirmClose}
	if decision.Reopen {
		part.Confirm = v.words.Own.ConfirmReopen
	}
	for _, w := range d.pages.All() {
		if w.Language != "en" && w.Language != "de" && w.Language != v.words.Language { // statements have texts in English and German
			continue
		}
		p := preview{Language: w.Language, Name: w.Format.Language, Own: w.Own, shown: d.shownAs(snap, i, later, decision.At, w)}
		for _, c := range changes {
			p.Push = append(p.Push, d.notificationOf(words.NameOf(&snap.Lakes[i]), c, later, decision.At, w))
		}
		part.Languages = append(part.Languages, p)
	}
	return &page{Heading: v.words.Own.Preview + v.words.Common.Colon + words.NameOf(&snap.Lakes[i]), Preview: part}, nil
}

// shownAs returns what is shown of the i-th lake of a snapshot if these are all statements.
func (d *Desk) shownAs(snap *snapshot.Snapshot, i int, statements []data.Advisory, at time.Time, w *words.Page[ownWords]) shown {
	lakes := snap.Lakes[i : i+1]
	active, _ := snapshot.NewAdvisories(lakes, statements).ActiveAt(data.At(at))
	now := snap.Current
	view := &snapshot.View{Week: now.Week, AsOf: now.AsOf, Lakes: lakes, States: now.States[i : i+1], Profile: now.Profile, Advisories: active}
	one := &snapshot.Snapshot{Profile: snap.Profile, Lakes: lakes, AsOf: snap.AsOf, Current: view}
	s := shown{Statement: w.StatementOf(active.Of(0))}
	verdict := words.VerdictOf(view, 0, now.AsOf)
	s.Class, s.Value = verdict.Class.String(), w.RiskText(&verdict)
	s.Sign, s.Meaning = d.Signs.Preview(one, 0, &pages.Reader{Language: w.Language, Today: now.AsOf})
	return s
}

// pushWords are the texts of notifications that are about statements, which the service worker has in web/src/push/words.
type pushWords struct {
	Closure, Warning, Until, Closed string
	Issued                          string `json:"advisory_issued"`
	Changed                         string `json:"advisory_changed"`
	Withdrawn                       string `json:"advisory_withdrawn"`
}

func readPushWords(files fs.FS, all []*words.Page[ownWords]) (map[string]pushWords, error) {
	texts := make(map[string]pushWords)
	for _, w := range all {
		name := "src/push/words/" + w.Language + ".json"
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		var t pushWords
		if err := json.Unmarshal(content, &t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		texts[w.Language] = t
	}
	return texts, nil
}

// notificationOf returns the notification about a change, as web/src/pushtext.js makes it.
func (d *Desk) notificationOf(lake string, c data.StatementChange, later []data.Advisory, at time.Time, w *words.Page[ownWords]) notification {
	t := d.pushes[w.Language]
	text := t.Issued
	switch {
	case !c.After.Withdrawn.IsZero():
		text = t.Withdrawn
	case c.Before != nil:
		text = t.Changed
	}
	until := ""
	if !c.After.ValidUntil.IsZero() {
		day := data.DateOf(c.After.ValidUntil.Add(-time.Second))
		until = words.Fill(t.Until, "date", strings.TrimSpace(strings.TrimSuffix(w.Day(day), strconv.Itoa(day.Time().Year()))))
	}
	body := words.Fill(text, "what", t.Closure, "issuer", c.After.Issuer, "until", until)
	for _, other := range data.Closures(later, c.After.LakeID, at) {
		if other.ID != c.After.ID {
			body = words.Fill(t.Closed, "issuer", other.Issuer) + " " + body
			break
		}
	}
	return notification{lake, body}
}
