package ingest

import (
	"bufio"
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

func (k advisoryKind) parse(r *row) (data.Advisory, error) {
	var a data.Advisory
	id, err := r.required(advID, "the statement's id")
	if err != nil {
		return a, err
	}
	if a.ID, err = data.ParseAdvisoryID(id); err != nil {
		return a, err
	}
	if a.LakeID, err = r.lakeID(advLake, "the id of a lake"); err != nil {
		return a, err
	}
	kind, err := r.required(advKind, "closure, warning, info or season")
	if err != nil {
		return a, err
	}
	if a.Kind, err = data.ParseAdvisoryKind(kind); err != nil {
		return a, err
	}
	cause, err := r.required(advCause, "cyanobacteria, bacteria or other")
	if err != nil {
		return a, err
	}
	if a.Cause, err = data.ParseCause(cause); err != nil {
		return a, err
	}
	if err := parseStatement(r, &a); err != nil {
		return a, err
	}
	if err := parseMoments(r, &a); err != nil {
		return a, err
	}
	if err := a.CheckImport(); err != nil {
		return a, err
	}
	return a, checkIssued(a, k.now)
}

// parseStatement reads what the statement says, and who says it.
func parseStatement(r *row, a *data.Advisory) error {
	var err error
	if a.Issuer, err = r.line(advIssuer); err != nil {
		return err
	}
	if a.Issuer == "" {
		return errors.New("issuer is missing: want the authority")
	}
	if a.TextEN, err = r.lines(advTextEN); err != nil {
		return err
	}
	if a.TextDE, err = r.lines(advTextDE); err != nil {
		return err
	}
	a.URL, err = r.text(advURL)
	return err
}

// lines is text of several lines.
func (r *row) lines(c int) (string, error) {
	s, err := r.text(c)
	return textLines(s), err
}

// parseMoments reads the times. A missing property of JSON is like a missing column, which valid_until must not be.
func parseMoments(r *row, a *data.Advisory) error {
	if r.has.lacks(advValidUntil) {
		return errors.New("valid_until is missing: want " + wantMoment + ", or an empty value or null if the end is not known")
	}
	for _, m := range []struct {
		to       *time.Time
		column   int
		required bool
	}{{&a.Issued, advIssued, true}, {&a.ValidFrom, advValidFrom, true}, {&a.ValidUntil, advValidUntil, false}, {&a.Withdrawn, advWithdrawn, false}} {
		var err error
		if *m.to, err = r.moment(m.column, m.column == advValidUntil); err != nil {
			return err
		}
		if m.required && m.to.IsZero() {
			return fmt.Errorf("%s is missing: want %s", r.columns[m.column].name, wantMoment)
		}
	}
	return nil
}

const wantMoment = "a time with a zone such as 2026-07-01T10:00:00+02:00, or a date, from 1900 to 2100"

// lastMoment is the end of the last day that a statement may be valid.
var lastMoment = time.Date(lastYear+1, time.January, 1, 0, 0, 0, 0, time.UTC)

// moment returns the time in column c in UTC to the second; the zero time if there is none. A day is its midnight in UTC, and as the
// end of a period, which includes it, the next midnight. A time without a zone is an error: in UTC a statement could begin or end hours
// too late.
func (r *row) moment(c int, end bool) (time.Time, error) {
	s, err := r.text(c)
	if s == "" || err != nil {
		return time.Time{}, err
	}
	for _, layout := range []string{time.DateOnly, "2.1.2006", time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		t = t.UTC().Truncate(time.Second)
		if end && (layout == time.DateOnly || layout == "2.1.2006") {
			t = t.AddDate(0, 0, 1)
		}
		if t.Year() >= firstYear && !t.After(lastMoment) {
			return t, nil
		}
	}
	return time.Time{}, r.bad(c, s, wantMoment)
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
func (advisoryKind) key(a data.Advisory) any { return data.AdvisoryID(strings.Clone(string(a.ID))) }

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
		return start(ctx, s, newAdvisoryKind, files, opts)
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
	buffered := bufio.NewWriterSize(w, 1<<16)
	c := csv.NewWriter(buffered)
	var header []string
	for _, column := range advisoryColumns() {
		header = append(header, column.name)
	}
	err = c.Write(header)
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
	if err := cmp.Or(err, c.Error(), buffered.Flush()); err != nil {
		return len(statements), fmt.Errorf("export: %w", err)
	}
	return len(statements), nil
}
