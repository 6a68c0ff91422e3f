package store

import (
	"context"
	"fmt"
	"time"

	"limnomap/data"
)

const (
	// maxDecisions bounds the decisions that are kept when their imports are no longer among the newest: some ten years of an authority.
	maxDecisions = 2000
	// decided is what the files of a decision contain, as a pattern. The name of another file that contains it keeps an import for longer.
	decided = `%"statements":%`
)

// A StatementChange is what a decision did to an official statement.
type StatementChange struct {
	Before *Statement `json:"before"` // nil for a new one
	After  *Statement `json:"after"`
}

// A Statement is an official statement as JSON, with the columns of an import.
type Statement struct {
	ID         string     `json:"id"`
	LakeID     string     `json:"lake_id"`
	Kind       string     `json:"kind"`
	Cause      string     `json:"cause"`
	Issuer     string     `json:"issuer"`
	TextEN     string     `json:"text_en,omitempty"`
	TextDE     string     `json:"text_de,omitempty"`
	URL        string     `json:"url,omitempty"`
	Issued     time.Time  `json:"issued"`
	ValidFrom  time.Time  `json:"valid_from"`
	ValidUntil *time.Time `json:"valid_until"` // nil while the end is not known
	Withdrawn  *time.Time `json:"withdrawn"`   // nil if it was not
}

// StatementChanges returns changes for an [ImportFile].
func StatementChanges(changes []data.StatementChange) []StatementChange {
	all := make([]StatementChange, len(changes))
	for i, c := range changes {
		all[i] = StatementChange{statementOf(c.Before), statementOf(&c.After)}
	}
	return all
}

func statementOf(a *data.Advisory) *Statement {
	if a == nil {
		return nil
	}
	return &Statement{string(a.ID), string(a.LakeID), a.Kind.String(), a.Cause.String(), a.Issuer, a.TextEN, a.TextDE, a.URL,
		a.Issued.UTC(), a.ValidFrom.UTC(), knownTime(a.ValidUntil), knownTime(a.Withdrawn)}
}

func knownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// advisory returns the statement as it was stored.
func (s *Statement) advisory() (a data.Advisory, err error) {
	a = data.Advisory{ID: data.AdvisoryID(s.ID), LakeID: data.LakeID(s.LakeID), Issuer: s.Issuer, TextEN: s.TextEN, TextDE: s.TextDE, URL: s.URL,
		Issued: s.Issued, ValidFrom: s.ValidFrom}
	if s.ValidUntil != nil {
		a.ValidUntil = *s.ValidUntil
	}
	if s.Withdrawn != nil {
		a.Withdrawn = *s.Withdrawn
	}
	if a.Kind, err = data.ParseAdvisoryKind(s.Kind); err == nil {
		a.Cause, err = data.ParseCause(s.Cause)
	}
	return a, err
}

// Decisions returns the newest decisions with smaller numbers than before, at most limit; before 0 the newest of all.
func (s *Store) Decisions(ctx context.Context, before int64, limit int) ([]data.Decided, error) {
	return list(ctx, s, "list the decisions", scanDecided,
		importsSQL+" WHERE files LIKE $1 AND ($2 = 0 OR number < $2) ORDER BY number DESC LIMIT $3", decided, before, limit)
}

func scanDecided(row rowScanner) (d data.Decided, err error) {
	r, err := scanImport(row)
	if err != nil {
		return d, err
	}
	d = data.Decided{Number: r.Number, At: r.At, By: r.By, Undone: !r.UndoneAt.IsZero()}
	for _, f := range r.Files {
		for _, c := range f.Statements {
			var change data.StatementChange
			if c.After == nil {
				continue
			}
			if change.After, err = c.After.advisory(); err == nil && c.Before != nil {
				var was data.Advisory
				was, err = c.Before.advisory()
				change.Before = &was
			}
			if err != nil {
				return d, fmt.Errorf("import %d: %w", r.Number, err)
			}
			d.Changes = append(d.Changes, change)
		}
	}
	return d, nil
}
