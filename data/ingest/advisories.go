package ingest

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// The indices of the columns of official statements, in the order of an export.
const (
	advID = iota
	advLake
	advKind
	advCause
	advIssuer
	advTextEN
	advTextDE
	advURL
	advIssued
	advValidFrom
	advValidUntil
	advWithdrawn
)

// valid_until is required, although it may be empty: a file with another name for it would make each statement valid for ever.
func advisoryColumns() []column {
	return []column{
		advID:         {name: "id", required: true},
		advLake:       {name: "lake_id", required: true},
		advKind:       {name: "kind", required: true},
		advCause:      {name: "cause", required: true},
		advIssuer:     {name: "issuer", required: true},
		advTextEN:     {name: "text_en"},
		advTextDE:     {name: "text_de"},
		advURL:        {name: "url", aliases: []string{"link"}},
		advIssued:     {name: "issued", required: true},
		advValidFrom:  {name: "valid_from", required: true},
		advValidUntil: {name: "valid_until", required: true},
		advWithdrawn:  {name: "withdrawn"},
	}
}

// maxIssuedLead is how long after now a statement may be issued or withdrawn: what an authority has done is not in the future, but
// its day may have begun before that of UTC.
const maxIssuedLead = 24 * time.Hour

func (k advisoryKind) parse(r *row) (a data.Advisory, err error) {
	a.ID, err = data.ParseAdvisoryID(r.required(advID, "the statement's id"))
	r.fail(err)
	a.LakeID = r.lakeID(advLake, "the id of a lake")
	a.Kind, err = data.ParseAdvisoryKind(r.required(advKind, "closure, warning, info or season"))
	r.fail(err)
	a.Cause, err = data.ParseCause(r.required(advCause, "cyanobacteria, bacteria or other"))
	r.fail(err)
	if a.Issuer = r.line(advIssuer); a.Issuer == "" {
		r.fail(errors.New("issuer is missing: want the authority"))
	}
	a.TextEN, a.TextDE, a.URL = textLines(r.words(advTextEN)), textLines(r.words(advTextDE)), r.text(advURL)
	if r.has.lacks(advValidUntil) { // a missing property of JSON is like a missing column, which this must not be
		r.fail(errors.New("valid_until is missing: want " + wantMoment + ", or an empty value or null if the end is not known"))
	}
	for _, m := range []struct {
		to     *time.Time
		column int
	}{{&a.Issued, advIssued}, {&a.ValidFrom, advValidFrom}, {&a.ValidUntil, advValidUntil}, {&a.Withdrawn, advWithdrawn}} {
		if *m.to = r.moment(m.column, m.column == advValidUntil); m.to.IsZero() && r.columns[m.column].required && m.column != advValidUntil {
			r.fail(fmt.Errorf("%s is missing: want %s", r.columns[m.column].name, wantMoment))
		}
	}
	if r.err == nil {
		r.err = a.CheckImport()
	}
	if r.err == nil {
		r.err = checkIssued(a, k.now)
	}
	return a, r.err
}

const wantMoment = "a time with a zone such as 2026-07-01T10:00:00+02:00, or a date, from 1900 to 2100"

// lastMoment is the end of the last day that a statement may be valid.
var lastMoment = time.Date(lastYear+1, time.January, 1, 0, 0, 0, 0, time.UTC)

// moment returns the time in column c in UTC to the second; the zero time if there is none. A day is its midnight in UTC, and as the
// end of a period, which includes it, the next midnight. A time without a zone is an error: in UTC a statement could begin or end hours
// too late.
func (r *row) moment(c int, end bool) time.Time {
	s := r.text(c)
	if s == "" {
		return time.Time{}
	}
	t, ok := parseMoment(s, r.format.dates, end)
	if !ok {
		r.bad(c, s, wantMoment)
	}
	return t
}

// parseMoment is moment for a text that is not empty; not ok for an invalid one.
func parseMoment(s string, dates dateOrder, end bool) (t time.Time, ok bool) {
	if day, err := parseDate(s, dates); err == nil && cutTime(s) == s {
		if end {
			day++
		}
		return day.Time(), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if t = t.UTC().Truncate(time.Second); t.Year() >= firstYear && !t.After(lastMoment) {
			return t, true
		}
	}
	return time.Time{}, false
}

// ParseEnd reads the end of a statement as imports read valid_until: a day, which is included, or a time with a zone.
func ParseEnd(s string) (time.Time, error) {
	t, ok := parseMoment(s, "", true)
	if !ok {
		return t, fmt.Errorf("%.80q: want %s", s, wantMoment)
	}
	return t, nil
}

// checkIssued returns an error if the statement was issued or withdrawn in the future.
func checkIssued(a data.Advisory, now time.Time) error {
	latest := now.Add(maxIssuedLead)
	for _, t := range []struct {
		column string
		value  time.Time
	}{{"issued", a.Issued}, {"withdrawn", a.Withdrawn}} {
		if t.value.After(latest) {
			return fmt.Errorf("%s %s is in the future: want a time up to %s", t.column, t.value.Format(time.RFC3339), latest.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// An advisoryKind are official statements.
type advisoryKind struct {
	*layout
	now time.Time
}

func newAdvisoryKind(opts *Options, ids *idMaker) (kind[data.Advisory], error) {
	l, err := opts.layout(advisoryColumns(), advLake, advLake, ids)
	l.json = statementList
	return advisoryKind{l, opts.now()}, err
}

// key returns a copy, because the id is a substring of the whole row.
func (advisoryKind) key(a data.Advisory) string { return strings.Clone(string(a.ID)) }

func (advisoryKind) lake(a data.Advisory) data.LakeID { return a.LakeID }

func (advisoryKind) name(a data.Advisory) string { return "the statement " + string(a.ID) }

func (advisoryKind) put(ctx context.Context, tx Tx, statements []data.Advisory, has columnSet) ([]store.Change, error) {
	return tx.PutAdvisories(ctx, statements, store.AdvisoryColumns{
		TextEN: has.lacks(advTextEN), TextDE: has.lacks(advTextDE), URL: has.lacks(advURL), Withdrawn: has.lacks(advWithdrawn),
	})
}

// otherStatement is why a row is rejected whose id is stored for another lake or issuer.
const otherStatement = "the database has a statement with this id by another issuer or about another lake: want another id"

func (advisoryKind) refusal(_ data.Advisory, c store.Change) string {
	if c == store.OtherStatement {
		return otherStatement
	}
	return unknownLake
}

// Advisories imports official statements in one transaction, like Lakes, from files that are CSV or JSON, or all documents of Swim
// Guide's standard (see [SwimGuide]).
//
// The columns are id, lake_id, kind, cause, issuer, issued, valid_from and valid_until, and optionally text_en, text_de, url and
// withdrawn, which are kept if they are missing. The lakes must be in the store. A statement may be issued or withdrawn one day
// after the present time at the latest. The lake and the issuer of a stored statement cannot change.
func Advisories(ctx context.Context, s Store, files []File, opts *Options) (Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	documents := 0
	for _, f := range files {
		if isSwimGuide(f) {
			documents++
		}
	}
	switch {
	case documents == 0:
		return start(ctx, s, statementRows, newAdvisoryKind, files, opts)
	case documents < len(files):
		return Report{}, fmt.Errorf("import: %d of %d files are documents of Swim Guide's standard: import them without the others", documents, len(files))
	}
	return SwimGuide(ctx, s, files, opts)
}

// ExportAdvisories writes all official statements of a source by id, as the CSV that [Advisories] reads. It returns how many there are.
func ExportAdvisories(ctx context.Context, src snapshot.Source, w io.Writer) (int, error) {
	statements, _, err := src.Advisories(ctx)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	slices.SortFunc(statements, func(a, b data.Advisory) int { return strings.Compare(string(a.ID), string(b.ID)) })
	if err := writeAdvisories(w, statements); err != nil {
		return len(statements), fmt.Errorf("export: %w", err)
	}
	return len(statements), nil
}

// writeAdvisories writes statements as the CSV that [Advisories] reads.
func writeAdvisories(w io.Writer, statements []data.Advisory) error {
	c := csv.NewWriter(w)
	var header []string
	for _, column := range advisoryColumns() {
		header = append(header, column.name)
	}
	err := c.Write(header)
	moment := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, a := range statements {
		if err == nil {
			err = c.Write([]string{string(a.ID), string(a.LakeID), a.Kind.String(), a.Cause.String(), a.Issuer, a.TextEN, a.TextDE, a.URL,
				moment(a.Issued), moment(a.ValidFrom), moment(a.ValidUntil), moment(a.Withdrawn)})
		}
	}
	c.Flush()
	return cmp.Or(err, c.Error())
}
