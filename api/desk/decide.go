package desk

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"limnomap/api/words"
	"limnomap/data"
)

// previewTime is how long a preview may be confirmed.
const previewTime = idleTime

// A form has what a person has entered.
type form struct {
	Lake, Action, Statement                   string
	Until, Cause, Issuer, TextEN, TextDE, URL string
	At, Seen                                  string // of the preview: when it was made, and what it showed
}

const (
	closing   = "close"
	reopening = "reopen"
)

func formOf(v url.Values) form {
	for _, values := range v { // browsers send CRLF
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], "\r\n", "\n")
		}
	}
	return form{v.Get("lake"), v.Get("action"), v.Get("statement"), v.Get("until"), v.Get("cause"), v.Get("issuer"), v.Get("text_en"), v.Get("text_de"), v.Get("url"), v.Get("at"), v.Get("seen")}
}

// fields returns the form as hidden fields of another one.
func (f *form) fields() []field {
	return []field{{"lake", f.Lake}, {"action", f.Action}, {"statement", f.Statement}, {"until", f.Until}, {"cause", f.Cause}, {"issuer", f.Issuer},
		{"text_en", f.TextEN}, {"text_de", f.TextDE}, {"url", f.URL}, {"at", f.At}, {"seen", f.Seen}}
}

type field struct{ Name, Value string }

// decision returns what a form decides at a time, or what is wrong, in the reader's words.
func (f *form) decision(at time.Time, w *words.Page[ownWords]) (d data.Decision, wrong string) {
	d = data.Decision{Lake: data.LakeID(f.Lake), At: at, Seen: f.Seen}
	if f.Action == reopening {
		d.Reopen, d.Statement = true, data.AdvisoryID(f.Statement)
		return d, ""
	}
	d.Issuer, d.TextEN, d.TextDE, d.URL = f.Issuer, data.Known(f.TextEN), data.Known(f.TextDE), data.Known(f.URL)
	if f.Issuer == "" {
		return d, w.Own.NoIssuer
	}
	if f.Until != "" {
		day, err := data.ParseDate(f.Until)
		if err != nil {
			return d, words.Fill(w.Own.WrongUntil, "day", strconv.Quote(f.Until))
		}
		if d.Until = (day + 1).Time(); !d.Until.After(at) { // the day is included
			return d, words.Fill(w.Own.OverUntil, "day", f.Until)
		}
	}
	cause, err := data.ParseCause(f.Cause)
	if err != nil {
		return d, words.Fill(w.Own.Wrong, "reason", err.Error())
	}
	d.Cause = cause
	return d, ""
}

// preview shows what a decision would change, and what people would see.
func (d *Desk) preview(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := formOf(r.PostForm)
	now := d.Now().UTC().Truncate(time.Second)
	f.At, f.Seen = strconv.FormatInt(now.Unix(), 10), ""
	stored, err := d.statements(r)
	if err != nil {
		return err
	}
	decision, changes, wrong := d.plan(&f, now, stored, v)
	if wrong != "" {
		return d.again(w, v, http.StatusUnprocessableEntity, stored, f, wrong)
	}
	if len(changes) == 0 {
		redirect(w, addressOf(decision.Lake)+"&done=same")
		return nil
	}
	f.Seen = data.Fingerprint(changes)
	p, err := d.previewPage(v, stored, changes, &decision, f)
	if err != nil {
		return err
	}
	return d.show(w, http.StatusOK, v, p)
}

// plan returns what a form changes, or what is wrong.
func (d *Desk) plan(f *form, at time.Time, stored []data.Advisory, v *visit) (decision data.Decision, changes []data.StatementChange, wrong string) {
	decision, wrong = f.decision(at, v.words)
	if wrong != "" {
		return decision, nil, wrong
	}
	changes, err := d.Statements.Plan(decision, stored)
	switch {
	case errors.Is(err, data.ErrChangedNow) || errors.Is(err, data.ErrNotClosed):
		return decision, nil, v.words.Own.Changed
	case err != nil:
		return decision, nil, words.Fill(v.words.Own.Wrong, "reason", err.Error())
	}
	return decision, changes, ""
}

// again shows the form again, with what is wrong.
func (d *Desk) again(w http.ResponseWriter, v *visit, status int, stored []data.Advisory, f form, wrong string) error {
	if f.Action == reopening { // it has nothing to correct
		f.Issuer, _ = data.IssuerFor(stored, data.LakeID(f.Lake))
	}
	p, err := d.lakePage(v, stored, f)
	if err != nil {
		return err
	}
	p.Wrong = wrong
	return d.show(w, status, v, p)
}

// confirm writes a decision that was previewed. Sent a second time it changes nothing.
func (d *Desk) confirm(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := formOf(r.PostForm)
	stored, err := d.statements(r)
	if err != nil {
		return err
	}
	if r.PostForm.Has("back") {
		return d.again(w, v, http.StatusOK, stored, f, "")
	}
	now := d.Now()
	seconds, err := strconv.ParseInt(f.At, 10, 64)
	at := time.Unix(seconds, 0).UTC()
	if err != nil || f.Seen == "" || at.After(now) || now.Sub(at) > previewTime {
		return d.again(w, v, http.StatusConflict, stored, f, v.words.Own.Expired)
	}
	decision, changes, wrong := d.plan(&f, at, stored, v)
	if wrong != "" {
		return d.again(w, v, http.StatusConflict, stored, f, wrong)
	}
	if len(changes) > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
		defer cancel()
		changes, err = d.Statements.Decide(ctx, decision, "key "+v.name)
		switch {
		case errors.Is(err, data.ErrChangedNow) || errors.Is(err, data.ErrNotClosed):
			return d.again(w, v, http.StatusConflict, stored, f, v.words.Own.Changed)
		case err != nil:
			return storeError(err)
		}
	}
	done := "closed"
	if decision.Reopen {
		done = "reopened"
	}
	for _, c := range changes {
		d.Logger.LogAttrs(r.Context(), slog.LevelInfo, "an authority has decided at the desk", slog.String("key", v.name), slog.String("decision", done),
			slog.String("lake", string(c.After.LakeID)), slog.String("statement", string(c.After.ID)))
	}
	redirect(w, addressOf(decision.Lake)+"&done="+done)
	return nil
}
